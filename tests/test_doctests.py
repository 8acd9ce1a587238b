"""Every example in a docstring of the source runs, and gives what it shows."""

import doctest
import importlib
import pkgutil

import pytest

import baytree

FOUND = (found.name for found in pkgutil.walk_packages(baytree.__path__, "baytree."))
NAMES = ["baytree", *(name for name in FOUND if name != "baytree._core")]
OPTIONAL = {"baytree.engine.dask": "dask", "baytree.engine.spark": "pyspark"}  # engines that few install


@pytest.mark.parametrize("name", NAMES)
def test_what_the_docstrings_of_a_module_show_is_what_happens(name):
    if name in OPTIONAL:
        pytest.importorskip(OPTIONAL[name])
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    modules = (importlib.import_module(name) for name in NAMES if name not in OPTIONAL)
    assert sum(len(doctest.DocTestFinder().find(module)) for module in modules) > 100
