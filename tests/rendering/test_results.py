"""Rows of a result become a frame of the user's own library."""

import sys

import numpy as np
import pytest

from baytree.display import results

COLUMNS = {"name": np.array(["a", "b"], object), "share": np.array([0.25, 0.75]), "interval": [(0.0, 1.0), None]}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_belongs_to_the_library_in_use(library, monkeypatch):
    pytest.importorskip(library)
    monkeypatch.setattr(results, "_LIBRARIES", (library,))
    frame = results.frame_of(COLUMNS)
    assert type(frame).__module__.split(".")[0] == library
    assert [str(name) for name in (frame.column_names if library == "pyarrow" else frame.columns)] == list(COLUMNS)


def test_without_any_library_the_columns_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(results, "find_spec", lambda _: None)
    for library in results._LIBRARIES:
        monkeypatch.delitem(sys.modules, library, raising=False)
    assert results.frame_of(COLUMNS) == COLUMNS
