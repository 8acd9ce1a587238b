"""Trees from counts that are made where the rows are: the tree of memory, whatever the pieces."""

import numpy as np
import polars as pl
import pytest
from tables_elsewhere import on_disk

import baytree as bt
from baytree.engine.elsewhere import Elsewhere
from baytree.engine.parts import InMemory
from baytree.storage import dumps
from baytree.table.schema import Column, Kind, Schema, Target
from baytree.table.table import Table
from baytree.tree.grow.rounds import grown_in_rounds, growth, value_codes

TREES = {
    "gini": lambda: bt.DecisionTreeClassifier(max_depth=6),
    "entropy": lambda: bt.DecisionTreeClassifier(criterion="entropy", min_leaf=9),
    "gain": lambda: bt.DecisionTreeClassifier(max_depth=6, min_gain=0.002),
    "leaves": lambda: bt.DecisionTreeClassifier(max_leaves=11),
    "largest": lambda: bt.DecisionTreeClassifier(max_depth=6, missing="largest"),
    "CART": lambda: bt.CARTClassifier(cp=0.001, max_surrogates=0),
    "CART by 1 SE": lambda: bt.CARTClassifier(cp=0.001, max_surrogates=0, pruning="1se"),
    "CART by least error": lambda: bt.CARTClassifier(cp=0.002, max_surrogates=0, pruning="min", cv=4, criterion="entropy"),
}


@pytest.fixture
def small_nodes(monkeypatch):
    """Nodes of more than 200 rows are counted, not brought."""
    monkeypatch.setattr(growth, "SMALL", 200)
    monkeypatch.setattr(grown_in_rounds, "SMALL", 200)


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
    monkeypatch.setattr(value_codes, "MOST_DISTINCT", 400)
    rows = table.drop("w")
    trees = [TREES["gini"]().fit(on_disk(rows, tmp_path, pieces), "y") for pieces in (1, 3, 8)]
    assert len({dumps(tree) for tree in trees}) == 1
    assert trees[0].score(rows, "y") >= TREES["gini"]().fit(rows, "y").score(rows, "y") - 0.01


@pytest.mark.usefixtures("small_nodes")
def test_only_the_rows_of_small_nodes_are_brought(table, tmp_path, monkeypatch):
    brought = []
    chosen = growth._chosen
    monkeypatch.setattr(growth, "_chosen", lambda *given: brought.append(len(chosen(*given))) or chosen(*given))
    bt.DecisionTreeClassifier(max_depth=1).fit(on_disk(table.drop("w"), tmp_path, 3), "y")
    assert brought == []


FRACTIONAL = {
    "C4.5": lambda: bt.C45Classifier(),
    "J48": lambda: bt.C45Classifier(conventions="j48"),
    "one level against the rest": lambda: bt.C45Classifier(binary=True, confidence=0.1),
    "not raised": lambda: bt.C45Classifier(raising=False),
    "not pruned": lambda: bt.C45Classifier(pruning=None, collapse=False, midpoint=True),
    "ID3": lambda: bt.ID3Classifier(),
}


def complete(table: pl.DataFrame) -> pl.DataFrame:
    """Rows without gaps, and a column that says nothing, so that pruning raises branches."""
    rows = table.select("age", "colour", "size", pl.col("width").round(1), "y").drop_nulls()
    return rows.with_columns(noise=pl.Series(np.random.default_rng(3).choice(["a", "b", "c"], len(rows)).tolist()))


@pytest.mark.parametrize("name", FRACTIONAL)
@pytest.mark.usefixtures("small_nodes")
def test_a_tree_of_several_branches_from_counts_is_that_of_memory_bit_for_bit(name, table, tmp_path):
    rows = complete(table)
    rows = rows.select("colour", "size", "noise", "y") if name == "ID3" else rows
    here, there = FRACTIONAL[name]().fit(rows, "y"), FRACTIONAL[name]().fit(on_disk(rows, tmp_path, 7), "y")
    assert dumps(there) == dumps(here)


def test_a_cut_of_a_small_node_may_lie_at_any_number_of_the_table(table, tmp_path, monkeypatch):
    for module in (growth, grown_in_rounds):
        monkeypatch.setattr(module, "SMALL", 40)
    rows = complete(table).with_columns(width=pl.Series(np.random.default_rng(5).normal(size=len(complete(table))).round(4)))
    make = FRACTIONAL["not pruned"]().set_params(midpoint=False)
    assert dumps(make.fit(on_disk(rows, tmp_path, 2), "y")) == dumps(make.fit(rows, "y"))


@pytest.fixture
def scarce_memory(monkeypatch):
    """Rows do not fit, so that none is gathered."""
    monkeypatch.setattr(Elsewhere, "fits", False)


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("name", ["J48", "one level against the rest"])
@pytest.mark.usefixtures("small_nodes", "scarce_memory")
def test_parts_of_rows_that_follow_several_branches_add_up_the_same_in_any_pieces(name, weights, table, tmp_path):
    rows = table.with_columns(pl.col("width").round(1))
    rows = rows.drop("w") if weights is None else rows.filter(pl.col("w") > 0)
    trees = [FRACTIONAL[name]().fit(on_disk(rows, tmp_path, k), "y", sample_weight=weights) for k in (1, 8)]
    assert len({dumps(tree) for tree in trees}) == 1
    here = FRACTIONAL[name]().fit(rows, "y", sample_weight=weights).predict_proba(rows)
    assert np.abs(trees[0].predict_proba(rows) - here).max() <= (1e-12 if name == "J48" else 1e-6)


@pytest.mark.usefixtures("small_nodes")
def test_fractions_of_rows_are_added_up_in_their_order_where_they_fit(table, tmp_path):
    rows = table.drop("w")
    here, there = bt.C45Classifier().fit(rows, "y"), bt.C45Classifier().fit(on_disk(rows, tmp_path, 7), "y")
    assert dumps(there) == dumps(here)


NUMBERS = {
    "open": lambda: bt.DecisionTreeRegressor(max_depth=7),
    "gain": lambda: bt.DecisionTreeRegressor(max_depth=6, min_gain=0.01),
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


def of_numbers(values: np.ndarray) -> InMemory:
    schema = Schema((Column("x", Kind.NUMERIC),), Target("y", ("a", "b")), ("x",))
    return InMemory(Table(schema, (values,), np.ones(len(values)), np.zeros(len(values), np.int32), True))


@pytest.mark.parametrize("seed", range(4))
def test_quantiles_are_order_statistics(seed, monkeypatch):
    monkeypatch.setattr(value_codes, "MOST_DISTINCT", 10)
    r = np.random.default_rng(seed)
    values = np.concatenate([r.normal(size=3000), -(10 ** r.normal(0, 80, 500)), [0.0, -0.0, 5e-324, np.nan, 1e308]])
    known = np.sort(values[~np.isnan(values)])
    n = value_codes.N_QUANTILES
    ranks = np.unique(np.append(np.arange(1, n + 1) * len(known) // (n + 1), len(known)))
    expected = np.unique(known[ranks[ranks > 0] - 1] + 0.0)
    (found,) = value_codes.codes_of(of_numbers(values)).ends
    assert np.array_equal(found, expected)


def test_few_numbers_have_a_code_each():
    codes = value_codes.codes_of(of_numbers(np.array([3.0, np.nan, 1.0, 3.0, -0.0])))
    assert codes.ends[0].tolist() == [0.0, 1.0, 3.0]
    assert codes.is_exact == (True,)
