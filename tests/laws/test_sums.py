"""Tests of several columns: what they say holds of the rows, whatever unit, order or language the rows come in."""

from math import comb, log2

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree import storage

SEEDS = st.integers(0, 2**32 - 1)
WAYS = ["learned", "category", "largest"]


def rows_of(seed: int, gaps: float = 0.0, n: int = 100) -> tuple[dict, np.ndarray]:
    """Three numbers and a level; three classes that lie between slanted lines, some of them wrong."""
    random = np.random.default_rng(seed)
    u, v, w = random.normal(size=(3, n)).round(2)
    side = u * random.choice([-1, 1]) + 1.5 * v
    label = np.digitize(side + w * (side > 0), [-1, 1])
    label = np.where(random.random(n) < 0.05, random.integers(0, 3, n), label)
    columns = {"u": u, "v": v, "w": w}
    known = {name: np.where(random.random(n) < gaps, np.nan, values) for name, values in columns.items()}
    return {**known, "level": np.array(["a", "b"])[random.integers(0, 2, n)]}, np.array(["x", "y", "z"])[label]


def sums_of(model: bt.DecisionTreeClassifier) -> list[dict]:
    return [node for node in model.nodes() if "weights" in node]


def by_hand(model: bt.DecisionTreeClassifier, row: dict) -> list[float]:
    """The probabilities of a row, by what the nodes say."""
    nodes = {node["id"]: node for node in model.nodes()}
    at = nodes[0]
    while at["children"]:
        weights = at.get("weights", {at["column"]: 1.0})
        if at.get("groups"):
            branch = next(b for b, levels in enumerate(at["groups"]) if row[at["column"]] in levels)
        elif np.isnan(value := sum(weight * row[name] for name, weight in weights.items())):
            branch = at["missing"] - at["children"][0]
        else:
            branch = int(value > at["threshold"])
        at = nodes[at["children"][branch]]
    return at["probabilities"]


@pytest.mark.slow
@given(SEEDS, st.sampled_from(WAYS), st.sampled_from([2, 3]))
def test_predictions_are_the_sentences_applied_by_hand(seed, missing, most):
    X, y = rows_of(seed, gaps=0.1)
    model = bt.DecisionTreeClassifier(max_split_columns=most, missing=missing, min_leaf=3).fit(X, y)
    rows = [{name: values[i] for name, values in X.items()} for i in range(0, len(y), 9)]
    assert np.array_equal([by_hand(model, row) for row in rows], model.predict_proba(X)[::9])


@given(SEEDS, st.floats(-0.5, 0.5), st.sampled_from([-1, 1]))
def test_a_stump_finds_a_line_at_45_degrees(seed, offset, sign):
    X = np.random.default_rng(seed).normal(size=(300, 2))
    side = X[:, 0] + sign * X[:, 1] - offset
    X, side = X[np.abs(side) > 0.15], side[np.abs(side) > 0.15]
    model = bt.DecisionTreeClassifier(max_split_columns=2, max_depth=1).fit(X, side > 0)
    assert model.score(X, side > 0) == 1.0
    (test,) = sums_of(model)
    assert test["weights"]["x1"] / test["weights"]["x0"] == pytest.approx(sign, rel=0.3)


@pytest.mark.slow
@given(SEEDS, st.integers(-12, 12), st.sampled_from(["u", "v", "w"]), st.sampled_from([2, 3]))
def test_another_unit_of_a_column_scales_its_weight_and_changes_no_answer(seed, power, name, most):
    X, y = rows_of(seed, gaps=0.05)
    turned = {**X, name: X[name] * 2.0**power}
    old, new = (bt.DecisionTreeClassifier(max_split_columns=most).fit(each, y) for each in (X, turned))
    assert np.array_equal(old.predict_proba(X), new.predict_proba(turned))
    for before, after in zip(sums_of(old), sums_of(new), strict=True):
        ratio = {n: after["weights"][n] / weight for n, weight in before["weights"].items()}
        if name in ratio:
            ratio[name] *= 2.0**power
        assert len(set(ratio.values())) == 1


@pytest.mark.slow
@given(SEEDS)
def test_neither_the_order_of_rows_nor_the_number_of_threads_shows(seed):
    X, y = rows_of(seed, gaps=0.05)
    order = np.random.default_rng(seed).permutation(len(y))
    turned = {name: values[order] for name, values in X.items()}
    models = [
        bt.DecisionTreeClassifier(max_split_columns=3, n_jobs=n, profile=False).fit(*each)
        for n, each in ((1, (X, y)), (2, (X, y)), (1, (turned, y[order])))
    ]
    assert len({storage.dumps(model.set_params(n_jobs=None)) for model in models}) == 1


