"""Pruning needs no growing: every pruner is a function of the tree."""

from itertools import count
from threading import Event

import numpy as np
import pytest

import baytree as bt
from baytree.engine.partitions import LocalPartitions
from baytree.storage import dumps
from baytree.tree.growing import cart as cart
from baytree.tree.model import parents
from baytree.tree.policy.class_costs import ClassWeighting
from baytree.tree.pruning import path, with_complexity

RNG = np.random.default_rng(5)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    return X, ((X[:, 0] + X[:, 1] > 0) ^ (rng.random(400) < 0.15)).astype(int)


@pytest.fixture(scope="module")
def full(table):
    return bt.CARTClassifier(cp=0.0, min_split=2, min_leaf=1).fit(*table)


def test_complexity_never_rises_on_the_way_down(full):
    tree = full.tree_
    assert (tree.complexity[1:] <= tree.complexity[parents(tree)[1:]] + 1e-15).all()


def test_pruning_at_a_penalty_equals_growing_at_it(table, full):
    for cp in (0.001, 0.01, 0.05, 0.3):
        grown = bt.CARTClassifier(cp=cp, min_split=2, min_leaf=1).fit(*table)
        smaller = full.prune("cost_complexity", cp)
        assert smaller.n_leaves_ == grown.n_leaves_
        np.testing.assert_array_equal(smaller.predict_proba(table[0]), grown.predict_proba(table[0]))


def test_the_path_names_the_size_and_risk_of_every_nested_tree(table, full):
    steps = path(full.tree_)
    for cp, splits, risk in zip(steps.cp, steps.splits, steps.risk, strict=True):
        smaller = full.prune("cost_complexity", cp)
        assert smaller.n_leaves_ == splits + 1
        wrong = (smaller.predict(table[0]) != table[1]).sum() / full.tree_.risk[0]
        assert wrong == pytest.approx(risk)


def test_snipping_makes_a_leaf_and_undo_brings_the_split_back(full):
    inner = int(full.tree_.first[0])
    snipped = full.snip(inner)
    assert snipped.tree_.column[inner] < 0
    assert snipped.undo() is full
    assert full.snip(0).n_nodes_ == 1
    with pytest.raises(ValueError, match="no node"):
        full.snip(10**6)


def test_collapsing_equal_leaves_keeps_every_prediction(table):
    model = bt.DecisionTreeClassifier(max_depth=4).fit(*table)
    smaller = model.prune("collapse")
    assert smaller.n_leaves_ <= model.n_leaves_
    np.testing.assert_array_equal(model.predict(table[0]), smaller.predict(table[0]))


def test_the_best_first_tree_has_the_asked_number_of_leaves(table):
    for leaves in (1, 2, 7):
        assert bt.DecisionTreeClassifier(max_leaves=leaves).fit(*table).n_leaves_ == leaves


def test_one_standard_error_gives_no_larger_tree_than_the_minimum(table):
    least = bt.CARTClassifier(cp=0.0, min_split=2, min_leaf=1, pruning="min").fit(*table)
    simple = bt.CARTClassifier(cp=0.0, min_split=2, min_leaf=1, pruning="1se").fit(*table)
    assert 1 < simple.n_leaves_ <= least.n_leaves_ < 40


