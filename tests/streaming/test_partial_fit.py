"""A stream that is learnt batch by batch goes on where a killed run was; no row is lost and none counts twice."""

import os
from pathlib import Path

import polars as pl
import pytest

import baytree as bt
from baytree.storage import dumps
from killing import learnt, write_stream

ROWS = pl.DataFrame({"x": [1.0, 2.0, 8.0, 9.0] * 5, "colour": ["red", "blue"] * 10, "y": ["no", "no", "yes", "yes"] * 5})


@pytest.fixture
def stream(tmp_path, monkeypatch) -> Path:
    for k in range(4):
        ROWS[k * 5 : k * 5 + 5].write_parquet(tmp_path / f"part-{k}.parquet")
    source = type(bt.scan(tmp_path / "*.parquet").sources[0])
    whole = source.batches
    monkeypatch.setattr(source, "batches", lambda *given: (part for frame in whole(*given) for part in frame.iter_slices(4)))
    return tmp_path


def go_on(folder: Path, estimator=None, target="y"):
    return bt.partial_fit(estimator or bt.NaiveBayesClassifier(), bt.scan(folder / "*.parquet"), target, folder / "kept")


def broken_off(folder: Path, monkeypatch, batches: int) -> None:
    """Learns so many batches, then meets an error that is not of the rows."""
    from baytree.streaming import partial_fit

    work, left = partial_fit._update, iter(range(batches))
    with monkeypatch.context() as patched:
        patched.setattr(partial_fit, "_update", lambda *given: work(*given) if next(left, None) is not None else 1 / 0)
        with pytest.raises(ZeroDivisionError):
            go_on(folder)


def test_a_stream_gives_the_model_of_all_rows(stream):
    there, here = go_on(stream), bt.NaiveBayesClassifier().fit(ROWS, "y")
    assert there.predict_proba(ROWS).tolist() == here.predict_proba(ROWS).tolist()


@pytest.mark.parametrize("batches", range(8))
def test_a_run_that_broke_off_after_any_batch_ends_as_one_without_a_break(batches, stream, monkeypatch):
    whole_run = dumps(go_on(stream))
    (stream / "kept").unlink()
    broken_off(stream, monkeypatch, batches)
    assert dumps(go_on(stream)) == whole_run


def test_files_that_come_later_are_learnt_alone(stream):
    first = go_on(stream)
    (stream / "part-9.parquet").write_bytes((stream / "part-0.parquet").read_bytes())
    more = go_on(stream)
    assert dumps(more) == dumps(bt.NaiveBayesClassifier().fit(pl.concat([ROWS, ROWS[:5]]), "y"))
    assert dumps(go_on(stream)) == dumps(more) != dumps(first)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda f: ROWS[:3].write_parquet(f / "part-1.parquet"), r"file 2 of the stream was 'part-1.parquet'"),
        (lambda f: (f / "part-0.parquet").unlink(), r"file 1 of the stream was 'part-0.parquet'"),
        (lambda f: (f / "kept").write_bytes((f / "kept").read_bytes()[:-9]), "the checkpoint is damaged"),
        (lambda f: (f / "kept").write_bytes(b"x"), "is not a checkpoint"),
    ],
)
def test_what_is_not_as_it_was_is_refused(change, told, stream):
    go_on(stream)
    change(stream)
    with pytest.raises(ValueError, match=told):
        go_on(stream)


def test_another_model_or_target_is_refused(stream):
    go_on(stream)
    with pytest.raises(ValueError, match="is a checkpoint of NaiveBayesClassifier"):
        go_on(stream, bt.NaiveBayesClassifier(alpha=2.0))
    with pytest.raises(ValueError, match="is a checkpoint of the target 'y'"):
        go_on(stream, target="colour")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_killed_run_ends_as_one_without_a_break(tmp_path):
    write_stream(tmp_path, 8000)
    expected = learnt(tmp_path, 4000)
    for after in (0.05, 0.2):
        for name in ("kept", "m.baytree"):
            (tmp_path / name).unlink(missing_ok=True)
        learnt(tmp_path, 4000, after)
        assert learnt(tmp_path, 4000) == expected
