"""Learning is rounds over parts: rows apart give the model of rows together, and nobody gathers what he can count."""

import msgspec
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import baytree as bt
from apart import Apart
from baytree.data.encoding import Table
from baytree.data.schema import Column, Kind, Schema
from baytree.engine.partitions import LocalPartitions
from baytree.engine.quantiles import quantile_edges
from baytree.statistics.binning import cuts_of_counts, quantile_cuts
from baytree.statistics.value_counts import ValueCounts


def numbers(n_rows):
    schema = Schema((Column("x", Kind.NUMERIC),))
    return Table(schema, (np.arange(float(n_rows)),), np.ones(n_rows))


def test_a_part_knows_how_many_rows_come_before_it():
    seen = Apart(numbers(10), (3, 7)).map_reduce(lambda part: [(part.first, len(part))])
    assert seen == [(0, 3), (3, 4), (7, 3)]
    assert numbers(10).rows(4, 9).rows(2, 4).first == 6


def test_what_is_made_of_parts_is_the_same_kept_or_made_anew():
    def squares(part):
        return part.values[0] ** 2

    for rows in (LocalPartitions(numbers(10)), Apart(numbers(10), (3, 7))):
        made = rows.apply(squares)
        assert made.map_reduce(lambda piece: piece.sum()) == 285
        assert np.concatenate(made.apply(lambda piece: piece + 1).gather()).tolist() == [k * k + 1 for k in range(10)]


def test_rows_in_memory_are_made_in_the_parts_that_a_round_has():
    made = LocalPartitions(numbers(10)).apply(lambda part: (part.first, len(part)), rows_per_part=4)
    assert made.gather() == [(0, 3), (3, 3), (6, 4)]


def test_a_change_reaches_every_round():
    rows = LocalPartitions(numbers(4)).map_partitions(lambda part: part.take(part.values[0] > 1))
    assert rows.gather().values[0].tolist() == [2, 3]


def mixed(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(0, 40, n_rows)),
            "colour": pd.Categorical(rng.choice(list("abcd"), n_rows)),
            "grade": pd.Categorical(rng.choice(["low", "mid", "top"], n_rows), ["low", "mid", "top"], ordered=True),
        }
    )
    frame.loc[rng.random(n_rows) < 0.05, "colour"] = None
    score = frame["size"] + (frame["colour"] == "a") + 0.05 * frame["age"].fillna(10) + rng.normal(size=n_rows)
    return frame, score


def plain(n_rows, seed=0):
    frame, score = mixed(n_rows, seed)
    X = np.random.default_rng(seed + 1).normal(size=(n_rows, 3))
    X[:, 0] = frame["size"]
    return X, score


def classes(score):
    return np.array(["no", "yes"])[(score > 0.5).astype(int)]


def three(score):
    return np.array(["a", "b", "c"])[np.digitize(score, [0.0, 1.0])]


def learnt(estimator, X, y, weight=None, borders=None):
    """What the estimator's learner makes of the rows, together or apart, and the engine."""
    entered = estimator._prepare_rows(X, y, weight)
    learner = estimator._learner(entered.table.schema)
    rows = LocalPartitions(entered.table) if borders is None else Apart(entered.table, borders)
    return learner.learn(rows), entered.table, rows


def answers_agree(estimator, X, y, weight=None, tolerance=1e-9):
    whole, table, _ = learnt(estimator, X, y, weight)
    for borders in ((len(table) // 3,), (1, len(table) // 2, len(table) // 2, len(table) - 2)):
        apart, _, rows = learnt(estimator, X, y, weight, borders)
        assert rows.n_gathered == 0
        assert np.abs(apart.model.predict(table) - whole.model.predict(table)).max() <= tolerance


LOGISTIC = {
    "ridge": bt.LogisticRegression(),
    "none": bt.LogisticRegression(penalty=None),
    "lasso": bt.LogisticRegression(penalty="l1", C=0.3),
    "elastic net": bt.LogisticRegression(penalty="elasticnet", l1_ratio=0.4, C=0.3),
    "own units": bt.LogisticRegression(standardize=False),
    "balanced": bt.LogisticRegression(class_weight="balanced"),
    "quasi-Newton": bt.LogisticRegression(solver="lbfgs"),
    "gradient descent": bt.LogisticRegression(solver="gradient_descent", max_iter=20),
    "one against the rest": bt.LogisticRegression(multi_class="ovr"),
    "chosen ridge": bt.LogisticRegressionCV(Cs=4, cv=4),
    "chosen lasso": bt.LogisticRegressionCV(Cs=4, cv=3, penalty="l1"),
    "given folds": bt.LogisticRegressionCV(Cs=3, cv=KFold(3)),
}


CHOSEN = ("chosen ridge", "chosen lasso", "given folds")


@pytest.mark.parametrize("name", LOGISTIC)
def test_logistic_regression_of_rows_apart_is_that_of_rows_together(name):
    frame, score = mixed(100)
    answers_agree(LOGISTIC[name], frame, classes(score), tolerance=1e-7)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in CHOSEN)) for n in LOGISTIC])
