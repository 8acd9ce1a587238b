"""Best possible trees: against every tree there is, against STreeD, and what is told of a search that was stopped."""

import json
import math
import os
import signal
import subprocess
import sys
import time
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

import baytree as bt
from baytree import storage
from baytree.tree.model import CandidateTests
from baytree.tree.optimal import learner

SEEDS = range(6)


def mixed(seed: int, n: int = 24) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, ranks and levels, a tenth of the cells missing, two to four classes."""
    random = np.random.default_rng(seed)
    y = random.integers(0, random.integers(2, 5), n)
    frame = pd.DataFrame({"x": random.integers(0, 5, n) + y * (random.random(n) < 0.5)}).astype(float)
    frame["size"] = pd.Categorical.from_codes(random.integers(0, 3, n), ["S", "M", "L"], ordered=True)
    frame["colour"] = pd.Categorical.from_codes((y + random.integers(0, 2, n)) % 3, list("rgb"))
    return frame.mask(random.random(frame.shape) < 0.1), y


def second_branch(offered: CandidateTests, test: int, frame: pd.DataFrame) -> list[bool]:
    """Which rows a test sends to its second branch, read from what the model tells of it."""
    column = frame.iloc[:, int(offered.column[test])]
    is_missing = bool(offered.missing[test])
    if offered.levels[test]:
        start, levels = int(offered.start[test]), column.cat.categories
        taken = {level: bool(offered.branch_of[start + k]) for k, level in enumerate(levels)}
        return [is_missing if pd.isna(value) else taken[value] for value in column]
    values = column.cat.codes.where(column.notna()) if column.dtype == "category" else column
    return [is_missing if math.isnan(value) else value > offered.cut[test] for value in values]


class EveryTree:
    """The best of all trees, found by trying each one; costs are whole numbers, in which weights and penalties are exact."""

    def __init__(self, sides, y, weight, penalty, min_leaf, costs=None):
        unit = 2**70
        self.costs = 1 - np.eye(4, dtype=int) if costs is None else costs
        self.sides, self.y, self.min_leaf = sides, y, min_leaf * unit
        self.weight = [int(Fraction(float(w)) * unit) for w in weight]
        self.total = sum(self.weight)
        self.penalty = int(Fraction(penalty) * self.total)
        self.known = {}

    def best(self, rows, depth):
        """Cost, leaves and tests of the best tree: the cheaper, the smaller, the one with the earlier tests."""
        if (rows, depth) not in self.known:
            self.known[rows, depth] = self._best(rows, depth)
        return self.known[rows, depth]

    def _best(self, rows, depth):
        by_class = [0] * 4
        for row in rows:
            by_class[self.y[row]] += self.weight[row]
        of_decision = [sum(n * int(cost) for n, cost in zip(by_class, each, strict=False)) for each in self.costs.T]
        found = (min(of_decision) + self.penalty, 1, None)
        for test, side in enumerate(self.sides if depth else []):
            parts = [tuple(row for row in rows if side[row] == is_second) for is_second in (False, True)]
            if any(not part or sum(self.weight[row] for row in part) < self.min_leaf for part in parts):
                continue
            low, high = (self.best(part, depth - 1) for part in parts)
            split = (low[0] + high[0], low[1] + high[1], (test, low[2], high[2]))
            if split[:2] < found[:2]:
                found = split
        return found


def chosen_in(model) -> tuple | None:
    """The tests of a tree by their place among those offered."""
    tree, offered = model.tree_, model.certificate_.offered

    def below(node):
        if tree.column[node] < 0:
            return None
        levels = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]].tolist()
        for test in range(len(offered)):
            his = offered.branch_of[offered.start[test] : offered.start[test] + offered.levels[test]].tolist()
            is_cut = levels or offered.cut[test] == tree.cut[node]
            is_column = offered.column[test] == tree.column[node] and offered.missing[test] == tree.missing[node]
            if is_cut and is_column and his == levels:
                return (test, below(tree.first[node]), below(tree.first[node] + 1))
        raise AssertionError("a node asks what was not offered")

    return below(0)


@pytest.fixture(params=["pairs", "thresholds"])
def search(request, monkeypatch):
    """Either search on small tables; which one finds a tree depends on the number of tests otherwise."""
    monkeypatch.setattr(learner, "MAX_PAIRED_TESTS", 0 if request.param == "thresholds" else 10**6)
    monkeypatch.setattr(learner, "MAX_PAIRED_TESTS_PER_ROW", 10**6)
    return request.param


def assert_best(model, frame, y, weight=None, search="pairs"):
    weight = np.ones(len(y)) if weight is None else weight
    model.fit(frame, y, sample_weight=weight)
    offered = model.certificate_.offered
    sides = [second_branch(offered, test, frame) for test in range(len(offered))]
    every = EveryTree(sides, y, weight, model.penalty, model.min_leaf, model.costs)
    cost, leaves, tests = every.best(tuple(row for row in range(len(y)) if weight[row] > 0), model.max_depth)
    assert model.certificate_.objective == pytest.approx(cost / every.total, abs=1e-12)
    assert model.certificate_.is_optimal
    assert model.n_leaves_ == leaves
    chosen = chosen_in(model)
    if search == "pairs":  # the other search does not decide ties by the order of the tests
        assert chosen == tests


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("penalty", [0.0, 1 / 64, 1 / 16])
def test_no_tree_of_depth_two_is_better(seed, penalty, search):
    model = bt.OptimalTreeClassifier(max_depth=2, penalty=penalty, max_tests=4, time_limit=None)
    assert_best(model, *mixed(seed), search=search)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_tree_of_depth_three_is_better(seed, search):
    frame, y = mixed(seed, 20)
    assert_best(bt.OptimalTreeClassifier(penalty=1 / 64, max_tests=2, time_limit=None), frame, y, search=search)


@pytest.mark.parametrize("seed", range(4))
def test_no_tree_of_depth_four_is_better(seed, search):
    frame, y = mixed(seed, 20)
    assert_best(
        bt.OptimalTreeClassifier(max_depth=4, penalty=0.0, max_tests=2),
        frame[["x", "size"]].fillna({"x": 1.0}),
        y,
        search=search,
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("max_depth", [0, 1, 3])
def test_leaves_that_are_too_small_are_no_leaves(seed, max_depth, search):
    frame, y = mixed(seed, 20)
    assert_best(bt.OptimalTreeClassifier(max_depth=max_depth, penalty=0.0, max_tests=2, min_leaf=4), frame, y, search=search)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["whole", "quarters", "many"])
def test_weights_count_as_they_are(seed, kind, search):
    frame, y = mixed(seed)
    random = np.random.default_rng(seed)
    weights = {"whole": random.integers(0, 4, 24), "quarters": random.integers(1, 9, 24) / 4, "many": random.random(24)}
    weight = weights[kind].astype(float)
    weight[np.unique(y, return_index=True)[1]] = 1.0
    assert_best(bt.OptimalTreeClassifier(max_depth=2, penalty=1 / 64, max_tests=4, min_leaf=0), frame, y, weight, search)


@pytest.mark.parametrize("unit", [1.3, 1e-9, 2.0**60])
def test_the_unit_of_weights_does_not_matter(unit):
    frame, y = mixed(5, 60)
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    once, other = (bt.OptimalTreeClassifier(min_leaf=0).fit(frame, y, w) for w in (weight, unit * weight))
    assert chosen_in(once) == chosen_in(other)
    assert once.certificate_.objective == pytest.approx(other.certificate_.objective, rel=1e-12)


def costs_of(y: np.ndarray, seed: int) -> np.ndarray:
    """Whole costs of misclassifications, 0 to 5, with at least one cost above 0 for each class."""
    n_classes = int(y.max()) + 1
    costs = np.random.default_rng(seed).integers(0, 6, (n_classes, n_classes))
    costs[np.arange(n_classes), (np.arange(n_classes) + 1) % n_classes] += 1
    np.fill_diagonal(costs, 0)
    return costs


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("max_depth", "min_leaf"), [(2, 1), (2, 4), (3, 1), (3, 3)])
def test_no_tree_has_a_lower_expected_cost(seed, max_depth, min_leaf, search):
    frame, y = mixed(seed, 20)
    y = np.unique(y, return_inverse=True)[1]
    weight = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float) if seed % 2 else np.ones(len(y))
    costs = costs_of(y, seed)
    model = bt.OptimalTreeClassifier(
        max_depth=max_depth, penalty=1 / 64, max_tests=2, min_leaf=min_leaf, costs=costs, time_limit=None
    )
    assert_best(model, frame, y, weight, search)
    mean_cost = np.average(costs[y, model.predict(frame)], weights=weight)
    assert model.certificate_.objective == pytest.approx(mean_cost + model.n_leaves_ / 64, abs=1e-12)
    assert model.certificate_.costs.tolist() == costs.tolist()
    assert "mean cost by the given costs" in str(model)


@pytest.mark.parametrize("unit", [0.1, 3.7e-6, 1e9])
def test_the_unit_of_costs_and_penalty_does_not_matter(unit):
    frame, y = mixed(4, 60)
    costs = costs_of(y, 0)
    once, other = (
        bt.OptimalTreeClassifier(costs=c * costs, penalty=c * 1e-10).fit(frame, y).certificate_ for c in (1.0, unit)
    )
    assert other.objective == pytest.approx(unit * once.objective, rel=1e-12)
    assert other.is_optimal


def test_unit_costs_find_the_tree_of_the_fewest_errors():
    frame, y = mixed(2, 60)
    plain, costly = (bt.OptimalTreeClassifier(costs=costs).fit(frame, y) for costs in (None, 1 - np.eye(y.max() + 1)))
    assert chosen_in(plain) == chosen_in(costly)
    assert plain.certificate_.objective == costly.certificate_.objective


@pytest.mark.usefixtures("search")
def test_the_bound_of_a_stopped_search_by_costs_is_below_the_optimum():
    random = np.random.default_rng(2)
    X, y = random.normal(size=(100, 5)), random.integers(0, 3, 100)
    given = {"penalty": 0.0, "costs": [[0, 1, 4], [2, 0, 3], [1, 5, 0]]}
    optimum = bt.OptimalTreeClassifier(**given, time_limit=None).fit(X, y).certificate_.objective
    for limit in (1e-4, 1e-3, 1e-2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            certificate = bt.OptimalTreeClassifier(**given, time_limit=limit).fit(X, y).certificate_
        assert certificate.bound <= optimum + 1e-12
        assert certificate.objective >= optimum - 1e-12


def test_a_pruned_tree_still_decides_by_costs():
    frame, y = mixed(3, 200)
    costs = costs_of(y, 1)
    model = bt.OptimalTreeClassifier(penalty=0.0, costs=costs).fit(frame, y)
    for pruned in (model.prune("max_leaves", 2), model.prune("bayes")):
        assert (pruned.predict(frame) == np.argmin(pruned.predict_proba(frame) @ costs, axis=1)).all()


def test_xor_is_found_which_no_greedy_tree_sees():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (200, 12))
    y = X[:, 4] ^ X[:, 9]
    assert bt.OptimalTreeClassifier(max_depth=2, penalty=0.0).fit(X, y).score(X, y) == 1.0


def test_deeper_trees_cost_no_more_and_greedy_trees_no_less():
    penguins = bt.datasets.load("penguins")
    costs = [bt.OptimalTreeClassifier(max_depth=depth).fit(penguins, "species").certificate_.objective for depth in range(4)]
    assert costs == sorted(costs, reverse=True)
    greedy = bt.DecisionTreeClassifier(max_depth=3).fit(penguins, "species")
    assert costs[3] <= 1 - greedy.score(penguins, "species") + 0.01 * greedy.n_leaves_


def test_many_numbers_are_cut_at_quantiles_of_weight():
    x = np.arange(1000.0)
    offered = bt.OptimalTreeClassifier(max_tests=3).fit({"x": x}, x > 700).certificate_.offered
    assert offered.cut.tolist() == [249.5, 499.5, 749.5]
    weight = np.where(x < 500, 3.0, 1.0)
    offered = bt.OptimalTreeClassifier(max_tests=1).fit({"x": x}, x > 700, weight).certificate_.offered
    assert offered.cut.tolist() == [pytest.approx(332.5, abs=1)]


def test_few_levels_are_parted_in_every_way_and_many_one_by_one_and_by_share():
    random = np.random.default_rng(0)
    few, many = (pd.DataFrame({"level": random.choice(list(letters), 500)}) for letters in ("abcdef", "abcdefg"))
    y = random.integers(0, 2, 500)
    assert len(bt.OptimalTreeClassifier().fit(few, y).certificate_.offered) == 31
    offered = bt.OptimalTreeClassifier().fit(many, y).certificate_.offered
    groups = {frozenset(np.flatnonzero(g).tolist()) for g in offered.branch_of.reshape(-1, 7)}
    by_share = many.assign(y=y).groupby("level").y.mean().argsort().tolist()
    alone = {frozenset(range(7)) - {k} for k in range(7)}
    assert groups == alone | {frozenset(by_share[k:]) for k in range(2, 6)}  # at both ends they are levels alone


def test_a_search_that_ran_out_of_time_tells_its_gap():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(400, 20)), random.integers(0, 2, 400)
    with pytest.warns(bt.BaytreeWarning, match=r"stopped after time_limit=0.2 seconds: this tree costs"):
        model = bt.OptimalTreeClassifier(max_depth=5, penalty=0.0, time_limit=0.2).fit(X, y)
    told = model.certificate_
    assert told.stopped == "time"
    assert 0 <= told.bound < told.objective
    assert told.gap == told.objective - told.bound
    assert told.objective == pytest.approx(1 - model.score(X, y))
    assert "not proved optimal" in str(model)
    two_levels = bt.OptimalTreeClassifier(max_depth=2, penalty=0.0).fit(X, y)
    assert told.objective <= two_levels.certificate_.objective


INTERRUPTED = """
import numpy as np, baytree as bt
random = np.random.default_rng(0)
X, y = random.normal(size=(400, 20)), random.integers(0, 2, 400)
model = bt.OptimalTreeClassifier(max_depth=6, penalty=0.0, time_limit=None, n_jobs=1)
bt.cross_validate(bt.OptimalTreeClassifier(max_depth=1), X[:60], y[:60], cv=2)
print("ready", flush=True)
"""


def interrupted(action):
    """What a process prints, and its exit code, that Ctrl-C meets in the middle of a search without an end."""
    command = [sys.executable, "-W", "ignore", "-c", INTERRUPTED + action]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        try:
            return child.communicate(timeout=60)[0], child.returncode
        finally:
            child.kill()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_gives_the_best_tree_so_far():
    printed = interrupted("model.fit(X, y); print(model.certificate_.stopped, model.score(X, y) > 0.6)")
    assert printed == ("interrupt True\n", 0)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_a_cross_validation_as_it_does_with_every_model():
    printed, code = interrupted("bt.cross_validate(model, X, y, cv=3); print('went on')")
    assert printed == ""
    assert code != 0


def test_a_finished_search_is_the_same_file_every_time():
    frame, y = mixed(3, 200)
    once, again = (storage.dumps(bt.OptimalTreeClassifier().fit(frame, y)) for _ in range(2))
    assert once == again


def test_a_pruned_tree_has_no_certificate():
    frame, y = mixed(3, 200)
    model = bt.OptimalTreeClassifier(penalty=0.0).fit(frame, y)
    pruned = model.prune("max_leaves", 2)
    with pytest.raises(ValueError, match="pruned after its search"):
        _ = pruned.certificate_
    assert pruned.undo().certificate_.is_optimal
    assert "none of the trees" not in str(pruned)


@pytest.mark.parametrize(
    ("certificate", "fault"),
    [({"bound": 2.0}, "below its lower bound"), ({"stopped": "rain"}, "stopped is unknown")],
)
def test_a_broken_certificate_is_refused(certificate, fault):
    frame, y = mixed(3, 50)
    document = json.loads(storage.dumps(bt.OptimalTreeClassifier().fit(frame, y)))["document"]
    document["model"]["certificate"].update(certificate)
    with pytest.raises(ValueError, match=fault):
        _ = storage.records.record(json.dumps(document["model"]).encode(), 2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_depth": -1}, "max_depth=-1: give a whole number"),
        ({"max_depth": 21}, "at most 20"),
        ({"penalty": 2.0}, "penalty=2.0: give a number"),
        ({"max_tests": 0}, "max_tests=0"),
        ({"time_limit": 0}, "time_limit=0: give a number above 0"),
    ],
)
def test_settings_are_refused_in_their_own_words(given, words):
    with pytest.raises(ValueError, match=words):
        bt.OptimalTreeClassifier(**given).fit({"x": [1, 2], "y": ["a", "b"]}, "y")


def test_too_many_rows_are_refused_with_a_remedy(monkeypatch):
    monkeypatch.setattr(learner, "MAX_BYTES", 1 << 10)
    X = np.random.default_rng(0).normal(size=(200, 4))
    with pytest.raises(ValueError, match="reduce max_depth, n_jobs or the number of rows"):
        bt.OptimalTreeClassifier(max_tests=50).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("max_depth", "min_leaf"), [(2, 1), (2, 5), (2, 9), (3, 1), (3, 3), (3, 4)])
def test_no_tree_over_all_thresholds_is_better(seed, max_depth, min_leaf, search):
    random = np.random.default_rng(seed)
    n = 24 if max_depth == 2 else 14
    X = random.normal(size=(n, 3)).round(int(random.integers(0, 3)))
    y = random.integers(0, random.integers(2, 5), n)
    weight = random.integers(1, 4, n).astype(float) if seed % 2 else np.ones(n)
    X[random.random(X.shape) < 0.1 * (seed % 3 == 0)] = np.nan
    model = bt.OptimalTreeClassifier(max_depth=max_depth, penalty=0.0, min_leaf=min_leaf)
    assert_best(model, pd.DataFrame(X), y, weight, search)


def test_both_searches_find_trees_of_the_same_cost(monkeypatch):
    random = np.random.default_rng(0)
    for n_classes in (2, 3, 5, 9, 12):
        X, y = random.normal(size=(150, 4)).round(1), random.integers(0, n_classes, 150)
        costs = set()
        for most in (0, 10**6):
            monkeypatch.setattr(learner, "MAX_PAIRED_TESTS", most)
            model = bt.OptimalTreeClassifier(penalty=0.0, max_tests=20, time_limit=None).fit(X, y)
            costs.add((model.certificate_.objective, model.certificate_.bound, model.n_leaves_))
        assert len(costs) == 1


@pytest.mark.parametrize(
    ("name", "max_depth", "errors"),
    [("iris", 2, 6), ("wine", 2, 6), ("breast_cancer", 2, 22), ("iris", 3, 1), ("wine", 3, 0), ("breast_cancer", 3, 9)],
)
def test_the_errors_over_all_thresholds_are_those_of_contree(name, max_depth, errors):
    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    model = bt.OptimalTreeClassifier(max_depth=max_depth, penalty=0.0, time_limit=None).fit(X, y)
    assert model.certificate_.is_optimal
    assert round(model.certificate_.objective * len(y)) == errors
    assert round((1 - model.score(X, y)) * len(y)) == errors


@pytest.mark.usefixtures("search")
def test_the_tree_depends_neither_on_threads_nor_on_the_order_of_rows():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(120, 6)), random.integers(0, 3, 120)
    shuffled = random.permutation(120)
    models = [
        bt.OptimalTreeClassifier(penalty=0.0, n_jobs=n_jobs).fit(X[rows], y[rows])
        for n_jobs, rows in ((1, slice(None)), (2, slice(None)), (2, shuffled))
    ]
    assert len({str(model) for model in models}) == 1


@pytest.mark.usefixtures("search")
def test_the_bound_of_a_stopped_search_is_below_the_optimum():
    random = np.random.default_rng(2)
    X, y = random.normal(size=(100, 5)), random.integers(0, 2, 100)
    optimum = bt.OptimalTreeClassifier(penalty=0.0, time_limit=None).fit(X, y).certificate_.objective
    for limit in (1e-4, 1e-3, 5e-3, 2e-2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            certificate = bt.OptimalTreeClassifier(penalty=0.0, time_limit=limit).fit(X, y).certificate_
        assert certificate.bound <= optimum + 1e-12
        assert certificate.objective >= optimum - 1e-12


def test_a_single_leaf_says_why():
    frame = {"x": [1, 2, 3, 4], "y": ["a", "b", "a", "b"]}
    assert "no tree reduces the error by penalty=0.9" in str(bt.OptimalTreeClassifier(penalty=0.9).fit(frame, "y"))
    assert "max_depth=0" in str(bt.OptimalTreeClassifier(max_depth=0).fit(frame, "y"))


def peer_tables():
    """Bits as those searches take them: cuts of numbers, and noise about a rule."""
    from sklearn.datasets import load_breast_cancer, load_wine

    random = np.random.default_rng(0)
    for name, load, n in (("breast cancer", load_breast_cancer, 2), ("wine", load_wine, 4)):
        X, y = load(return_X_y=True)
        cuts = [x <= cut for x in X.T for cut in np.quantile(x, np.arange(1, n + 1) / (n + 1))]
        yield pytest.param(np.array(cuts).T.astype(int), y, id=name)
    X = random.integers(0, 2, (1000, 20))
    yield pytest.param(X, ((X[:, 0] ^ X[:, 1]) & X[:, 2]) ^ (random.random(1000) < 0.15), id="rule")


@pytest.mark.parametrize(("X", "y"), list(peer_tables()))
@pytest.mark.parametrize("max_depth", [3, 4])
@pytest.mark.parametrize("penalty", [0.0, 0.01])
def test_the_cost_is_that_of_streed(X, y, max_depth, penalty):
    streed = pytest.importorskip("pystreed")
    theirs = streed.STreeDClassifier(
        "cost-complex-accuracy", max_depth=max_depth, cost_complexity=penalty, time_limit=600
    ).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = bt.OptimalTreeClassifier(max_depth=max_depth, penalty=penalty, time_limit=None).fit(X, y)
    wrong = float(np.mean(theirs.predict(X) != y))
    assert ours.certificate_.objective == pytest.approx(wrong + penalty * theirs.get_n_leaves(), abs=1e-9)
