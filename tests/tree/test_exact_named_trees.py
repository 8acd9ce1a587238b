"""B2 for the trees with a name: the split at the root is the one that an exact search finds by the algorithm's own rules."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import chain, combinations, pairwise
from math import comb

import msgspec
import numpy as np
import pandas as pd
import pytest
import test_exact_criteria as exact

import baytree as bt
from baytree.engine.partitions import LocalPartitions
from baytree.tree.learner import TreeLearner
from baytree.tree.policy import CART, Criterion, Stopping

LN2 = Decimal(2).ln()
SINGLE = Decimal("2e-6")  # gains and ratios of C4.5 are float32: what is closer is a tie (decision 10)


# --- CART -----------------------------------------------------------------------------------------------------------


def cart_root(estimator, X, y, criterion="gini"):
    """The tree before complexities are looked at: a split that saves no error would be taken away again."""
    table = estimator._prepare_rows(X, y, None).table
    stopping = Stopping(min_split=2, min_leaf=1, max_depth=1, counts_rows=True, cp=-1.0)
    policy = msgspec.structs.replace(CART, criterion=Criterion(criterion if table.n_classes else "sse"), stopping=stopping)
    return TreeLearner(policy).grow_tree(LocalPartitions(table))


def is_best(tree, X, y, worth):
    """Whether the root is the best split; of equals, the last bit of rpart's arithmetic decides (decision 20)."""
    found = exact._best(worth, X, y)
    if found is None or tree.column[0] < 0:
        return found is None and tree.column[0] < 0
    mine, best = (
        worth(*([v for v, b in zip(y, below, strict=True) if b == side] for side in (True, False)))
        for below in (X[:, tree.column[0]] < tree.cut[0], X[:, found[0]] <= found[1])
    )
    return bool(mine == best and (tree.impurity >= 0).all() and tree.rows[1] > 0 and tree.rows[2] > 0)


def check_cart(criterion, n_sets):
    rng = np.random.default_rng(n_sets)
    for _ in range(n_sets):
        n = int(rng.integers(2, 14))
        X, y = exact._table(rng, n), rng.integers(0, int(rng.integers(2, 5)), n)
        tree = cart_root(bt.CARTClassifier(), X, y, criterion)
        assert is_best(tree, X, y.tolist(), exact.CLASS_WORTHS[criterion]), (criterion, X.tolist(), y.tolist())


def check_cart_numbers(n_sets):
    rng = np.random.default_rng(n_sets)
    for _ in range(n_sets):
        n = int(rng.integers(2, 12))
        X = exact._table(rng, n)
        offset, scale = float(rng.choice([0.0, 1e12, -1e15, 1e8])), float(rng.choice([1.0, 1e-3, 1e6]))
        y = offset + scale * (rng.normal(size=n) if rng.random() < 0.7 else rng.integers(0, 4, n))
        tree = bt.CARTRegressor(cp=0, min_split=2, min_leaf=1, max_depth=1).fit(X, y).tree_
        assert is_best(tree, X, y.tolist(), exact._squares), (X.tolist(), y.tolist())


# --- C4.5 and ID3 -----------------------------------------------------------------------------------------------------


def bits(sizes):
    """n times the entropy, in bits."""
    return exact._information([size for size in sizes if size]) / LN2


def gain_and_info(sides):
    n = sum(map(len, sides))
    before = bits(list(Counter(chain.from_iterable(sides)).values()))
    gain = before - sum(bits(list(Counter(side).values())) for side in sides)
    return gain / n, bits(list(map(len, sides))) / n


def parted(x, y):
    """The labels of each value, in the order of the values."""
    return [[label for value, label in zip(x, y, strict=True) if value == each] for each in sorted(set(x))]


def cut_at(x, y, low):
    return [[label for value, label in zip(x, y, strict=True) if (value <= low) == side] for side in (True, False)]


def neighbours(x, gap):
    values = sorted(set(x))
    return [low for low, high in pairwise(values) if low < high - gap]


