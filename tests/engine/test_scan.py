"""Tables on disk: what is read, what is refused by its place, and what is left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.engine import block_store, partition_values
from baytree.engine import scan as scanning
from baytree.engine.block_store import PREFIX
from baytree.engine.blocks import BlockInspection
from baytree.storage import dumps
from remote_tables import on_disk, pieces_of, written


def left_behind() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob(f"baytree-scan-{os.getpid()}-*"))


@pytest.mark.parametrize("kind", ["csv", "ndjson", "parquet"])
def test_every_kind_of_file_gives_the_model_of_memory(kind, table, tmp_path):
    rows = table.drop("w")
    scanned = bt.NaiveBayesClassifier().fit(on_disk(rows, tmp_path, 4, kind), "y")
    assert dumps(scanned) == dumps(bt.NaiveBayesClassifier().fit(rows, "y"))


@pytest.mark.parametrize(
    "late",
    [{}, {"c": "green"}, {"y": "perhaps"}, {"y": None}, {"a": None}, {"a": 1e9}, {"c": "a sentence of several words"}],
    ids=str,
)
def test_whatever_the_last_rows_hold_the_model_and_its_warnings_are_those_of_memory(late, tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "_BLOCK_MEMORY_DIVISOR", 1 << 60)  # no piece stays in memory
    r, n = np.random.default_rng(3), 3000
    a, b = r.normal(size=(2, n))
    label = np.where(a + r.normal(size=n) > 0, "yes", "no")
    rows = pl.DataFrame({"a": a, "b": b, "c": r.choice(["red", "blue"], n), "y": label})
    is_late = pl.int_range(pl.len()) >= 2990
    rows = rows.with_columns(pl.when(is_late).then(pl.lit(v)).otherwise(pl.col(k)).alias(k) for k, v in late.items())
    (expected, in_memory), (model, scanned) = fitted(rows), fitted(on_disk(rows, tmp_path, 6))
    assert dumps(model) == dumps(expected)
    assert scanned == in_memory


def fitted(rows):
    """The model of these rows, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return bt.NaiveBayesClassifier().fit(rows, "y"), [str(each.message) for each in caught]


def test_predictions_come_in_the_order_of_the_files(table, tmp_path):
    model, rows = bt.NaiveBayesClassifier().fit(table.drop("w"), "y"), table.drop("w")
    scanned = on_disk(rows, tmp_path, 8)
    assert model.predict(scanned).tolist() == model.predict(rows).tolist()
    assert np.array_equal(model.predict_proba(scanned), model.predict_proba(rows))


def test_columns_may_stand_in_another_order_in_one_file(table, tmp_path):
    rows = table.drop("w")
    folder = written(rows, tmp_path, 3)
    second = folder / "part-01.parquet"
    pl.read_parquet(second).select(reversed(rows.columns)).write_parquet(second)
    scanned = bt.NaiveBayesClassifier().fit(bt.scan(folder / "*.parquet"), "y")
    assert dumps(scanned) == dumps(bt.NaiveBayesClassifier().fit(rows, "y"))


def spoilt(folder, name, change):
    path = folder / name
    frame = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    getattr(change(frame), f"write_{path.suffix[1:]}")(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda f: f.drop("age"), r"part-02.*no column 'age'"),
        (lambda f: f.with_columns(extra=1), r"part-02.*a column 'extra'"),
        (lambda f: f.with_columns(age=pl.lit("old")), r"part-02.*rows 1 to .*'age'.*schema="),
        (lambda f: f.with_columns(width=pl.lit(np.inf)), r"part-02.*rows 1 to .*'width', row 0.*infinity"),
    ],
)
def test_what_is_wrong_in_one_file_is_told_with_the_file_and_the_column(change, told, table, tmp_path):
    folder = written(table.drop("w"), tmp_path, 4)
    spoilt(folder, "part-02.parquet", change)
    with pytest.raises(ValueError, match=told):
        bt.LinearDiscriminantAnalysis().fit(bt.scan(folder / "*.parquet"), "y")


