"""Every example in a docstring of the source runs, and gives what it shows."""

import doctest
import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
FILES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))
NAMES = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in FILES]
OPTIONAL = {"baytree.engine.dask": "dask", "baytree.engine.spark": "pyspark"}  # engines that few install


@pytest.mark.parametrize("name", NAMES)
def test_what_the_docstrings_of_a_module_show_is_what_happens(name):
    if name in OPTIONAL:
        pytest.importorskip(OPTIONAL[name])
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    assert len(NAMES) > 90
