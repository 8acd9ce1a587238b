"""What `import baytree as bt` offers: each name comes from its home, and editors see the same."""

import ast
from pathlib import Path

import pytest

import baytree as bt
from baytree._registry import PUBLIC_MODULES

STUB = Path(bt.__file__).with_suffix(".pyi")


@pytest.mark.parametrize("name", bt.__all__)
def test_every_public_name_is_there(name):
    assert getattr(bt, name).__doc__


def test_editors_are_told_where_every_name_comes_from():
    imports = [node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ImportFrom)]
    told = {alias.asname: node.module for node in imports for alias in node.names if alias.asname}
    expected = {name: f"baytree.{home}" for name, home in PUBLIC_MODULES.items()}
    assert told == {**expected, "datasets": "baytree", "__version__": "baytree.version"}


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        getattr(bt, "Forest".title())