def test_cross_validation_reads_the_same_errors_off_one_tree_as_from_a_tree_per_penalty(table):
    X, y = table
    model = bt.CARTClassifier(cp=0.0, min_split=2, min_leaf=1)
    rows = model._prepare_rows(X, y, None).table
    policy, costs = model._learner(rows.schema).policy, ClassWeighting().of(rows)
    tree, fold = cart.at_penalty(rows, policy, costs, 1), np.arange(len(y)) % 5
    steps = cart.cross_validated(rows, tree, policy, costs, fold, 1)
    penalty = np.concatenate([[np.inf], np.sqrt(steps.cp[:-1] * steps.cp[1:])])
    for at in (0, 1, len(penalty) // 2, len(penalty) - 1):
        wrong = 0
        for out in range(5):
            inside = fold != out
            share = tree.risk[0] * inside.mean()
            own = bt.CARTClassifier(cp=0.0, min_split=2, min_leaf=1).fit(X[inside], y[inside])
            part = own.prune("cost_complexity", penalty[at] * share / own.tree_.risk[0])
            wrong += (part.predict(X[~inside]) != y[~inside]).sum()
        assert steps.error[at] == pytest.approx(wrong / tree.risk[0])


def test_prune_is_a_method_and_pruning_a_parameter(full):
    assert full.get_params()["pruning"] is None
    assert bt.CARTClassifier(pruning="1se").get_params()["pruning"] == "1se"
    assert full.prune("collapse").n_leaves_ <= full.n_leaves_
    with pytest.raises(ValueError, match="how="):
        full.prune("away")


def test_pruning_by_impurity_is_the_path_of_scikit_learn():
    from sklearn.tree import DecisionTreeClassifier

    X = RNG.normal(size=(200, 3)).astype(np.float32).astype(float)
    y = (X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=200) / 3 > 0.5).astype(int)
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y)
    ours = bt.CARTClassifier(cp=0, min_split=2, min_leaf=1, max_depth=None, pruning="min", prune_by="impurity")
    table = ours._prepare_rows(X, y, None).table
    policy = ours._learner(table.schema).policy
    tree = cart.at_penalty(table, policy, ClassWeighting().of(table), 1)
    assert tree.n_leaves == theirs.get_n_leaves()
    expected = theirs.cost_complexity_pruning_path(X, y).ccp_alphas
    found = np.unique(np.round(path(tree).cp * tree.risk[0] / len(X), 10))
    assert np.allclose(np.unique(np.round(expected, 10)), found, atol=1e-9)


def test_splitters_pairs_and_vectors_of_folds_are_the_same_folds():
    from sklearn.model_selection import StratifiedKFold

    X, y = RNG.normal(size=(120, 3)), RNG.integers(0, 2, 120)
    splitter = StratifiedKFold(4)
    fold = np.empty(120, int)
    for number, (_, outside) in enumerate(splitter.split(X, y)):
        fold[outside] = number
    models = [bt.CARTClassifier(cp=0, pruning="min", cv=cv).fit(X, y) for cv in (splitter, list(splitter.split(X, y)), fold)]
    assert len({model.export_text() for model in models}) == 1
    with pytest.raises(ValueError, match="cv"):
        bt.CARTClassifier(pruning="min", cv=fold[:50]).fit(X, y)


def test_a_splitter_deals_the_rows_that_the_learner_is_given():
    from sklearn.model_selection import KFold

    X, y = RNG.normal(size=(120, 3)), RNG.integers(0, 2, 120)
    model = bt.CARTClassifier(cp=0, pruning="min", cv=KFold(4))
    rows = model._prepare_rows(X, y, None).table
    part = model._learner(rows.schema).learn(LocalPartitions(rows.rows(0, 80))).model
    alone = model.fit(X[:80], y[:80]).tree_
    assert np.array_equal(part.cut, alone.cut, equal_nan=True)


def test_folds_by_row_numbers_are_refused_where_other_rows_are_learnt():
    X, y = RNG.normal(size=(120, 3)), RNG.integers(0, 2, 120)
    model = bt.CARTClassifier(cp=0, pruning="min", cv=np.arange(120) % 3)
    with pytest.raises(ValueError, match=r"cv assigns folds to the rows .* number of folds or a scikit-learn splitter"):
        model._learner(model._prepare_rows(X, y, None).table.schema)


def test_folds_by_row_numbers_name_the_rows_as_they_came():
    X, y, fold = RNG.normal(size=(120, 3)), RNG.integers(0, 2, 120), np.arange(120) % 3
    counts = RNG.integers(0, 2, 120)
    weighed = bt.CARTClassifier(cp=0, pruning="min", cv=fold).fit(X, y, sample_weight=counts)
    taken = bt.CARTClassifier(cp=0, pruning="min", cv=fold[counts > 0]).fit(X[counts > 0], y[counts > 0])
    assert weighed.export_text() == taken.export_text()


