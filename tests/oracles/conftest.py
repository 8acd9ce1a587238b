"""The fast suite holds a few tables against the reference programs; the whole suite holds all of them."""

import pytest

FEW = ("iris", "tennis", "vote", "penguins", "titanic", "cpu")


def pytest_collection_modifyitems(items):
    for item in items:
        is_here = item.path.parent == item.config.rootpath / "tests" / "oracles"
        if is_here and not any(table in item.nodeid for table in FEW):
            item.add_marker(pytest.mark.slow)