def test_a_csv_whose_types_change_in_a_later_file_is_named(table, tmp_path):
    folder = written(table.drop("w"), tmp_path, 18, "csv")
    spoilt(folder, "part-17.csv", lambda f: f.with_columns(age=pl.lit("forty-two")))
    with pytest.raises(ValueError, match=r"part-17.*'age'"):
        bt.DecisionTreeClassifier().fit(bt.scan(folder / "*.csv"), "y")


def test_a_file_that_is_cut_short_is_named(table, tmp_path):
    folder = written(table.drop("w"), tmp_path, 3)
    path = folder / "part-01.parquet"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match="part-01"):
        bt.NaiveBayesClassifier().fit(bt.scan(folder / "*.parquet"), "y")


def test_nothing_is_left_behind_after_a_fit_or_an_error(table, tmp_path):
    before = left_behind()
    bt.NaiveBayesClassifier().fit(on_disk(table.drop("w"), tmp_path, 3), "y")
    with pytest.raises(ValueError):
        bt.NaiveBayesClassifier(schema={"nothing": "drop"}).fit(on_disk(table.drop("w"), tmp_path, 3), "y")
    assert left_behind() == before


def test_pieces_beyond_their_share_of_the_memory_are_written_and_the_model_is_the_same(table, tmp_path, monkeypatch):
    rows, files = on_disk(table.drop("w"), tmp_path, 3), []
    write = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", lambda path, content: files.append(len(content)) or write(path, content))
    held = bt.NaiveBayesClassifier().fit(rows, "y")
    assert not files
    monkeypatch.setattr(scanning, "_BLOCK_MEMORY_DIVISOR", rows.memory // 20_000)
    assert dumps(bt.NaiveBayesClassifier().fit(rows, "y")) == dumps(held)
    assert 0 < len(files) <= 3


def test_a_full_disk_is_told_and_nothing_is_left(table, tmp_path, monkeypatch):
    before = left_behind()
    write = Path.write_bytes

    def full(path, content):
        if path.parent.name.startswith("baytree-scan-") and path.name == "000001":
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(scanning, "_BLOCK_MEMORY_DIVISOR", 1 << 60)  # no piece is held in memory
    with pytest.raises(OSError, match=r"No space left on device.*TMPDIR"):
        bt.NaiveBayesClassifier().fit(on_disk(table.drop("w"), tmp_path, 3), "y")
    assert left_behind() == before


def test_a_cache_lives_as_long_as_its_process_whatever_its_pid(tmp_path, monkeypatch):
    """Another container or host has process ids of its own, which mean nothing here."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    code = f"""
import os, sys, tempfile
os.getpid = lambda: {gone.pid}
tempfile.tempdir = {str(tmp_path)!r}
from baytree.engine.block_store import BlockStore
folder = BlockStore()
print(folder.path, flush=True)
sys.stdin.read()
"""
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    theirs, mine = Path(other.stdout.readline().strip()), scanning.BlockStore()
    assert theirs.parent == tmp_path
    scanning.BlockStore()
    assert theirs.exists()
    other.kill()
    other.communicate()
    assert theirs.exists()
    scanning.BlockStore()
    assert not theirs.exists()
    assert mine.path.exists()


def test_foreign_names_among_the_temporary_files_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("99999999999-x", "²-x", "x", "1-", "99999999999999999999999-y"):
        (tmp_path / f"{PREFIX}{name}").mkdir()
    (tmp_path / f"{PREFIX}2-file").write_text("")
    (tmp_path / f"{PREFIX}3-link").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / f"{PREFIX}x" / "lock")
    before = sorted(tmp_path.iterdir())
    scanning.BlockStore().remove()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_leaves_nothing_behind(tmp_path):
    for k in range(40):
        pl.DataFrame({"x": np.random.default_rng(k).normal(size=50_000), "y": ["a", "b"] * 25_000}).write_csv(
            tmp_path / f"{k}.csv"
        )
    files = str(tmp_path / "*.csv")
    fit = f"bt.GaussianNB().fit(bt.scan({files!r}, memory='1MB'), 'y')"
    code = f"import baytree as bt; print(1, flush=True)\nwhile True: {fit}"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    run = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    run.stdout.readline()
    deadline = time.monotonic() + 30
    # until rows are packed: while modules are imported, Python itself may lose an interrupt
    while not list(tmp_path.glob("baytree-scan-*/0*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    assert run.wait(30) != 0
    assert not list(tmp_path.glob("baytree-scan-*"))


def test_what_needs_all_rows_is_refused_beyond_the_budget_with_the_way_out(table, tmp_path):
    many = pl.concat([table.drop("w")] * 10)
    with pytest.raises(ValueError, match=r"at least .* GB.*bt\.scan\(path, memory=.*trains out of core"):
        bt.C45Classifier().fit(bt.scan(written(many, tmp_path, 2) / "*.parquet", memory="1MB"), "y")


def test_labels_and_weights_apart_from_the_files_are_refused(table, tmp_path):
    rows = on_disk(table, tmp_path, 2)
    with pytest.raises(ValueError, match="give its name"):
        bt.NaiveBayesClassifier().fit(rows, table["y"])
    with pytest.raises(ValueError, match="give its name as sample_weight"):
        bt.NaiveBayesClassifier().fit(rows, "y", sample_weight=table["w"])
    with pytest.raises(ValueError, match="no sample_weight column 'v'"):
        bt.NaiveBayesClassifier().fit(rows, "y", sample_weight="v")


@pytest.mark.parametrize("wrong", ["much", "0.5", -1, "12 parsec"])
def test_a_budget_is_a_size(wrong, tmp_path):
    pl.DataFrame({"a": [1]}).write_csv(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="give a size"):
        bt.scan(tmp_path / "a.csv", memory=wrong)


def test_no_file_is_told():
    with pytest.raises(ValueError, match="no file"):
        bt.scan("nowhere/*.parquet")


def test_numbers_that_stand_for_no_value_are_found_in_the_whole(tmp_path):
    ages = [*range(20, 60), 999, 999, *range(20, 60)]
    rows = pl.DataFrame({"age": ages, "y": ["a", "b"] * (len(ages) // 2)})
    with pytest.warns(bt.BaytreeWarning, match="999 lies far from"):
        here = bt.NaiveBayesClassifier().fit(rows, "y")
    with pytest.warns(bt.BaytreeWarning, match="999 lies far from"):
        there = bt.NaiveBayesClassifier().fit(on_disk(rows, tmp_path, 5), "y")
    assert here.schema_.notes == there.schema_.notes


def test_pieces_are_the_table():
    rows = pl.DataFrame({"a": range(30)})
    assert pl.concat(pieces_of(rows, 8)).equals(rows)


def test_the_command_line_learns_from_a_pattern_of_files(table, tmp_path):
    from click.testing import CliRunner

    from baytree.cli.main import main

    folder, rows = written(table.drop("w"), tmp_path, 3), table.drop("w")
    saved = tmp_path / "m.baytree"
    call = [
        "fit",
        str(folder / "*.parquet"),
        "-t",
        "y",
        "-m",
        "tree",
        "-p",
        "max_depth=3",
        "--memory",
        "1GB",
        "-o",
        str(saved),
    ]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0, done.output
    assert np.array_equal(
        bt.load(saved).predict_proba(rows), bt.DecisionTreeClassifier(max_depth=3).fit(rows, "y").predict_proba(rows)
    )
    wrong = CliRunner().invoke(main, ["fit", str(folder / "*.parquet"), "-t", "z"])
    assert wrong.exit_code == 2
    assert "no column 'z'" in wrong.output


def test_arrays_come_back_whatever_their_shapes():
    arrays = [np.zeros((0, 4)), np.arange(5, dtype=np.uint8), np.array(3.0), np.ones((2, 3, 1), np.int32)]
    for found, array in zip(partition_values.from_bytes(partition_values.as_bytes(arrays)), arrays, strict=True):
        assert np.array_equal(found, array)
        assert (found.dtype, found.shape) == (array.dtype, array.shape)


def test_what_has_no_room_in_memory_is_kept_on_disk():
    folder = block_store.BlockStore(max_memory_bytes=100)
    folder.append(((bytes([k]) * 60, BlockInspection("")) for k in range(4)), BlockInspection(""))
    made = folder.apply(lambda content: content * 2)
    for _ in range(2):
        assert made.map_reduce(lambda content: [bytes(content)]) == [bytes([k]) * 120 for k in range(4)]
    assert sorted(path.name for path in made.path.iterdir() if path.name != "lock") == [f"{k:06d}" for k in range(4)]