def test_an_interrupted_cross_validation_does_not_wait_for_the_folds_under_way(monkeypatch):
    usual, calls, release, is_finished = cart.settings, count(), Event(), Event()

    def asked(*arguments):
        if next(calls) == 0:
            raise KeyboardInterrupt
        release.wait(5)
        is_finished.set()
        return usual(*arguments)

    monkeypatch.setattr(cart, "settings", asked)
    X, y = np.arange(200.0)[:, None], np.arange(200) // 20 % 2
    model = bt.CARTClassifier().fit(X, y)
    before = model.model_
    with pytest.raises(KeyboardInterrupt):
        model.set_params(pruning="1se", cp=0.0, n_jobs=2).fit(X, y)
    assert not is_finished.is_set()
    assert model.model_ is before
    release.set()


def test_the_path_of_rows_has_cross_validated_errors_and_prints_as_printcp_does():
    penguins = bt.datasets.load("penguins")
    model = bt.CARTClassifier().fit(penguins, "species")
    path = model.cost_complexity_path(penguins, "species")
    alone = model.cost_complexity_path()
    for name in ("cp", "splits", "risk"):
        assert np.array_equal(getattr(path, name), getattr(alone, name))
    assert len(path.error) == len(path.deviation) == len(path.cp)
    assert path.error[0] == pytest.approx(1.0)
    lines = str(path).splitlines()
    assert lines[0] == "root error: 192 / 344 = 0.55814; other errors are relative to it"
    assert lines[1].split() == ["cp", "splits", "rel", "error", "cv", "error", "cv", "std"]
    assert len(lines) == len(path.cp) + 3
    assert "cost_complexity_path(X, y) computes them" in str(alone)
    assert path._repr_html_().count("<tr") == len(path.cp) + 1


@pytest.mark.parametrize("pruning", ["1se", "min"])
def test_the_path_chooses_the_tree_that_pruning_chooses(pruning):
    penguins = bt.datasets.load("penguins")
    path = bt.CARTClassifier().cost_complexity_path(penguins, "species")
    least = int(np.argmin(path.error))
    small = int(np.argmax(path.error <= path.error[least] + path.deviation[least]))
    pruned = bt.CARTClassifier(pruning=pruning).fit(penguins, "species")
    assert pruned.n_leaves_ - 1 == path.splits[least if pruning == "min" else small]


@pytest.mark.parametrize(("seed", "n", "rule", "leaves"), [(875, 59, "1se", 2), (778, 55, "min", 2)])
def test_a_leaf_whose_complexity_is_an_ulp_above_cp_adds_no_tree_to_the_path(seed, n, rule, leaves):
    rng = np.random.default_rng(seed)
    assert rng.integers(20, 60) == n
    X = rng.normal(size=(n, 3)).round(1)
    y = (X[:, 0] + rng.normal(size=n) > 0) * 1
    cp = 0.05769230769230769
    model = bt.CARTClassifier(cp=cp, min_split=4, cv=5)
    full = model.fit(X, y)
    assert full.tree_.complexity[full.tree_.column < 0].max() == np.nextafter(cp, 1)
    for steps in (full.cost_complexity_path(), model.cost_complexity_path(X, y)):
        assert len(np.unique(steps.splits)) == len(steps.splits)
        assert (steps.cp[-1], steps.splits[-1]) == (cp, full.n_leaves_ - 1)
    assert model.set_params(pruning=rule).fit(X, y).n_leaves_ == leaves  # the second error of the same tree chose 5 leaves


@pytest.mark.parametrize("pruning", [("cost_complexity", 0.05), ("snip", 1)])
def test_the_path_of_a_pruned_tree_lists_each_tree_once(full, pruning):
    path = full.prune(*pruning).cost_complexity_path()
    assert len(np.unique(path.splits)) == len(path.splits) > 1