def label_bits(counts: list[float]) -> float:
    """n·H, the bits that encode the class of every row."""
    return -sum(count * log2(count / sum(counts)) for count in counts if count)


def bits_of_test(n_read: int, n_columns: int, weight: float) -> float:
    """The bits of a test: which columns, which threshold, and for each weight but one its sign, 3 digits and 9 exponents."""
    weight_bits = 1 + 3 + log2(9)
    return log2(comb(n_columns, n_read)) + log2(weight - 1) + (n_read - 1) * weight_bits


@given(SEEDS)
def test_a_sum_is_worth_its_bits_and_leaves_branches_large_enough(seed):
    X, y = rows_of(seed)
    model = bt.DecisionTreeClassifier(max_split_columns=3, min_leaf=7).fit(X, y)
    nodes = {node["id"]: node for node in model.nodes()}
    for node in sums_of(model):
        below = [nodes[child] for child in node["children"]]
        saved = label_bits(node["counts"]) - sum(label_bits(each["counts"]) for each in below)
        assert saved > bits_of_test(len(node["weights"]), len(X), node["weight"])
        assert min(each["weight"] for each in below) >= 7


@given(SEEDS)
def test_where_no_sum_pays_the_tree_is_the_ordinary_one(seed):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(40, 3)), random.integers(0, 2, 40)
    plain, free = (bt.DecisionTreeClassifier(max_split_columns=most).fit(X, y) for most in (1, 3))
    if not sums_of(free):
        assert storage.dumps(free.set_params(max_split_columns=1)) == storage.dumps(plain)


@pytest.mark.slow
@given(SEEDS)
def test_rules_ledgers_files_and_importances_know_sums(seed):
    X, y = rows_of(seed, gaps=0.05)
    model = bt.DecisionTreeClassifier(max_split_columns=3, max_depth=3).fit(X, y)
    answers = model.predict_proba(X)
    assert np.array_equal(model.rules().predict(model._encoded(X)), answers)
    asked = {name: values[:5] for name, values in X.items()}
    assert np.allclose([why.start + sum(line.effect for line in why.evidence) for why in model.explain(asked)], answers[:5])
    loaded = storage.loads(storage.dumps(model))
    assert np.array_equal(loaded.predict_proba(X), answers)
    assert storage.dumps(loaded) == storage.dumps(model)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    read = {name for node in sums_of(model) for name in node["weights"]}
    assert read <= {row.column for row in model.importances()}


@pytest.mark.parametrize("criterion", ["error", "entropy", "gini", "gain_ratio", "twoing", "chi2", "likelihood_ratio"])
@pytest.mark.parametrize("parameters", [{}, {"missing": "category"}, {"costs": [[0, 1, 5], [2, 0, 1], [1, 1, 0]]}], ids=str)
def test_branches_part_the_rows_of_their_node_under_every_criterion(criterion, parameters):
    X, y = rows_of(3, gaps=0.05, n=200)
    weight = np.random.default_rng(3).integers(1, 4, 200).astype(float)
    model = bt.DecisionTreeClassifier(criterion=criterion, max_split_columns=3, **parameters).fit(X, y, sample_weight=weight)
    nodes = {node["id"]: node for node in model.nodes()}
    assert sums_of(model)
    for node in (node for node in nodes.values() if node["children"]):
        below = [nodes[child] for child in node["children"]]
        assert sum(each["n"] for each in below) == node["n"]
        assert np.array_equal(sum(np.array(each["counts"]) for each in below), node["counts"])
    resting = np.bincount(model.apply(X), weight, len(nodes))
    assert all(resting[k] == (0 if node["children"] else node["weight"]) for k, node in nodes.items())


@pytest.mark.parametrize("most", [2, 3])
def test_folds_of_the_encoded_table_give_what_refitting_the_frame_gives(most):
    X, y = rows_of(2, gaps=0.05, n=240)
    frame = pd.DataFrame({**X, "y": y})
    frame.loc[5, "level"] = "once"  # which the rows of one fold do not have
    folds = [(np.flatnonzero(np.arange(240) % 3 != k), np.flatnonzero(np.arange(240) % 3 == k)) for k in range(3)]
    found = bt.cross_validate(bt.DecisionTreeClassifier(max_split_columns=most), frame, "y", cv=folds)
    for trial, (train, test) in zip(found.trials, folds, strict=True):
        model = bt.DecisionTreeClassifier(max_split_columns=most).fit(frame.iloc[train], "y")
        assert sums_of(model)
        assert np.array_equal(trial.probability, model.predict_proba(frame.iloc[test].drop(columns="y")))