def test_logistic_regression_of_three_classes_apart_is_that_of_rows_together(name):
    frame, score = mixed(100)
    answers_agree(LOGISTIC[name], frame, three(score), tolerance=1e-7)


@pytest.mark.parametrize("name", ["ridge", "chosen ridge"])
def test_logistic_regression_of_a_matrix_apart_is_that_of_the_matrix(name):
    X, score = plain(200)
    answers_agree(LOGISTIC[name], X, classes(score), np.random.default_rng(3).integers(1, 4, 200), tolerance=1e-7)


def test_words_apart_are_weighed_as_words_together():
    rng = np.random.default_rng(0)
    frame = {"said": [" ".join(rng.choice(list("abcdefghij"), 5)) for _ in range(80)]}
    y = np.array(["in" if "a" in words else "out" for words in frame["said"]])
    for penalty in ("l2", "l1"):
        answers_agree(bt.LogisticRegression(penalty=penalty, schema={"said": "text"}), frame, y, tolerance=1e-6)


@pytest.mark.parametrize("cv", [4, KFold(5)], ids=["number", "splitter"])
@pytest.mark.parametrize("weight", [None, "whole", "fractions"])
def test_a_penalty_is_chosen_from_folds_that_travel_with_their_rows(cv, weight):
    frame, score = mixed(60)
    weights = {"whole": np.arange(60) % 3 + 1.0, "fractions": np.arange(60) % 3 + 0.5}.get(weight)
    answers_agree(bt.LinearRegressionCV(cv=cv, lambdas=5), frame, np.asarray(score), weights)


TREES = {
    "CHAID": bt.CHAIDClassifier(min_split=10, min_leaf=5),
    "multiway": bt.DecisionTreeClassifier(branching="multiway", min_leaf=3),
    "merged": bt.DecisionTreeClassifier(branching="merge", min_leaf=3),
}


@pytest.mark.parametrize("weight", [None, "whole"])
@pytest.mark.parametrize("name", TREES)
def test_a_counted_tree_of_rows_apart_is_that_of_rows_together(name, weight):
    frame, score = mixed(300)
    answers_agree(TREES[name], frame, three(score), None if weight is None else np.arange(len(frame)) % 3 + 1.0, tolerance=0)


def test_a_chaid_tree_of_numbers_apart_is_that_of_rows_together():
    frame, score = mixed(300)
    answers_agree(bt.CHAIDRegressor(min_split=20), frame, np.asarray(score), tolerance=1e-12)


@pytest.mark.parametrize("weight", [np.ones(70_000), np.arange(70_000) % 4 + 1.0], ids=["equal", "whole"])
def test_quantiles_found_digit_by_digit_are_those_of_the_sorted_column(weight):
    rng = np.random.default_rng(0)
    value = np.where(rng.random(70_000) < 0.1, np.nan, rng.normal(size=70_000) * 10.0 ** rng.integers(-300, 300, 70_000))
    table = msgspec.structs.replace(numbers(70_000), values=(value,), weight=weight)
    for rows in (LocalPartitions(table), Apart(table, (5, 65_600))):
        for n_bins in (2, 10):
            assert np.array_equal(quantile_edges(rows, [0], n_bins)[0], quantile_cuts(value, weight, n_bins))


@pytest.mark.parametrize("seed", range(6))
def test_values_and_edges_are_those_of_numpy_s_distinct_values(seed):
    rng = np.random.default_rng(seed)
    few, weight = rng.integers(-3, 3, 200) * 1.0, rng.random(200) ** 8
    value = [rng.normal(size=200).round(1), few, np.full(200, np.nan)][seed % 3]
    value[rng.random(200) < 0.1] = np.nan
    known = ~np.isnan(value)
    distinct, place = np.unique(value[known], return_inverse=True)
    counts = ValueCounts.of(value, weight)
    assert counts.value.tobytes() == distinct.tobytes()
    assert counts.weight.tobytes() == np.bincount(place, weight[known], len(distinct)).tobytes()
    edges = cuts_of_counts(counts.value, counts.weight, 10)
    assert len(np.unique(edges)) == len(edges) == len(set(edges) & set(distinct[:-1]))
    reached = np.cumsum(counts.weight)
    goals = [reached[-1] * k / 10 * (1 - 1e-12) for k in range(1, 10)] if len(distinct) > 10 else reached[:-1]
    last = {int(np.argmax(reached >= goal)) for goal in goals}
    assert edges.tolist() == [float(distinct[k]) for k in sorted(last) if k < len(distinct) - 1]


def test_trees_with_exact_thresholds_gather_their_rows_once():
    frame, score = mixed(100)
    for tree in (bt.CARTClassifier(), bt.C45Classifier()):
        assert learnt(tree, frame, classes(score), borders=(30,))[2].n_gathered == 1