@pytest.mark.parametrize("kind", [bt.CARTClassifier, bt.DecisionTreeClassifier])
def test_the_path_of_rows_that_grow_a_single_leaf_says_that_there_is_nothing_to_prune(kind):
    X, y = np.zeros((30, 1)), np.arange(30) % 3 == 0
    text = str(kind().cost_complexity_path(X, y))
    assert text.splitlines()[-1] == "the tree is a single leaf, so there is nothing to prune"


def test_a_path_without_rows_names_the_call_that_cross_validates():
    penguins = bt.datasets.load("penguins")
    text = str(bt.DecisionTreeClassifier(max_depth=2).fit(penguins, "species").cost_complexity_path())
    assert text.splitlines()[-1] == "no cross-validated errors; cost_complexity_path(X, y) computes them"
    assert not len(bt.OptimalTreeClassifier(max_depth=1).cost_complexity_path(penguins, "species").error)


OPEN_TREES = [
    {},
    {"criterion": "entropy", "min_leaf": 3},
    {"branching": "multiway"},
    {"branching": "merge"},
    {"missing": "fractional"},
    {"missing": "surrogate"},
    {"max_split_columns": 2},
    {"max_leaves": 9},
]


@pytest.mark.parametrize("parameters", OPEN_TREES, ids=str)
def test_every_open_tree_is_validated_by_a_tree_per_fold_pruned_at_each_penalty(parameters):
    penguins = bt.datasets.load("penguins")
    X, y, fold = penguins.drop(columns="species"), penguins.species, np.arange(len(penguins)) % 4
    model = bt.DecisionTreeClassifier(cv=fold, **parameters)
    steps, full = model.cost_complexity_path(X, y), bt.DecisionTreeClassifier(**parameters).fit(X, y)
    penalty = np.concatenate([[np.inf], np.sqrt(steps.cp[:-1] * steps.cp[1:])])
    for at in (1, len(penalty) // 2, len(penalty) - 1):
        wrong = 0
        for out in range(4):
            part = bt.DecisionTreeClassifier(schema=full.schema_, **parameters).fit(X[fold != out], y[fold != out])
            cp = penalty[at] * full.tree_.risk[0] * np.mean(fold != out) / part.tree_.risk[0]
            wrong += (part.prune(cp=cp).predict(X[fold == out]) != y[fold == out]).sum()
        assert steps.error[at] == pytest.approx(wrong / full.tree_.risk[0])
    best = {"min": np.argmin(steps.error)}
    best["1se"] = np.argmax(steps.error <= steps.error[best["min"]] + steps.deviation[best["min"]])
    for rule, chosen in best.items():
        pruned = model.set_params(pruning=rule).fit(X, y)
        assert pruned.n_leaves_ - 1 == steps.splits[chosen]
        assert full.prune(cp=steps.cp[chosen]).nodes() == pruned.nodes()


def test_a_tree_pruned_by_folds_of_rows_is_saved(table, tmp_path):
    X, y = table
    model = bt.DecisionTreeClassifier(pruning="1se", cv=np.arange(len(y)) % 3).fit(X, y)
    bt.save(model, tmp_path / "m.baytree")
    loaded = bt.load(tmp_path / "m.baytree")
    assert loaded.nodes() == model.nodes()
    assert np.array_equal(loaded.cv, model.cv)
    assert model.prune("bayes").n_leaves_ <= model.n_leaves_
    assert bt.CARTClassifier(pruning="min", cv=model.cv).fit(X, y).prune("bayes").n_leaves_ >= 1


@pytest.mark.parametrize("branching", ["binary", "multiway", "merge"])
def test_regression_trees_choose_their_penalty_by_cross_validation(branching):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).round(2)
    y = (X[:, 0] > 0) * 2.0 + rng.normal(size=200) / 2
    model = bt.DecisionTreeRegressor(branching=branching, pruning="1se").fit(X, y)
    full = bt.DecisionTreeRegressor(branching=branching).fit(X, y)
    assert 1 < model.n_leaves_ <= 4 < full.n_leaves_
    assert full.prune("1se", X, y).nodes() == model.nodes()
    assert len(full.cost_complexity_path(X, y).error) > 4