def candidates(frame, y, mdl):
    """(column, cut or None, gain, info) of every test that C4.5 may choose at min_objects=1; ties of cuts all together."""
    tests = []
    for name in frame:
        x = frame[name].tolist()
        if frame[name].dtype != float:
            sides = parted(x, y)
            tests += [(name, None, *gain_and_info(sides))] if len(sides) > 1 else []
            continue
        gap = 1e-5 if max(x) - min(x) >= 1e-3 else 0.0
        cuts = [(low, *gain_and_info(cut_at(x, y, low))) for low in neighbours(x, gap)]
        charge = (Decimal(len(cuts)).ln() / LN2 if cuts else Decimal(0)) / len(y) if mdl else Decimal(0)
        most = max((gain for _, gain, _ in cuts), default=Decimal(0))
        if cuts and (not mdl or most - charge > -SINGLE):
            tests += [(name, low, gain - charge, info) for low, gain, info in cuts if gain >= most - SINGLE]
    return tests


def has_many_levels(frame, name):
    """Levels as many as 0.3 of the rows: such a column does not count in the average, unless all columns are like it."""
    many = {each: frame[each].dtype != float and max(frame[each].nunique(), 2) >= 0.3 * len(frame) for each in frame}
    return many[name] and not all(many.values())


def admissible(frame, y, by_ratio):
    """The tests that may be at the root, {(column, cut)}; None where the last bit decides which tests compete."""
    tests = candidates(frame, y, mdl=True)
    if any(cut is not None and abs(gain) <= SINGLE for _, cut, gain, _ in tests):
        return None  # a gain that just pays its charge
    of_column = {name: gain for name, _, gain, _ in reversed(tests)}
    gate = gate_of(frame, of_column) if by_ratio else Decimal(-1)
    if any(abs(gain - gate) < SINGLE for *_, gain, _ in tests):
        return None
    worth = {
        (name, cut): gain / info if by_ratio else gain
        for name, cut, gain, info in tests
        if gain >= gate and (info > Decimal("0.001") or not by_ratio)
    }
    least = {}  # of each column: which of its tied cuts stands for it is decided by the last bit of their gains
    for (name, _), each in worth.items():
        least[name] = min(each, least.get(name, each))
    return {
        (name, cut)
        for (name, cut), each in worth.items()
        if all(each >= other - SINGLE for rival, other in least.items() if rival != name)
    }


def gate_of(frame, gain_of):
    """A thousandth below the average gain; no test passes where no column counts in it."""
    counted = [gain for name, gain in gain_of.items() if not has_many_levels(frame, name)]
    return sum(counted) / len(counted) - Decimal("0.001") if counted else Decimal("inf")


def mixed(rng, n):
    """Numbers of every kind and two columns of levels."""
    numbers = exact._table(rng, n)
    frame = pd.DataFrame({f"x{j}": numbers[:, j] for j in range(2)})
    for name, n_levels in (("a", 2), ("b", 4)):
        frame[name] = [f"v{k}" for k in rng.integers(0, n_levels, n)]
    return frame[list(rng.permutation(frame.columns))]


def root_test(model, frame):
    """The column and the last value below the cut, None where there is a branch for each level."""
    tree = model.tree_
    if tree.column[0] < 0:
        return None
    name = model.schema_.columns[tree.column[0]].name
    if np.isnan(tree.cut[0]):
        return name, None
    return name, float(frame[name][frame[name] <= tree.cut[0]].max())


def check_c45(criterion, n_sets):
    """How many sets were decided by exact arithmetic alone; the others are ties of float32."""
    rng = np.random.default_rng(n_sets)
    decided = 0
    for _ in range(n_sets):
        n = int(rng.integers(3, 16))
        frame, y = mixed(rng, n), rng.integers(0, int(rng.integers(2, 5)), n).tolist()
        model = bt.C45Classifier(
            criterion=criterion, min_objects=1, pruning=None, collapse=False, schema={"a": "nominal", "b": "nominal"}
        ).fit(frame, y)
        may = admissible(frame, y, criterion == "gain_ratio")
        if may is None or len(set(y)) < 2:
            continue
        decided += len(may) < 2
        found = root_test(model, frame)
        assert (found in may) if may else found is None, (criterion, frame.to_dict("list"), y, found, may)
    return decided


