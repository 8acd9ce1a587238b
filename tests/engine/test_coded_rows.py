"""Rows as narrow codes: what is counted of them, where they come to rest, and what is kept of them between rounds."""

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree import _core
from baytree.engine import block_store, partition_values
from baytree.engine.blocks import BlockInspection
from baytree.tree.growing.remote import class_growth, value_codes
from baytree.tree.growing.remote.coded_rows import ROOT, CodeTests, NarrowCodedRows, NodeCounts

SIZES = {"uint8": (3, 256), "uint16": (3, 300), "uint32": (3, 70_000)}


def coded(width: str, weights: bool, n: int = 400) -> NarrowCodedRows:
    r = np.random.default_rng(n)
    codes = np.array([r.integers(0, size, n) for size in SIZES[width]], width)
    return NarrowCodedRows(codes, r.integers(0, 3, n).astype(np.int32), r.random(n) if weights else None, 3, 17)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("width", SIZES)
def test_counts_are_those_of_rows_one_by_one(width, weights):
    rows = coded(width, weights)
    tests = CodeTests.of([0, -1, -1], [np.array([-1, 1, 2]), np.zeros(0), np.zeros(0)])  # code 0 rests at the root
    nodes = np.array([2, 0])
    seen = NodeCounts.of(tests, nodes, SIZES[width], rows).counts
    at = np.array([{0: 1, 1: -1, 2: 0}[code] for code in rows.codes[0].tolist()])
    for j, size in enumerate(SIZES[width]):
        expected = np.zeros((2, size, 3))
        amount = np.ones(len(rows)) if rows.weight is None else rows.weight
        np.add.at(expected, (at[at >= 0], rows.codes[j][at >= 0], rows.label[at >= 0]), amount[at >= 0])
        assert np.allclose(seen[j], expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("weights", [False, True])
def test_rows_come_back_from_their_bytes(weights):
    rows = coded("uint16", weights)
    found = NarrowCodedRows.from_arrays(partition_values.from_bytes(partition_values.as_bytes(rows.arrays())))
    assert np.array_equal(found.codes, rows.codes)
    assert found.codes.dtype == rows.codes.dtype
    assert np.array_equal(found.label, rows.label)
    assert (found.weight is None) == (rows.weight is None)
    assert (found.n_classes, found.first) == (3, 17)


def test_arrays_come_back_whatever_their_shapes():
    arrays = [np.zeros((0, 4)), np.arange(5, dtype=np.uint8), np.array(3.0), np.ones((2, 3, 1), np.int32)]
    for found, array in zip(partition_values.from_bytes(partition_values.as_bytes(arrays)), arrays, strict=True):
        assert np.array_equal(found, array)
        assert (found.dtype, found.shape) == (array.dtype, array.shape)


def test_counts_beyond_four_bytes_add_up():
    many = NodeCounts((np.full((1, 1, 1), (1 << 31) - 1, np.int32),))
    assert (many + many).counts[0].item() == 2 * ((1 << 31) - 1)


@pytest.mark.parametrize("criterion", [name for name, suits in _core.criteria() if suits.binary and not suits.numbers])
def test_the_best_cut_of_a_column_alone_is_worth_what_the_search_finds(criterion):
    r = np.random.default_rng(3)
    for least in (1.0, 40.0):
        values, label = r.integers(0, 30, 300).astype(float), r.integers(0, 3, 300).astype(np.int32)
        counts = np.zeros((30, 3))
        np.add.at(counts, (values.astype(int), label), 1.0)
        stump = bt.DecisionTreeClassifier(criterion=criterion, max_depth=1, min_leaf=least)
        gain = stump.fit(pl.DataFrame({"x": values, "y": label}), "y").tree_.gain[0]
        assert _core.best_cut_worth(counts, criterion, least) == pytest.approx(gain, rel=1e-9)


def test_columns_that_cannot_win_are_not_searched_and_the_tree_is_that_of_memory(tmp_path, monkeypatch):
    r = np.random.default_rng(5)
    x = r.integers(0, 50, (60_000, 6)).astype(float)
    y = (x[:, 1] + x[:, 4] + r.normal(0, 20, len(x)) > 50).astype(int)
    frame = pl.DataFrame(x, schema=[f"x{j}" for j in range(6)]).with_columns(y=pl.Series(y))
    frame.write_parquet(tmp_path / "rows.parquet")
    searched, search = [], class_growth.representative_rows
    monkeypatch.setattr(class_growth, "representative_rows", lambda *given: searched.append(len(given[3])) or search(*given))
    model = bt.DecisionTreeClassifier(max_depth=4)
    there = model.fit(bt.scan(tmp_path / "rows.parquet"), "y").tree_
    here = bt.DecisionTreeClassifier(max_depth=4).fit(frame, "y").tree_
    assert np.array_equal(there.column, here.column)
    assert np.array_equal(there.counts, here.counts)
    assert np.mean(searched) < 3


def test_rows_are_coded_once_however_many_rounds_there_are(tmp_path, monkeypatch):
    r = np.random.default_rng(6)
    frame = pl.DataFrame({"x": r.normal(size=90_000), "z": r.normal(size=90_000)})
    frame = frame.with_columns(y=(pl.col("x") + pl.col("z") > 0).cast(pl.Int8))
    frame.write_parquet(tmp_path / "rows.parquet")
    made, put = [], value_codes.ColumnCodes.write
    monkeypatch.setattr(value_codes.ColumnCodes, "write", lambda *given: made.append(given[2]) or put(*given))
    seen, remember = [], block_store.DerivedBlockStore.__init__
    monkeypatch.setattr(block_store.DerivedBlockStore, "__init__", lambda *given: seen.append(given[0]) or remember(*given))
    bt.DecisionTreeClassifier(max_depth=6).fit(bt.scan(tmp_path / "rows.parquet"), "y")
    assert [folder.n_blocks * 2 for folder in seen] == [len(made)]


def test_what_has_no_room_in_memory_is_kept_on_disk():
    folder = block_store.BlockStore(max_memory_bytes=100)
    folder.append(((bytes([k]) * 60, BlockInspection("")) for k in range(4)), BlockInspection(""))
    made = folder.apply(lambda content: content * 2)
    for _ in range(2):
        assert made.map_reduce(lambda content: [bytes(content)]) == [bytes([k]) * 120 for k in range(4)]
    assert sorted(path.name for path in made.path.iterdir() if path.name != "lock") == [f"{k:06d}" for k in range(4)]


def test_the_root_holds_every_row():
    rows = coded("uint8", weights=False)
    assert NodeCounts.of(ROOT, np.zeros(1, np.int64), SIZES["uint8"], rows).counts[0].sum() == len(rows)