@pytest.mark.parametrize("kind", [bt.ID3Classifier, bt.C45Classifier, bt.CHAIDClassifier, bt.CARTClassifier])
def test_every_tree_takes_every_word(kind):
    penguins = bt.datasets.load("penguins")
    full = kind().fit(penguins, "species")
    rows = (penguins, "species")
    words = {"1se": rows, "min": rows, "error_based": (), "reduced_error": rows, "bayes": (), "collapse": (), "snip": (0,)}
    for how, given in {**words, "cost_complexity": (0.05,), "max_leaves": (3,)}.items():
        assert full.prune(how, *given).n_leaves_ <= full.n_leaves_, how
        assert how in kind.prune.__doc__
    for refused in ({}, {"cp": 0.1, "alpha": 0.1}):
        with pytest.raises(ValueError, match=r"cp \(relative to the root\) or alpha \(per row\)"):
            full.prune("cost_complexity", **refused)
    with pytest.raises(ValueError, match="give the training rows X and y"):
        full.prune("1se")
    with pytest.raises(ValueError, match="needs held-out rows: give X and y"):
        full.prune("reduced_error")


def test_a_penalty_asks_for_cost_complexity():
    model = bt.C45Classifier().fit(bt.datasets.load("iris"), "species")
    with pytest.raises(ValueError, match=r"prune\('error_based'\) has no penalty: give prune\('cost_complexity', cp="):
        model.prune(alpha=0.1)
    assert model.prune("cost_complexity", alpha=0.5).n_leaves_ == 1


def test_regression_trees_refuse_what_counts_errors():
    penguins = bt.datasets.load("penguins").dropna()
    model = bt.CARTRegressor().fit(penguins, "body_mass_g")
    for how in ("error_based", "reduced_error"):
        with pytest.raises(
            ValueError, match=f"{how}.*is for classification trees; for numbers use 'cost_complexity', '1se' or 'min'"
        ):
            model.prune(how, penguins, "body_mass_g")


def test_cp_and_alpha_are_one_scale(full):
    path = full.cost_complexity_path()
    np.testing.assert_allclose(path.alpha, path.cp * path.root / path.weight)
    for cp, alpha, splits in zip(path.cp[1:] * (1 + 1e-9), path.alpha[1:] * (1 + 1e-9), path.splits, strict=False):
        assert full.prune(cp=cp).n_leaves_ == full.prune(alpha=alpha).n_leaves_
        assert splits < full.n_leaves_


def test_alpha_by_impurity_is_that_of_scikit_learn():
    from sklearn.tree import DecisionTreeClassifier

    X = RNG.normal(size=(200, 3)).astype(np.float32).astype(float)
    y = (X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=200) / 3 > 0.5).astype(int)
    full = bt.DecisionTreeClassifier().fit(X, y)
    for alpha in (0.002, 0.006, 0.01, 0.03):
        theirs = DecisionTreeClassifier(ccp_alpha=alpha, random_state=0).fit(X, y)
        assert full.prune(alpha=alpha, by="impurity").n_leaves_ == theirs.get_n_leaves()


def test_reduced_error_leaves_no_split_that_held_out_rows_contradict(table):
    X, y = table
    full = bt.DecisionTreeClassifier().fit(X[:250], y[:250])
    pruned = full.prune("reduced_error", X[250:], y[250:])
    assert (pruned.predict(X[250:]) != y[250:]).sum() <= (full.predict(X[250:]) != y[250:]).sum()
    assert pruned.prune("reduced_error", X[250:], y[250:]).n_leaves_ == pruned.n_leaves_ < full.n_leaves_