def check_id3(n_sets):
    rng = np.random.default_rng(n_sets)
    decided = 0
    for _ in range(n_sets):
        n = int(rng.integers(2, 14))
        frame, y = mixed(rng, n), rng.integers(0, int(rng.integers(2, 5)), n).tolist()
        model = bt.ID3Classifier(schema={"a": "nominal", "b": "nominal"}).fit(frame, y)
        tests = {}
        for name in frame:
            x = frame[name].tolist()
            if frame[name].dtype != float:
                tests[name, None] = gain_and_info(parted(x, y))[0]
            else:
                tests |= {(name, low): gain_and_info(cut_at(x, y, low))[0] for low in neighbours(x, 0.0)}
        most = max(tests.values())
        best = {test for test, gain in tests.items() if gain > most - exact._EQUAL}
        decided += len(best) == 1
        found = root_test(model, frame)
        assert (found in best) if most > exact._EQUAL else found is None, (frame.to_dict("list"), y, found, best)
    return decided


# --- CHAID ------------------------------------------------------------------------------------------------------------


def chi2(groups):
    """Pearson's statistic as a fraction, and its degrees of freedom; groups are counters of labels."""
    whole, sizes = sum(groups, Counter()), [sum(group.values()) for group in groups]
    n = sum(sizes)
    statistic = sum(
        Fraction(group[c] * n - size * whole[c]) ** 2 / (n * size * whole[c])
        for group, size in zip(groups, sizes, strict=True)
        for c in whole
    )
    return statistic, (len(groups) - 1) * (len(whole) - 1)


