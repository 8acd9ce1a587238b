"""What C5.0's models promise beyond agreeing with the program."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt

RNG = np.random.default_rng(3)
N = 300
FRAME = pd.DataFrame(
    {
        "size": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
        "colour": RNG.choice(["red", "green", "blue", "grey"], N),
        "rank": pd.Categorical.from_codes(RNG.integers(0, 4, N), ["S", "M", "L", "XL"], ordered=True),
    }
)
SCORE = FRAME["size"].fillna(0) + FRAME["colour"].isin(["red", "blue"]) + 0.5 * FRAME["rank"].cat.codes
LABEL = np.where(SCORE + RNG.normal(scale=0.4, size=N) > 1.2, "yes", "no")
MODELS = {
    "tree": bt.C50Classifier(),
    "rules": bt.C50Classifier(rules=True),
    "boosted": bt.C50Classifier(trials=6),
    "boosted rules": bt.C50Classifier(rules=True, trials=4),
    "soft": bt.C50Classifier(fuzzy=True),
    "costs": bt.C50Classifier(costs=[[0, 1], [4, 0]]),
}


@pytest.fixture(params=list(MODELS))
def model(request):
    return MODELS[request.param].fit(FRAME, LABEL)


def test_probabilities_are_shares(model):
    shares = model.predict_proba(FRAME)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()


def test_the_ledger_adds_up_and_tells_the_probability(model):
    for told, shares in zip(model.explain(FRAME[:20]), model.predict_proba(FRAME[:20]), strict=True):
        np.testing.assert_array_equal(told.probability, shares)
        total = told.start + sum(line.effect for line in told.evidence)
        np.testing.assert_allclose(told.scores, total)


def test_the_exported_python_answers_alike(model):
    names = {}
    exec(model.export("python"), names)
    rows = FRAME.astype(object).where(FRAME.notna(), None).to_dict("records")
    shares = [[names["predict_proba"](row)[label] for label in model.classes_] for row in rows]
    np.testing.assert_allclose(shares, model.predict_proba(FRAME), rtol=0, atol=1e-12)
    assert [names["predict"](row) for row in rows] == model.predict(FRAME).tolist()


@pytest.mark.parametrize("parameters", [{}, {"rules": True}, {"trials": 3}, {"winnow": True}, {"fuzzy": True}], ids=str)
def test_the_number_of_threads_does_not_change_a_bit(parameters, tmp_path):
    X = np.random.default_rng(0).normal(size=(6_000, 12))  # enough for a thread of its own at the root
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])
    files = set()
    for n_jobs in (1, 2, 4):
        fitted = bt.C50Classifier(n_jobs=n_jobs, **parameters).fit(X, y).set_params(n_jobs=None)
        bt.save(fitted, tmp_path / "m.baytree")
        files.add((tmp_path / "m.baytree").read_bytes())
    assert len(files) == 1


def test_a_set_without_a_rule_votes_without_it():
    model = MODELS["rules"].fit(FRAME, LABEL)
    fewer = model.without(0)
    assert len(fewer.rules_[0]) == len(model.rules_[0]) - 1
    assert fewer.rules_[0][0] == model.rules_[0][1]
    covered = model.rules_[0].holding(model._encoded(FRAME))[:, 0]
    np.testing.assert_array_equal(fewer.predict_proba(FRAME)[~covered], model.predict_proba(FRAME)[~covered])


@pytest.mark.parametrize(
    "tree", [bt.CARTClassifier(), bt.C45Classifier(), bt.CHAIDClassifier(), bt.DecisionTreeClassifier()]
)
def test_the_rules_of_any_tree_vote_like_the_tree_where_nothing_is_missing(tree, tmp_path):
    known = FRAME.dropna()
    tree.fit(FRAME, LABEL)
    rules = bt.C50Classifier.from_tree(tree)
    assert rules.predict(known).tolist() == tree.predict(known).tolist()
    bt.save(rules, tmp_path / "rules.baytree")
    loaded = bt.load(tmp_path / "rules.baytree")
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), rules.predict_proba(FRAME))
    assert str(loaded.without(0)) == str(rules.without(0))
    assert "predict_proba" in rules.export("python")


@pytest.mark.parametrize("cuts", [[1.2], [0.5, 1.5]], ids=["two classes", "three classes"])
def test_rules_with_costs_make_fewer_of_the_dear_mistakes(cuts):
    noise = np.random.default_rng(4).normal(scale=0.6, size=N)
    label = np.digitize(SCORE + noise, cuts)
    costs = np.ones((len(cuts) + 1,) * 2)
    costs[-1] = 9.0  # rows of the last class that get another
    np.fill_diagonal(costs, 0.0)
    plain = bt.C50Classifier(rules=True).fit(FRAME, label).predict(FRAME)
    careful = bt.C50Classifier(rules=True, costs=costs.tolist()).fit(FRAME, label).predict(FRAME)
    assert costs[label, careful].sum() < costs[label, plain].sum()


@pytest.mark.parametrize("subset", [True, False])
def test_a_rule_covers_the_rows_for_which_it_holds(subset):
    model = bt.C50Classifier(rules=True, subset=subset).fit(FRAME, LABEL)
    rules, holds = model.rules_[0], model.rules_[0].holding(model._encoded(FRAME))
    right = [holds[model.classes_[rule.label] == LABEL, k].sum() for k, rule in enumerate(rules)]
    assert [rule.cover for rule in rules] == holds.sum(axis=0).tolist()
    assert [rule.right for rule in rules] == right


def test_only_rules_can_be_left_out():
    with pytest.raises(ValueError, match="rules=True"):
        MODELS["tree"].fit(FRAME, LABEL).without(0)
    with pytest.raises(ValueError, match="there is no rule 99"):
        MODELS["rules"].fit(FRAME, LABEL).without(99)


def test_a_row_that_no_rule_covers_gets_the_default_class():
    model = MODELS["rules"].fit(FRAME, LABEL)
    nothing = pd.DataFrame({"size": [np.nan], "colour": [None], "rank": [None]})
    assert model.predict(nothing)[0] == model.classes_[model.rules_[0].default]
    np.testing.assert_allclose(model.predict_proba(nothing), 0.5)


def test_a_set_without_rules_is_the_majority_class_with_its_proportions(tmp_path):
    rows = pd.DataFrame({"x": np.arange(40) % 5, "colour": ["red", "green"] * 20})
    label = np.where(np.arange(40) % 4 == 0, "yes", "no")
    model = bt.C50Classifier(rules=True).fit(rows, label)
    assert len(model.rules_[0]) == 0
    np.testing.assert_allclose(model.predict_proba(rows), np.tile([0.75, 0.25], (40, 1)), rtol=1e-6)
    assert set(model.predict(rows)) == {"no"}
    bt.save(model, tmp_path / "m.baytree")
    np.testing.assert_array_equal(bt.load(tmp_path / "m.baytree").predict_proba(rows), model.predict_proba(rows))
    exported = {}
    exec(model.export("python"), exported)
    assert exported["predict_proba"]({"x": 1, "colour": "red"}) == pytest.approx({"no": 0.75, "yes": 0.25}, rel=1e-6)
    alone = bt.C50Classifier(rules=True).fit(FRAME, LABEL)
    while len(alone.rules_[0]):
        alone = alone.without(0)
    share = (alone.classes_[0] == LABEL).mean()
    np.testing.assert_allclose(alone.predict_proba(FRAME)[0], [share, 1 - share], rtol=1e-6)


def test_a_column_of_the_root_is_used_by_every_row_that_has_a_value():
    model = MODELS["tree"].fit(FRAME, LABEL)
    root = int(model.tree_.column[0])
    known = FRAME.iloc[:, root].notna().mean()
    assert model.feature_importances_[root] == pytest.approx(known)
    assert model.importances().rows[0].usage == model.feature_importances_.max()


def test_each_trial_is_printed():
    model = MODELS["boosted"].fit(FRAME, LABEL)
    assert str(model).count("trial ") == len(model.trees_)
    assert len(model.weights_) == len(model.trees_)


def test_winnowing_names_what_it_leaves_out():
    noisy = FRAME.assign(**{f"noise {k}": RNG.normal(size=N) for k in range(5)})
    model = bt.C50Classifier(winnow=True).fit(noisy, LABEL)
    used = {model.schema_.names[j] for j in np.flatnonzero(model.feature_importances_)}
    assert used.isdisjoint(model.winnowed_)


def test_a_chain_of_tests_needs_no_deep_stack():
    n = 20_000
    frame, label = {"x": np.arange(float(n))}, np.where(np.arange(n) // 2 % 2, "a", "b")
    model = bt.C50Classifier(confidence=1.0, global_pruning=False).fit(frame, label)
    assert len(model.predict(frame)) == n


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.3, 1.2])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"trials": 10}, {"rules": True}, {"winnow": True}, {"fuzzy": True}],
    ids=["tree", "trials", "rules", "winnow", "soft"],
)
def test_ctrl_c_is_answered_soon(parameters, after, seconds_to_stop):
    X = np.random.default_rng(0).normal(size=(100_000, 20))
    y = (X[:, 0] + np.random.default_rng(1).normal(size=len(X)) > 0).astype(int)
    late = seconds_to_stop(lambda: bt.C50Classifier(confidence=1.0, global_pruning=False, **parameters).fit(X, y), after)
    assert late is None or late < 10  # long before the end; the figure is that of E6