def test_the_pessimistic_estimate_is_that_of_c45():
    X = np.random.default_rng(1).integers(0, 3, (300, 4)).astype(str)
    y = np.where((X[:, 0] == "0") ^ (np.random.default_rng(2).random(300) < 0.2), "a", "b")
    full = bt.C45Classifier(pruning=None, collapse=False, raising=False).fit(X, y)
    smaller = full.prune("error_based", confidence=0.25)
    from baytree.tree.pruning.by_error import error_based
    from baytree.tree.pruning.pessimistic_error import pessimism

    assert 1 < smaller.n_leaves_ < full.n_leaves_
    assert np.array_equal(error_based(full.tree_, pessimism("c4.5", 0.25)).column, smaller.tree_.column)


def test_the_history_tells_every_step_and_undo_goes_back_along_it(full):
    pruned = full.prune("cost_complexity", 0.02).snip(1).prune("bayes")
    assert full.history_ == []
    assert pruned.history_ == ["prune('cost_complexity', 0.02)", "snip(1)", "prune('bayes')"]
    assert pruned.undo().history_ == pruned.history_[:-1]
    assert pruned.undo().undo().undo() is full


def test_a_tree_that_is_grown_anew_has_no_history(table, full):
    again = full.snip(0).fit(*table)
    assert again.history_ == []
    assert again.n_nodes_ == full.n_nodes_
    with pytest.raises(ValueError, match="nothing to undo"):
        again.undo()


def test_a_model_file_does_not_depend_on_how_the_tree_was_reached(full):
    steps = full.snip(int(full.tree_.first[0])).snip(0)
    assert dumps(steps) == dumps(full.snip(0))


@pytest.mark.parametrize("weight", [None, "whole", "any"])
@pytest.mark.parametrize(
    ("target", "by_impurity"), [("class", False), ("class", True), ("three", False), ("three", True), ("number", False)]
)
def test_a_fold_loses_at_each_penalty_what_the_pruned_tree_of_its_other_rows_loses(target, weight, by_impurity):
    rng = np.random.default_rng(5)
    frame = {f"x{j}": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300).round(1)) for j in range(3)}
    frame["level"] = np.where(rng.random(300) < 0.1, None, rng.choice(list("abcdefgh"), 300))
    frame |= {"whole": rng.normal(size=300).round(1), "rare": np.array([f"r{k}" for k in rng.zipf(1.5, 300) % 60])}
    score = np.nan_to_num(frame["x0"]) + (frame["level"] == "a") + rng.normal(size=300)
    y = {"class": score > 0.3, "three": np.digitize(score, [-0.5, 0.8]), "number": score}[target]
    kind = bt.CARTRegressor if target == "number" else bt.CARTClassifier
    model = kind(cp=0.003, min_split=6, pruning="min", **({"prune_by": "impurity"} if by_impurity else {}))
    weights = {None: None, "whole": rng.integers(1, 4, 300), "any": rng.random(300) + 0.5}[weight]
    rows = model._prepare_rows(frame, y, weights).table
    policy, costs, fold = model._learner(rows.schema).policy, ClassWeighting().of(rows), np.arange(300) % 3
    tree = cart.at_penalty(rows, policy, costs, 1)
    steps = cart.cross_validated(rows, tree, policy, costs, fold, 1)
    penalty = steps.cp if by_impurity else cart.between_steps(steps)
    sums = np.zeros((2, len(penalty)))
    for out in range(3):
        inside = rows.take(fold != out)
        unit = tree.risk[0] * inside.weight.sum() / rows.weight.sum()
        grown = cart.grow_tree(inside, policy, costs, 0.003 * unit, 1)
        pruned = with_complexity(grown, alpha=0.003 * unit, is_bounded=not by_impurity)
        sums += cart.losses(pruned, rows.take(fold == out), costs, penalty * unit)
    expected = cart.with_errors(steps, *sums, float(tree.risk[0]), float(rows.weight.sum()))
    np.testing.assert_array_equal(steps.error, expected.error)
    np.testing.assert_array_equal(steps.deviation, expected.deviation)
