"""Many classes: a node knows those that occur in it, and what is left out changes no number."""

import numpy as np
import pytest

import baytree as bt
from baytree import _core
from baytree.data.schema import Target
from baytree.tree.model import parents
from baytree.tree.policy import ClassCells, Criterion, impurity_of

N_CLASSES = 150


def table(n_rows=1200):
    """Numbers that tell most of many classes apart."""
    random = np.random.default_rng(3)
    y = np.arange(n_rows) % N_CLASSES
    return np.column_stack([y // 12, y % 12]) + random.normal(scale=0.3, size=(n_rows, 2)), y


def sparse_counts(random, n_classes):
    counts = random.integers(0, 4, (60, n_classes)) * (random.random((60, n_classes)) < random.random((60, 1)))
    return counts * random.choice([1.0, 1 / 3, 0.7])


def weighted_entropy(weights, axis):
    """Weight times entropy in bits."""
    terms = np.where(weights > 0, weights * np.log2(np.maximum(weights, 1)), 0.0)
    whole = weights.sum(axis=axis)
    return np.where(whole > 0, whole * np.log2(np.maximum(whole, 1)), 0.0) - terms.sum(axis=axis)


TREES = [
    bt.C45Classifier(pruning=None, collapse=False),
    bt.C45Classifier(),
    bt.C45Classifier(conventions="j48"),
    bt.DecisionTreeClassifier(branching="multiway", criterion="gini", missing="learned"),
    bt.C50Classifier(global_pruning=False),
    bt.C50Classifier(),
]


@pytest.mark.parametrize("estimator", TREES, ids=repr)
def test_nodes_count_the_classes_of_the_rows_that_reach_them(estimator):
    X, y = table()
    model = estimator.fit(X, y)
    tree = model.tree_ if hasattr(model, "tree_") else model.model_.trees[0]
    counts, above = np.zeros((len(tree), N_CLASSES)), parents(tree)
    np.add.at(counts, (model.apply(X), y), 1.0)
    for node in range(len(tree) - 1, 0, -1):
        counts[above[node]] += counts[node]
    assert np.array_equal(tree.counts, counts)
    assert np.array_equal(tree.prediction, counts.argmax(axis=1))


def test_the_cut_of_the_root_gains_most_of_all_cuts():
    X, y = table()
    root = bt.C45Classifier(pruning=None, criterion="gain", collapse=False, mdl=False).fit(X, y).tree_
    before = weighted_entropy(np.bincount(y, minlength=N_CLASSES).astype(float), 0)
    best = []
    for column in X.T:
        order = np.argsort(column)
        low = np.cumsum(np.eye(N_CLASSES)[y[order]], axis=0)[1:-2]  # two rows on each side
        rest = weighted_entropy(low, 1) + weighted_entropy(np.bincount(y) - low, 1)
        best.append((before - rest.min(), column[order][1 + rest.argmin()]))
    gain, cut = best[root.column[0]]
    assert root.gain[0] == pytest.approx(max(best)[0], rel=1e-5)
    assert (root.cut[0], root.gain[0]) == (cut, pytest.approx(gain, rel=1e-5))


@pytest.mark.parametrize("n_classes", [1, 2, 7, 8, 9, 130, 1000])
def test_sums_over_classes_that_occur_are_those_over_all(n_classes):
    random = np.random.default_rng(n_classes)
    for _ in range(20):
        counts = sparse_counts(random, n_classes)
        cells = ClassCells.of(counts)
        assert np.array_equal(cells.table(cells.weight), counts)
        assert np.array_equal(cells.sums(cells.weight), counts.sum(axis=1))
        assert np.array_equal(cells.sums(cells.weight**0.5), (counts**0.5).sum(axis=1))
        assert np.array_equal(cells.largest(cells.weight), counts.max(axis=1))


def test_impurities_of_classes_that_occur_are_those_of_all():
    random = np.random.default_rng(1)
    for n_classes in (2, 5, 40, 300):
        counts = sparse_counts(random, n_classes)
        total = counts.sum(axis=1, keepdims=True)
        share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
        entropy = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)
        assert np.array_equal(impurity_of(counts, Criterion.ENTROPY), entropy)
        gini = np.where(total[:, 0] > 0, 1 - (share**2).sum(axis=1), 0.0)
        assert np.array_equal(impurity_of(counts, Criterion.GINI), gini)
        error = np.where(total[:, 0] > 0, 1 - share.max(axis=1), 0.0)
        assert np.array_equal(impurity_of(counts, Criterion.ERROR), error)


def test_a_number_added_many_times_is_rounded_each_time():
    random = np.random.default_rng(0)
    halfway = (2 * random.integers(1, 1000, 100) + 1) * 2.0**-53
    terms = [0.0, 5e-324, 1e-310, 1.0, 3.0, *random.random(200), *(1 / random.integers(1, 5000, 200)), *halfway]
    for term in terms:
        for start in (0.0, float(random.random()), 1.0, 1 + 3 * 2.0**-52, term * 0.3):
            times, added = int(random.integers(0, 600)), start
            for _ in range(times):
                added += term
            assert _core.add_repeatedly(start, term, times) == added


def test_mistakes_that_cost_one_weigh_classes_as_a_table_of_ones_does():
    random = np.random.default_rng(2)
    for n_classes in (1, 2, 3, 64, 65, 300):
        counts, classes = random.integers(1, 9, n_classes).astype(float), tuple(range(n_classes))
        schema = bt.Schema((bt.Column("x", bt.Kind.NUMERIC),), Target("y", classes), ("x",))
        estimators = bt.CARTClassifier(), bt.CARTClassifier(costs=1.0 - np.eye(n_classes))
        plain, told = (each._learner(schema).weighing.of_counts(counts, classes) for each in estimators)
        assert (plain.loss is None) != (told.loss is None)
        assert np.array_equal(plain.scale, told.scale)
        assert np.array_equal(plain.risk_scale, told.risk_scale)
