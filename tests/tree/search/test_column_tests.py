"""All columns at all nodes of a level: the core against the rules in Python, and its counts against counting row by row."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree import _core
from baytree.parallel.threads import limit_threads
from baytree.tree.search.counted.column_tests import DepthTests, compute_column_tests
from baytree.tree.search.counted.counts import CodeSums, DepthCounts
from baytree.tree.search.counted.groups import MergeRules, by_outcome

COLUMNS = [
    (3, False),
    (9, True),
    (40, False),
    (12, True),
    (1, False),
    (60, False),
]  # number of codes, whether they are ordered


def level(seed: int, width: int, most: int, unit: float = 1.0, is_mean: bool = False, n_nodes: int = 4) -> DepthCounts:
    """Counts of a level: small ones tie, columns lack codes, and values are missing here and there."""
    rng = np.random.default_rng(seed)
    cells = []
    for n_codes, _ in COLUMNS:
        key = np.flatnonzero(rng.random(n_nodes * (n_codes + 1)) < 0.8)
        sums = rng.integers(0, most, (len(key), width)) * rng.choice([1.0, 3.0], (len(key), 1)) * unit
        if is_mean:
            sums = np.column_stack([sums[:, 0] + 1.0, rng.normal(size=len(key)).round(1), 3.0 + rng.random(len(key))])
        kept = sums[:, : 1 if is_mean else width].sum(axis=1) > 0
        cells.append(CodeSums(key[kept], np.ascontiguousarray(sums[kept], float)))
    return DepthCounts(np.ones(n_nodes, np.int64), np.zeros((n_nodes, width)), tuple(cells))


def judged(counts: DepthCounts, rules: MergeRules, n_threads: int = 1) -> DepthTests:
    with limit_threads(n_threads):
        return compute_column_tests(counts, {10: 0, 12: 2, 13: 3}, COLUMNS, rules)


def assert_same(left: DepthTests, right: DepthTests) -> None:
    for mine, others in zip(left.trials(), right.trials(), strict=True):
        assert (mine.node, mine.column) == (others.node, others.column)
        assert (mine.n_groups, mine.floating) == (others.n_groups, others.floating)
        assert mine.group_of.tolist() == others.group_of.tolist()
        assert (mine.log_p, mine.log_multiplier, mine.log_adjusted) == (
            others.log_p,
            others.log_multiplier,
            others.log_adjusted,
        )
        assert mine.sums.tobytes() == others.sums.tobytes()


@pytest.mark.parametrize("exhaustive", [False, True])
@pytest.mark.parametrize(("test", "width"), [("pearson", 2), ("pearson", 5), ("likelihood_ratio", 3), ("mean", 3)])
@pytest.mark.parametrize(("most", "unit"), [(2, 1.0), (4, 1.0), (30, 0.3)])
def test_the_core_groups_levels_as_the_rules_in_python_do(test, width, most, unit, exhaustive, monkeypatch):
    for seed in range(3):
        counts = level(seed, width, most, unit, test == "mean")
        rules = MergeRules(test=test, exhaustive=exhaustive, min_leaf=3, alpha_merge=[0.05, 0.6, 0.001][seed])
        fast = judged(counts, rules)
        with monkeypatch.context() as patch:
            patch.setattr("baytree.tree.search.counted.merging.KERNELS", ())
            assert_same(fast, judged(counts, rules))


@pytest.mark.parametrize(("test", "width"), [("pearson", 2), ("pearson", 3), ("mean", 3)])
def test_very_many_levels_run_together_in_the_core_as_in_python(test, width, monkeypatch):
    for module in ("groups", "merging"):
        monkeypatch.setattr(f"baytree.tree.search.counted.{module}.MAX_LEVELS", 8)
    counts, rules = level(0, width, 9, is_mean=test == "mean"), MergeRules(test=test, min_leaf=2)
    fast = judged(counts, rules)
    monkeypatch.setattr("baytree.tree.search.counted.merging.KERNELS", ())
    assert_same(fast, judged(counts, rules))


def test_the_order_of_levels_does_not_depend_on_the_sign_of_an_eigenvector(monkeypatch):
    """A library of linear algebra may give either."""
    statistics = np.random.default_rng(0).integers(0, 9, (50, 4)) + 1.0
    order = by_outcome(statistics, is_mean=False)
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (eigh(matrix)[0], -eigh(matrix)[1]))
    assert by_outcome(statistics, is_mean=False).tolist() == order.tolist()


def test_the_number_of_threads_does_not_change_a_level(monkeypatch):
    monkeypatch.setattr("baytree.tree.search.counted.merging._MIN_PARALLEL_CELLS", 0)
    counts, rules = level(1, 2, 9), MergeRules()
    assert_same(judged(counts, rules, 1), judged(counts, rules, 3))


@pytest.mark.parametrize("alpha", [0.05, 0.99, 1.0])
def test_levels_of_the_same_shares_leave_two_groups(alpha, monkeypatch):
    """Equal shares alone, or beside few others: merging stops at two groups, whatever p."""
    pure, mixed = [[3, 0], [1, 0], [0, 2], [0, 9]], [[1, 1, 0], [2, 2, 0], [0, 0, 7]]
    for sums in ([[1, 2]] * 5, [[1, 2], [2, 4], [1, 0]], pure, mixed):
        cells = CodeSums(np.arange(1, len(sums) + 1), np.array(sums, float))
        counts = DepthCounts(np.ones(1, np.int64), cells.sums.sum(0, keepdims=True), (cells,))
        for test in ("pearson", "likelihood_ratio"):
            rules = MergeRules(test=test, alpha_merge=alpha, min_leaf=1)
            fast = compute_column_tests(counts, {0: 0}, [(len(sums), False)], rules)
            with monkeypatch.context() as patch:
                patch.setattr("baytree.tree.search.counted.merging.KERNELS", ())
                assert_same(fast, compute_column_tests(counts, {0: 0}, [(len(sums), False)], rules))


@pytest.mark.parametrize("n_codes", [3, 40, 5000])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_codes_are_counted_as_row_by_row(n_codes, is_weighted):
    rng = np.random.default_rng(n_codes)
    n, n_nodes, n_classes = 500, 4, 3
    code, place = rng.integers(-1, n_codes, n).astype(np.int32), rng.integers(-1, n_nodes, n).astype(np.int32)
    label, weight = rng.integers(0, n_classes, n).astype(np.int32), rng.random(n) * (rng.random(n) < 0.9)
    is_open = np.array([[True], [False], [True], [True]])
    given = weight if is_weighted else np.zeros(0)
    counted = _core.count_codes([code], np.array([n_codes], np.int32), place, label, given, n_classes, is_open, 2)
    rows, sums, [(key, found)] = counted
    cells: dict[int, np.ndarray] = {}
    of_node = np.zeros((n_nodes, n_classes))
    for c, p, k, w in zip(code.tolist(), place.tolist(), label.tolist(), weight if is_weighted else np.ones(n), strict=True):
        of_node[p, k] += w * (p >= 0)
        if p >= 0 and is_open[p, 0] and w > 0:
            cells.setdefault(p * (n_codes + 1) + c + 1, np.zeros(n_classes))[k] += w
    assert key.tolist() == sorted(cells)
    assert found.tolist() == [cells[k].tolist() for k in sorted(cells)]
    assert sums.tolist() == of_node.tolist()
    assert rows.tolist() == [Counter(place.tolist())[p] for p in range(n_nodes)]


def test_cells_of_parts_add_up_and_take_each_other_away():
    rng = np.random.default_rng(0)
    for _ in range(50):
        left, right = (CodeSums(key, rng.integers(1, 9, (len(key), 2)).astype(float)) for key in _keys(rng))
        both = left + right
        every = sorted({*left.key.tolist(), *right.key.tolist()})
        assert both.key.tolist() == every
        each = [dict(zip(part.key.tolist(), part.sums, strict=True)) for part in (left, right)]
        assert both.sums.tolist() == [sum((part.get(k, np.zeros(2)) for part in each), np.zeros(2)).tolist() for k in every]
        again = both - right
        assert {k: s.tolist() for k, s in zip(again.key.tolist(), again.sums, strict=True) if s.any()} == {
            k: s.tolist() for k, s in zip(left.key.tolist(), left.sums, strict=True)
        }


def _keys(rng):
    return (np.flatnonzero(rng.random(20) < rng.random()) for _ in range(2))


def test_a_row_that_weighs_nothing_is_no_row():
    rng = np.random.default_rng(3)
    levels = {"a": rng.integers(0, 300, 600).astype(str), "b": rng.integers(0, 4, 600).astype(str)}
    frame = pd.DataFrame(levels | {"x": rng.normal(size=600)})
    y = np.where((frame["b"] == "1") ^ (rng.random(600) < 0.2), "yes", "no")
    weight = (rng.random(600) < 0.6).astype(float)
    weight[:4] = 1.0
    schema = {"a": "nominal", "b": "nominal"}
    part = bt.CHAIDClassifier(schema=schema, trace=True).fit(frame[weight > 0], y[weight > 0])
    whole = bt.CHAIDClassifier(schema=schema, trace=True).fit(frame, y, sample_weight=weight)
    assert [trial["log_adjusted_p"] for trial in whole.trace_] == [trial["log_adjusted_p"] for trial in part.trace_]
