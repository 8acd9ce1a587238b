"""Trees of classes with a branch for each level, from counts: the trees of the fractional search, bit for bit."""

from functools import partial

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import baytree as bt
from baytree.engine.partitions import LocalPartitions
from baytree.tree.growing.grow import SearchKind, _fractional, grow
from baytree.tree.policy import Branching, Criterion, Missing, Policy, Stopping
from baytree.tree.search.counted.coded_rows import coded_rows, count_classes
from law_settings import settings

CRITERIA = (Criterion.ERROR, Criterion.ENTROPY, Criterion.GINI, Criterion.GAIN_RATIO, Criterion.CHI2)
MISSING = (Missing.LEARNED, Missing.CATEGORY, Missing.LARGEST)


def table_of(seed: int, n: int, is_weighted: bool = False):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.choice(list("abcdefg"), n),
            "x": rng.normal(size=n).round(1),
            "s": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "z": rng.normal(size=n),
        }
    ).mask(rng.random((n, 4)) < rng.choice([0, 0.2]))
    y = np.array(list("uvw"))[np.digitize(frame.z.fillna(0) + frame.a.isin(["a", "b"]) + rng.normal(size=n), [0, 1])]
    return bt.ID3Classifier()._prepare_rows(frame, y, rng.integers(0, 3, n) if is_weighted else None).table


def same(left, right) -> bool:
    arrays = (name for name in left.__struct_fields__ if isinstance(getattr(left, name), np.ndarray))
    return all(getattr(left, name).tobytes() == getattr(right, name).tobytes() for name in arrays)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6), st.sampled_from(CRITERIA), st.sampled_from(MISSING), st.sampled_from([None, 2, 7]), st.booleans()
)
@example(1, Criterion.GINI, Missing.LEARNED, None, True)
@example(2, Criterion.GAIN_RATIO, Missing.CATEGORY, 7, False)
@example(3, Criterion.CHI2, Missing.LARGEST, None, False)
def test_counts_give_the_tree_of_rows_and_tell_the_same_candidates(seed, criterion, missing, max_leaves, is_weighted):
    table = table_of(seed, 5 + seed % 150, is_weighted)
    stopping = Stopping(min_leaf=1 + seed % 4, max_leaves=max_leaves)
    policy = Policy(criterion=criterion, branching=Branching.MULTIWAY, missing=missing, stopping=stopping)
    grown = grow(LocalPartitions(table), policy, traces=True)
    by_rows, candidates = _fractional(table, policy, None, True)
    assert grown.search is SearchKind.COUNTED
    assert same(grown.model, by_rows)
    assert sorted(map(repr, grown.trace)) == sorted(map(repr, candidates))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_and_large_nodes_change_no_bit(n_jobs):
    table = table_of(1, 30_000)
    policy = Policy(criterion=Criterion.GINI, branching=Branching.MULTIWAY, stopping=Stopping(min_leaf=20))
    assert same(grow(LocalPartitions(table, n_jobs), policy).model, _fractional(table, policy, 1, False)[0])


def some(rows, own):
    codes, label, at = [codes[own] for codes in rows.codes], rows.label[own], rows.at[own]
    return msgspec.structs.replace(rows, codes=codes, label=label, at=at)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 99))
def test_the_counts_of_parts_add_up_to_those_of_the_whole(seed, cut):
    made, coding = coded_rows(LocalPartitions(table_of(seed, 100)), 1)
    rows = msgspec.structs.replace(made.gather()[0], at=np.random.default_rng(seed).integers(0, 3, 100).astype(np.int32))
    count = partial(count_classes, coding.n_codes, np.ones((2, 4), bool), np.array([0, -1, 1], np.int32))
    parts, whole = count(some(rows, slice(0, cut))) + count(some(rows, slice(cut, 100))), count(rows)
    assert np.array_equal(parts.rows, whole.rows)
    assert np.array_equal(parts.sums, whole.sums)
    for mine, theirs in zip(parts.cells, whole.cells, strict=True):
        assert np.array_equal(mine.key, theirs.key)
        assert np.array_equal(mine.sums, theirs.sums)


def test_a_column_of_too_many_levels_is_refused_by_name():
    rows, levels = np.arange(300), np.arange(200_000)
    frame = pd.DataFrame({"id": pd.Categorical(rows // 3, levels), "key": pd.Categorical(rows % 100, levels)})
    y = np.random.default_rng(1).choice(["a", "b"], 300)
    with pytest.raises(ValueError, match=r"column '(id|key)' has 200000 levels"):
        bt.DecisionTreeClassifier(branching="multiway").fit(frame, y)
