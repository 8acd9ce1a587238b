"""Pieces for which there is no room are asked as they pass; whatever the later ones hold, the model is that of memory."""

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tables_elsewhere import written

import baytree as bt
from baytree.engine import scan as scanning
from baytree.storage import dumps

N_FILES = 6


@pytest.fixture
def rows():
    r, n = np.random.default_rng(3), 3000
    x = r.normal(size=(n, 2))
    label = np.where(x[:, 0] + r.normal(size=n) > 0, "yes", "no")
    return pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": r.choice(["red", "blue"], n), "y": label})


@pytest.fixture
def files_written(monkeypatch):
    """The names of the pieces that were written, where no piece may stay in memory."""
    names, write = [], Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", lambda path, content: names.append(path.name) or write(path, content))
    monkeypatch.setattr(scanning, "_SHARE", 1 << 60)
    return names


def changed(rows, place, **values):
    """The rows, with other values from a place on."""
    at = pl.int_range(pl.len()) >= place
    new = (pl.when(at).then(pl.lit(value)).otherwise(pl.col(name)).alias(name) for name, value in values.items())
    return rows.with_columns(new)


def scanned(rows, folder):
    return bt.scan(written(rows, folder, N_FILES) / "*.parquet")


def fitted(rows):
    """A model of these rows, and what was warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        return bt.NaiveBayesClassifier().fit(rows, "y"), [str(each.message) for each in told]


@pytest.mark.parametrize("make", [bt.NaiveBayesClassifier, bt.GaussianNB, bt.LinearDiscriminantAnalysis])
def test_of_pieces_that_hold_what_was_foreseen_only_the_first_is_kept(make, rows, tmp_path, files_written):
    rows = rows.drop("c") if make is bt.GaussianNB else rows
    model = make().fit(scanned(rows, tmp_path), "y")
    assert files_written == ["000000"]
    np.testing.assert_allclose(model.predict_proba(rows[:50]), make().fit(rows, "y").predict_proba(rows[:50]), rtol=1e-10)


@pytest.mark.parametrize(
    "late",
    [{}, {"c": "green"}, {"y": "perhaps"}, {"y": None}, {"a": None}, {"a": 1e9}, {"c": "a sentence of several words"}],
    ids=str,
)
@pytest.mark.usefixtures("files_written")
def test_whatever_comes_late_the_model_and_its_warnings_are_those_of_memory(late, rows, tmp_path):
    rows = changed(rows, 2990, **late)
    (expected, heard), (model, told) = fitted(rows), fitted(scanned(rows, tmp_path))
    assert dumps(model) == dumps(expected)
    assert told == heard


def test_weights_are_foreseen(rows, tmp_path, files_written):
    rows = rows.with_columns(w=pl.Series(np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(rows))))
    model = bt.NaiveBayesClassifier().fit(scanned(rows, tmp_path), "y", sample_weight="w")
    assert dumps(model) == dumps(bt.NaiveBayesClassifier().fit(rows, "y", sample_weight="w"))
    assert files_written == ["000000"]


@pytest.mark.usefixtures("files_written")
def test_an_infinite_number_in_a_late_piece_is_told_with_its_place(rows, tmp_path):
    with pytest.raises(ValueError, match=r"part-05.*'a'.*infinity"):
        bt.NaiveBayesClassifier().fit(scanned(changed(rows, 2999, a=np.inf), tmp_path), "y")


def test_a_model_of_several_rounds_keeps_every_piece(rows, tmp_path, files_written):
    bt.LogisticRegression().fit(scanned(rows, tmp_path), "y")
    assert {f"00000{k}" for k in range(N_FILES)} <= set(files_written)
