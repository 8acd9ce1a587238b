"""Trees from counts that are made where the rows are: the tree of memory, whatever the pieces."""

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree import _core
from baytree.data.encoding import Table
from baytree.data.schema import Column, Kind, Schema, Target
from baytree.engine import block_store, partition_values, remote
from baytree.engine.partitions import LocalPartitions
from baytree.engine.remote import RemotePartitions
from baytree.storage import dumps
from baytree.tree.growing.remote import class_growth, grow, growth, value_codes
from baytree.tree.growing.remote.coded_rows import ROOT, CodeTests, NarrowCodedRows, NodeCounts
from remote_tables import mixed_table, on_dask, on_disk

TREES = {
    "gini": lambda: bt.DecisionTreeClassifier(max_depth=6),
    "entropy": lambda: bt.DecisionTreeClassifier(criterion="entropy", min_leaf=9),
    "gain": lambda: bt.DecisionTreeClassifier(max_depth=6, min_gain=0.002),
    "leaves": lambda: bt.DecisionTreeClassifier(max_leaves=11),
    "largest": lambda: bt.DecisionTreeClassifier(max_depth=6, missing="largest"),
    "without gain": lambda: bt.DecisionTreeClassifier(criterion="error", max_depth=5, split_without_gain=True),
    "CART": lambda: bt.CARTClassifier(cp=0.001, max_surrogates=0),
    "CART by 1 SE": lambda: bt.CARTClassifier(cp=0.001, max_surrogates=0, pruning="1se"),
    "CART by least error": lambda: bt.CARTClassifier(cp=0.002, max_surrogates=0, pruning="min", cv=4, criterion="entropy"),
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return mixed_table()


@pytest.fixture(params=["scan", pytest.param("dask", marks=pytest.mark.dask)])
def place(request, tmp_path):
    """place(frame, pieces): the table in pieces, as files or on Dask."""
    put = {"scan": on_disk, "dask": on_dask}[request.param]
    return lambda frame, pieces: put(frame, tmp_path, pieces)


@pytest.fixture
def small_nodes(monkeypatch):
    """Nodes of more than 200 rows are counted, not brought."""
    monkeypatch.setattr(growth, "MAX_GATHERED_NODE_ROWS", 200)
    monkeypatch.setattr(grow, "MAX_GATHERED_NODE_ROWS", 200)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.usefixtures("small_nodes")
def test_a_tree_from_counts_is_the_tree_of_memory_bit_for_bit(name, table, tmp_path):
    rows = table.select("age", "colour", "size", pl.col("width").round(1), "y")
    here, there = TREES[name]().fit(rows, "y"), TREES[name]().fit(on_disk(rows, tmp_path, 7), "y")
    assert dumps(there) == dumps(here)


@pytest.mark.usefixtures("small_nodes")
def test_classes_weigh_as_they_do_in_memory(table, tmp_path):
    rows = table.select("age", "colour", "size", pl.col("width").round(1), "y")
    weighed = bt.DecisionTreeClassifier(max_depth=4, priors={"high": 0.5, "low": 0.25, "rare": 0.25})
    here, there = (weighed.fit(each, "y").predict_proba(rows) for each in (rows, on_disk(rows, tmp_path, 7)))
    assert np.abs(here - there).max() < 1e-12


@pytest.mark.usefixtures("small_nodes")
def test_weights_count_as_they_do_in_memory(table, tmp_path):
    rows = table.with_columns(pl.col("width").round(1))
    here, there = (TREES["gini"]().fit(each, "y", sample_weight="w") for each in (rows, on_disk(rows, tmp_path, 7)))
    assert dumps(there) == dumps(here)


@pytest.mark.usefixtures("small_nodes")
def test_a_column_of_many_numbers_is_cut_at_quantiles_that_no_border_moves(table, tmp_path, monkeypatch):
    monkeypatch.setattr(value_codes, "MAX_DISTINCT", 400)
    rows = table.drop("w")
    trees = [TREES["gini"]().fit(on_disk(rows, tmp_path, pieces), "y") for pieces in (1, 3, 8)]
    assert len({dumps(tree) for tree in trees}) == 1
    assert trees[0].score(rows, "y") >= TREES["gini"]().fit(rows, "y").score(rows, "y") - 0.01


@pytest.mark.usefixtures("small_nodes")
def test_only_the_rows_of_small_nodes_are_brought(table, tmp_path, monkeypatch):
    brought = []
    chosen = growth._rows_of_nodes
    monkeypatch.setattr(growth, "_rows_of_nodes", lambda *given: brought.append(len(chosen(*given))) or chosen(*given))
    bt.DecisionTreeClassifier(max_depth=1).fit(on_disk(table.drop("w"), tmp_path, 3), "y")
    assert brought == []


GATHERED = {
    "C4.5": lambda: bt.C45Classifier(),
    "J48": lambda: bt.C45Classifier(conventions="j48"),
    "one level against the rest": lambda: bt.C45Classifier(binary=True, confidence=0.1),
    "ID3": lambda: bt.ID3Classifier(),
}


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("name", GATHERED)
@pytest.mark.usefixtures("small_nodes")
def test_c45_and_id3_gather_rows_that_fit(name, place, weights, table):
    rows = table.select("colour", "size", "y", "w") if name == "ID3" else table
    rows = rows.drop("w") if weights is None else rows
    here, there = (GATHERED[name]().fit(each, "y", sample_weight=weights) for each in (rows, place(rows, 7)))
    assert dumps(there) == dumps(here)


@pytest.mark.parametrize("name", GATHERED)
@pytest.mark.usefixtures("small_nodes")
def test_c45_and_id3_refuse_rows_that_do_not_fit(name, place, table, monkeypatch):
    monkeypatch.setattr(remote, "PEAK_MEMORY_FACTOR", 1 << 20)
    rows = place(table.select("colour", "size", "y"), 3)
    with pytest.raises(ValueError, match=r"needs all rows in memory .*limit 2.00 GB\); .*max_surrogates=0"):
        GATHERED[name]().fit(rows, "y")


@pytest.fixture
def scarce_memory(monkeypatch):
    """Rows do not fit, so that none is gathered."""
    monkeypatch.setattr(RemotePartitions, "fits_in_memory", False)


NUMBERS = {
    "open": lambda: bt.DecisionTreeRegressor(max_depth=7),
    "gain": lambda: bt.DecisionTreeRegressor(max_depth=6, min_gain=0.01),
    "without gain": lambda: bt.DecisionTreeRegressor(max_depth=6, split_without_gain=True),
    "category": lambda: bt.DecisionTreeRegressor(max_depth=6, missing="category"),
    "leaves": lambda: bt.DecisionTreeRegressor(max_leaves=12),
    "CART": lambda: bt.CARTRegressor(cp=0.001, max_surrogates=0),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.usefixtures("small_nodes", "scarce_memory")
def test_a_regression_tree_from_sums_is_one_in_any_pieces_and_that_of_memory_to_the_last_digits(name, table, tmp_path):
    rows = table.select("age", "colour", "size", pl.col("width").round(1)).drop_nulls("width")
    rows = rows.with_columns(target=pl.when(pl.col("width") < 0).then(0.0).otherwise(1e4 + 1e3 * pl.col("width"))).drop(
        "width"
    )
    trees = [NUMBERS[name]().fit(on_disk(rows, tmp_path, k), "target") for k in (1, 3, 8)]
    assert len({dumps(tree) for tree in trees}) == 1
    here, there = NUMBERS[name]().fit(rows, "target").tree_, trees[0].tree_
    for field in ("column", "cut", "first", "branch_of", "rows", "missing", "mirrored"):
        assert np.array_equal(getattr(here, field), getattr(there, field), equal_nan=True)
    assert np.abs(here.value - there.value).max() <= 1e-11
    assert np.abs(here.risk - there.risk).max() <= 1e-12 * here.risk[0]


@pytest.mark.usefixtures("small_nodes")
def test_targets_are_added_up_in_the_order_of_the_rows_where_these_fit(table, tmp_path):
    rows = table.drop("w").drop_nulls("width")
    here, there = (NUMBERS["open"]().fit(each, "width") for each in (rows, on_disk(rows, tmp_path, 7)))
    assert dumps(there) == dumps(here)


def of_numbers(values: np.ndarray) -> LocalPartitions:
    schema = Schema((Column("x", Kind.NUMERIC),), Target("y", ("a", "b")), ("x",))
    return LocalPartitions(Table(schema, (values,), np.ones(len(values)), np.zeros(len(values), np.int32), True))


@pytest.mark.parametrize("seed", range(4))
def test_quantiles_are_order_statistics(seed, monkeypatch):
    monkeypatch.setattr(value_codes, "MAX_DISTINCT", 10)
    r = np.random.default_rng(seed)
    values = np.concatenate([r.normal(size=3000), -(10 ** r.normal(0, 80, 500)), [0.0, -0.0, 5e-324, np.nan, 1e308]])
    known = np.sort(values[~np.isnan(values)])
    n = value_codes.N_QUANTILES
    ranks = np.unique(np.append(np.arange(1, n + 1) * len(known) // (n + 1), len(known)))
    expected = np.unique(known[ranks[ranks > 0] - 1] + 0.0)
    (found,) = value_codes.codes_of(of_numbers(values)).ends
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("n_ends", [0, 1, 2, 7, 2047])
def test_the_code_of_a_number_is_one_more_than_the_number_of_ends_below_it(n_ends):
    r = np.random.default_rng(n_ends)
    ends = np.unique(r.normal(size=n_ends).round(2))
    values = np.concatenate([r.normal(size=500).round(2), ends, [np.nan, 0.0, -0.0, np.inf, -np.inf]])
    expected = np.where(np.isnan(values), 0, np.searchsorted(ends, values, side="left") + 1)
    assert np.array_equal(_core.interval_codes(values, ends), expected)


@pytest.mark.parametrize("most", [0, 1, 5, 300])
def test_numbers_are_many_where_more_differ_than_may(most):
    values = np.random.default_rng(most).normal(size=900).round(1)
    values[::7] = np.nan
    assert _core.are_many(values, most) == (len(np.unique(values[~np.isnan(values)] + 0.0)) > most)


def test_few_numbers_have_a_code_each():
    codes = value_codes.codes_of(of_numbers(np.array([3.0, np.nan, 1.0, 3.0, -0.0])))
    assert codes.ends[0].tolist() == [0.0, 1.0, 3.0]
    assert codes.is_exact == (True,)


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


def test_the_root_holds_every_row():
    rows = coded("uint8", weights=False)
    assert NodeCounts.of(ROOT, np.zeros(1, np.int64), SIZES["uint8"], rows).counts[0].sum() == len(rows)


@pytest.mark.parametrize(
    "parameters",
    [{"split_without_gain": True, "criterion": "error"}, {"first_split": "size"}, {"pruning": "1se", "cv": 4}],
    ids=str,
)
@pytest.mark.usefixtures("small_nodes")
def test_multiway_and_pruned_trees_are_those_of_memory(parameters, table, place):
    rows = table.select("age", "colour", "size", "y")
    for branching in ("binary", "multiway"):
        model = bt.DecisionTreeClassifier(branching=branching, max_depth=4, **parameters)
        assert dumps(model.fit(rows, "y")) == dumps(model.fit(place(rows, 5), "y"))
