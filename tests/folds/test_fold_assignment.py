"""Folds: `cv=` means one thing everywhere, and rows dealt by their contents go where their contents say."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from baytree.data.encoding import Table
from baytree.data.schema import Column, Kind, Schema
from baytree.folds.content_folds import assign_folds, assign_folds_by_weight, held_out_proportion, row_keys
from baytree.folds.splitters import names_rows, read_cv


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("seed", [0, 7, None])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_numbered_folds_are_those_of_scikit_learn(seed, k):
    label = np.random.default_rng(k).choice([2, 0, 1], 40, p=[0.7, 0.25, 0.05])
    for kind, is_classification in ((StratifiedKFold, True), (KFold, False)):
        theirs = kind(k, shuffle=seed is not None, random_state=seed).split(np.zeros((40, 1)), label)
        ours = read_cv(k, 40, label, is_classification, seed=seed)
        for mine, (train, test) in zip(ours.parts, theirs, strict=True):
            assert mine.train.tolist() == train.tolist()
            assert mine.test.tolist() == test.tolist()


def test_the_same_folds_can_be_said_in_many_ways():
    label, fold = np.array([0, 1] * 6), np.arange(12) % 3
    numbers = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    masks = [(fold != f, fold == f) for f in range(3)]
    for cv in (numbers, masks, fold, fold.tolist(), iter(numbers)):
        assert names_rows(cv)
        assert read_cv(cv, 12, label, is_classification=True).of_rows(12).tolist() == fold.tolist()


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (1, "at least 2 folds"),
        ("lo", "'loo'"),
        (None, "give a number of folds"),
        (1.5, "give a number of folds"),
        ([0, 1], "2 folds for 6 rows"),
        ([([0, 1], [2, 9])], "row 9, but there are 6 rows"),
        ([([0, 1], [2.5])], "pairs \\(train, test\\)"),
        ([([0, 1, 2, 3, 4, 5], [])], "without rows"),
    ],
)
def test_what_is_no_fold_is_refused_in_words(cv, words):
    with pytest.raises(ValueError, match=words):
        read_cv(cv, 6, np.array([0, 1] * 3), is_classification=True)


def test_where_every_row_needs_a_fold_one_without_is_named():
    folds = read_cv([([0, 1], [2, 3])], 5, np.zeros(5, int), is_classification=True)
    with pytest.raises(ValueError, match="never holds row 0 out"):
        folds.of_rows(5)


def table(n_rows=60, seed=0):
    random = np.random.default_rng(seed)
    schema = Schema((Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("a", "b"))), inputs=("x", "c"))
    values = (random.integers(0, 5, n_rows).astype(float), random.integers(-1, 2, n_rows).astype(np.int32))
    return Table(schema, values, random.integers(1, 4, n_rows).astype(float), random.integers(0, 2, n_rows).astype(np.int32))


def test_what_a_row_holds_decides_its_key_and_not_its_place():
    rows = table()
    order = np.random.default_rng(1).permutation(len(rows))
    assert (row_keys(rows)[order] == row_keys(rows.take(order))).all()
    assert (row_keys(rows) != row_keys(rows, seed=1)).any()


def test_equal_rows_are_spread_over_the_folds():
    rows = table()
    key = row_keys(rows)
    fold = assign_folds(key, rows.label, 3)
    for own in np.unique(key):
        count = np.bincount(fold[key == own], minlength=3)
        assert count.max() - count.min() <= 1


def test_a_third_of_the_weight_is_held_out():
    rows = table(3000)
    held = held_out_proportion(row_keys(rows), rows.weight) @ rows.weight
    assert abs(held / rows.weight.sum() - 1 / 3) < 0.01


def test_a_row_of_weight_two_is_dealt_as_two_rows():
    rows = table()
    twice = rows.take(np.repeat(np.arange(len(rows)), rows.weight.astype(int)))
    folds = []
    for each, weight in ((rows, rows.weight), (twice, np.ones(len(twice)))):
        found = assign_folds_by_weight(row_keys(each), each.label, weight, 1.0, 4)
        key = row_keys(each) if found.index is None else row_keys(each)[found.index]
        folds.append({(k, f): w for k, f, w in zip(key.tolist(), found.fold.tolist(), found.weight.tolist(), strict=True)})
    assert folds[0].keys() == folds[1].keys()
    assert all(folds[0][at] == pytest.approx(folds[1][at]) for at in folds[0])