@pytest.mark.parametrize("size", [1.7e308, 1e300, 1e-300])
def test_no_number_is_too_large_or_too_small_to_be_added(size):
    u, v = np.random.default_rng(0).uniform(-1, 1, (2, 200))
    model = bt.DecisionTreeClassifier(max_split_columns=3).fit({"u": size * u, "v": size * v}, u + v > 0)
    assert model.n_leaves_ == 2


@pytest.fixture(scope="module")
def model() -> bt.DecisionTreeClassifier:
    return bt.DecisionTreeClassifier(max_split_columns=3).fit(*rows_of(1, n=400))


def test_pruning_leaves_no_sum_that_no_test_reads(model):
    for cp in (0.0, 0.02, 0.2, 0.9):
        tree = model.prune("cost_complexity", cp).tree_
        used = {int(j) - 4 for j in tree.column if j >= 4}
        assert used == set(range(len(tree.sums) if tree.sums else 0))


def test_the_interview_ends_with_the_answer_of_the_model(model):
    X, _ = rows_of(1, n=400)
    row = {name: values[7] for name, values in X.items()}
    talk = model.interview(sure=1.0)
    while (question := talk.next()) is not None:
        talk.answer(row[question.column])
    assert set(talk.answers) >= {name for node in sums_of(model)[:1] for name in node["weights"]}
    assert talk.prediction == model.predict({name: [value] for name, value in row.items()})[0]


def test_a_record_of_sums_is_checked(model):
    sums = model.tree_.sums
    for change, fault in (
        ({"weight": np.zeros_like(sums.weight)}, "weight"),
        ({"column": np.zeros_like(sums.column)}, "twice"),
        ({"column": sums.column + np.int32(9)}, "unknown column"),
        ({"place": np.arange(len(sums.place), dtype=np.int32)}, "fewer than two"),
        ({"weight": sums.weight.astype(np.float32)}, "array of float64"),
    ):
        with pytest.raises(ValueError, match=fault):
            msgspec.structs.replace(sums, **change)
    tree = model.tree_
    with pytest.raises(ValueError, match="unknown linear combination"):
        msgspec.structs.replace(tree, sums=type(sums).of(sums.terms()[:1], 4)).check(model.schema_)
    with pytest.raises(ValueError, match="not numeric"):
        msgspec.structs.replace(tree, sums=type(sums).of([((0, 1.0), (3, 1.0))] * len(sums), 4)).check(model.schema_)
    with pytest.raises(ValueError, match="another table"):
        msgspec.structs.replace(tree, sums=msgspec.structs.replace(sums, n_columns=5)).check(model.schema_)
    with pytest.raises(ValueError, match="unknown column"):
        msgspec.structs.replace(tree, sums=msgspec.UNSET).check(model.schema_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"max_split_columns": 4}, "at most 3"),
        ({"branching": "multiway"}, "splits are binary"),
        ({"missing": "fractional"}, "splits are binary"),
        ({"missing": "surrogate"}, "have no surrogates"),
        ({"monotone": {"u": "up"}, "schema": {"label": ["x", "y", "z"]}}, "are not available with monotone"),
    ],
)
def test_what_does_not_go_with_sums_is_refused(parameters, words):
    X, y = rows_of(0)
    with pytest.raises(ValueError, match=words):
        bt.DecisionTreeClassifier(**{"max_split_columns": 2, **parameters}).fit({**X, "label": y}, "label")


def test_rules_that_vote_ask_for_one_column_at_a_time(model):
    with pytest.raises(ValueError, match="one column at a time"):
        bt.C50Classifier.from_tree(model)


def test_a_regressor_has_no_such_parameter():
    with pytest.raises(TypeError, match="there is no parameter 'max_split_columns'"):
        bt.DecisionTreeRegressor(max_split_columns=2)


def test_the_trace_tells_of_the_sum_that_was_taken():
    model = bt.DecisionTreeClassifier(max_split_columns=2, max_depth=2, trace=True).fit(*rows_of(1))
    taken = {each["node"]: each["column"] for each in model.trace_ if each["is_taken"]}
    assert taken == {node["id"]: node["column"] for node in model.nodes() if node["children"]}