def tail(statistic, freedom):
    """P(χ² > statistic) to fifty digits: a finite sum, and for odd degrees of freedom also erfc."""
    if freedom == 0 or statistic == 0:
        return Decimal(1)
    half = Decimal(statistic.numerator) / Decimal(statistic.denominator) / 2
    term, total = (Decimal(1), Decimal(0)) if freedom % 2 == 0 else (2 * (half / PI).sqrt(), Decimal(0))
    for k in range(freedom // 2):
        total += term
        term *= half / (k + 1 if freedom % 2 == 0 else Decimal(2 * k + 3) / 2)
    return (-half).exp() * total + (erfc_of_root(half) if freedom % 2 else 0)


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def erfc_of_root(square):
    """1 − erf(√square), by 2 √(square / π) e^−square Σ (2 square)^k / (1·3·5···(2k + 1))."""
    term, total, k = Decimal(1), Decimal(0), 0
    while term > Decimal(10) ** -70:
        total += term
        k += 1
        term *= 2 * square / (2 * k + 1)
    return 1 - 2 * (square / PI).sqrt() * (-square).exp() * total


def kass(levels, is_ordered):
    """The groups of levels by Kass, first pairs first, and the adjusted p."""
    groups = [([k], counts) for k, counts in enumerate(levels)]
    while len(groups) > 2:
        pairs = [(i, i + 1) for i in range(len(groups) - 1)] if is_ordered else list(combinations(range(len(groups)), 2))
        worth = [tail(*chi2([groups[i][1], groups[j][1]])) for i, j in pairs]
        most = max(worth)
        if most <= Decimal("0.05"):
            break
        i, j = next(pair for pair, p in zip(pairs, worth, strict=True) if p > most - exact._EQUAL)
        groups[i] = groups[i][0] + groups[j][0], groups[i][1] + groups[j][1]
        del groups[j]
    n, r = len(levels), len(groups)
    ways = comb(n - 1, r - 1) if is_ordered else stirling(n, r)
    p = tail(*chi2([counts for _, counts in groups])) if r > 1 else Decimal(1)
    return [sorted(members) for members, _ in groups], p * ways if p < 1 else p


def stirling(n, k):
    return 1 if n == k or k == 1 else 0 if k > n or k == 0 else k * stirling(n - 1, k) + stirling(n - 1, k - 1)


def check_chaid(n_sets):
    rng = np.random.default_rng(n_sets)
    for _ in range(n_sets):
        n, n_classes = int(rng.integers(10, 50)), int(rng.integers(2, 4))
        y = rng.integers(0, n_classes, n)
        frame = pd.DataFrame(
            {f"x{j}": (rng.integers(0, 4, n) + y * int(rng.integers(0, 2))) % int(rng.integers(2, 6)) for j in range(3)}
        )
        names = sorted({int(v) for v in frame.to_numpy().ravel()})
        ordered = bool(rng.integers(2))
        kind = [f"v{v}" for v in names] if ordered else "nominal"
        words = frame.map(lambda v: f"v{v}")
        model = bt.CHAIDClassifier(
            alpha_split=1.0, min_split=2, min_leaf=1, max_depth=1, schema=dict.fromkeys(frame, kind)
        ).fit(words, y)
        levels = {name: [Counter(side) for side in parted(frame[name].tolist(), y.tolist())] for name in frame}
        offers = {name: kass(levels[name], ordered) for name in frame}
        offers = {name: offer for name, offer in offers.items() if len(offer[0]) > 1 and offer[1] <= 1}
        tree = model.tree_
        if not offers or len(set(y.tolist())) < 2:
            assert tree.column[0] < 0, (words.to_dict("list"), y.tolist(), ordered)
            continue
        least = min(p for _, p in offers.values())
        tied = least.ln() + Decimal("1e-11") * abs(least.ln())
        best = next(name for name, (_, p) in offers.items() if p.ln() <= tied)
        present = [f"v{v}" for v in sorted(set(frame[best].tolist()))]
        groups = [[present[k] for k in group] for group in offers[best][0]]
        chosen = model.schema_.columns[tree.column[0]].name if tree.column[0] >= 0 else None
        mine = [[str(v) for v in group if v in present] for group in model.nodes()[0].get("groups") or []]
        assert chosen == best, (words.to_dict("list"), y.tolist(), ordered, chosen, best)
        assert sorted(mine) == sorted(groups), (words.to_dict("list"), y.tolist(), ordered, best, mine, groups)


# --- few sets always, hundreds in the whole suite, thousands in `make reliability` ------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_sets", [20, pytest.param(150, marks=pytest.mark.slow)])
def test_cart_s_root_is_the_best_split_of_an_exact_search(criterion, n_sets):
    check_cart(criterion, n_sets)


@pytest.mark.parametrize("n_sets", [30, pytest.param(150, marks=pytest.mark.slow)])
def test_cart_s_root_for_numbers_is_the_best_split_of_an_exact_search(n_sets):
    check_cart_numbers(n_sets)


@pytest.mark.parametrize("criterion", ["gain", "gain_ratio"])
@pytest.mark.parametrize("n_sets", [20, pytest.param(150, marks=pytest.mark.slow)])
def test_c45_s_root_is_the_best_test_of_an_exact_search_by_its_rules(criterion, n_sets):
    assert check_c45(criterion, n_sets) >= n_sets // 3


@pytest.mark.parametrize("n_sets", [20, pytest.param(150, marks=pytest.mark.slow)])
def test_id3_s_root_is_the_best_test_of_an_exact_search(n_sets):
    assert check_id3(n_sets) >= n_sets // 3


@pytest.mark.parametrize("n_sets", [30, pytest.param(150, marks=pytest.mark.slow)])
def test_chaid_s_root_has_the_smallest_adjusted_p_of_an_exact_search(n_sets):
    check_chaid(n_sets)
