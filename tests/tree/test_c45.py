"""C4.5 and ID3 on lecture examples, hard tables and wrong calls."""

import os

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.tree.pruning import Z_TABLE, pessimism
from killing import seconds_to_interrupt

_DAYS = """
Sunny Hot High Weak No; Sunny Hot High Strong No; Overcast Hot High Weak Yes; Rain Mild High Weak Yes
Rain Cool Normal Weak Yes; Rain Cool Normal Strong No; Overcast Cool Normal Strong Yes; Sunny Mild High Weak No
Sunny Cool Normal Weak Yes; Rain Mild Normal Weak Yes; Sunny Mild Normal Strong Yes; Overcast Mild High Strong Yes
Overcast Hot Normal Weak Yes; Rain Mild High Strong No
"""
TENNIS = pd.DataFrame(
    [day.split() for day in _DAYS.strip().replace("\n", ";").split(";")],
    columns=["Outlook", "Temp", "Humidity", "Wind", "Play"],
)
GLADIATOR = pd.DataFrame(
    {
        "Major": ["Math", "History", "CS", "Math", "Math", "CS", "History", "Math"],
        "Likes": ["Yes", "No", "Yes", "No", "No", "Yes", "No", "Yes"],
    }
)
LOANS = pd.DataFrame(
    {
        "Credit": ["excellent", "fair", "fair", "poor", "excellent", "fair", "poor", "poor", "fair"],
        "Term": ["3yrs", "5yrs", "3yrs", "5yrs", "3yrs", "5yrs", "3yrs", "5yrs", "3yrs"],
        "Loan": ["safe", "risky", "safe", "risky", "safe", "safe", "risky", "safe", "safe"],
    }
)


def both(**given):
    return [bt.C45Classifier(**given), bt.C45Classifier(conventions="j48", **given), bt.ID3Classifier()]


def gains(model):
    return {t["column"]: t["gain"] for t in model.trace_ if t["node"] == 0}


def test_tennis_is_split_by_outlook_with_a_gain_of_0_2467():
    for model in (bt.ID3Classifier().fit(TENNIS, "Play"), bt.C45Classifier(trace=True).fit(TENNIS, "Play")):
        assert (model.nodes()[0]["column"], model.n_nodes_, model.n_leaves_) == ("Outlook", 8, 5)
    assert gains(model)["Outlook"] == pytest.approx(0.2467, abs=5e-5)
    assert gains(model)["Humidity"] == pytest.approx(0.1518, abs=5e-5)


def test_major_tells_half_a_bit_of_likes():
    model = bt.C45Classifier(min_objects=1, trace=True).fit(GLADIATOR, "Likes")
    assert model.nodes()[0]["impurity"] == 1.0
    assert gains(model) == {"Major": 0.5}


def test_credit_classifies_more_loans_right_than_term():
    right = {}
    for column in ("Credit", "Term"):
        stump = bt.DecisionTreeClassifier(criterion="error", branching="multiway", max_depth=1)
        right[column] = round(9 * stump.fit(LOANS[[column, "Loan"]], "Loan").score(LOANS, LOANS.Loan))
    chosen = bt.DecisionTreeClassifier(criterion="error", branching="multiway", max_depth=1).fit(LOANS, "Loan")
    assert right == {"Credit": 7, "Term": 6}
    assert chosen.nodes()[0]["column"] == "Credit"


def test_the_pessimistic_estimate_is_that_of_the_book():
    estimate = pessimism("c4.5", 0.25)
    assert [round(estimate(n, 0), 3) for n in (6, 9, 1)] == [1.238, 1.285, 0.75]
    assert estimate.z == pytest.approx(0.6925)
    assert dict(Z_TABLE)[0.10] == 1.28


@pytest.mark.parametrize(
    "x",
    [
        lambda z: 1e9 + z,
        lambda z: z * 1e-9,
        lambda z: z * 1e300,
        lambda z: np.where(z > 0, np.nextafter(1, 2), 1.0),
        lambda z: np.where(z > 0, np.inf, -np.inf),
        lambda z: np.where(z > 0, 1.7e308, -1.7e308),
    ],
    ids=["offset", "tiny", "huge", "neighbours", "infinite", "largest"],
)
def test_a_clear_signal_is_found_on_any_scale(x):
    z = np.random.default_rng(0).normal(size=300)
    for model in both():
        assert model.fit(x(z)[:, None], z > 0).score(x(z)[:, None], z > 0) == 1.0


@pytest.mark.parametrize("weight", [1e307, 1e-300, 0.1, 7.0])
def test_equal_weights_of_any_size_keep_the_signal(weight):
    z = np.random.default_rng(0).normal(size=300)
    for model in both():
        assert model.fit(z[:, None], z > 0, sample_weight=np.full(300, weight)).score(z[:, None], z > 0) == 1.0


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.full((9, 2), np.nan), np.arange(9) % 2),
        (np.ones((9, 2)), np.arange(9) % 2),
        (np.ones((1, 1)), ["a"]),
        (np.arange(9.0)[:, None], ["a"] * 9),
    ],
    ids=["nothing known", "constant", "one row", "one class"],
)
def test_where_nothing_can_be_learnt_the_root_answers(X, y):
    for model in both():
        model.fit(X, y)
        assert model.n_nodes_ == 1
        np.testing.assert_allclose(model.predict_proba(X)[0], pd.Series(y).value_counts(normalize=True).sort_index())


@pytest.mark.slow
def test_a_hundred_thousand_levels_make_a_tree_or_a_clear_error():
    n = 100_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": pd.Categorical([f"{i}" for i in range(n)]), "x": rng.normal(size=n)})
    with pytest.warns(UserWarning, match="column 'id' is not used"):
        assert bt.C45Classifier().fit(frame, frame.x > 0).n_nodes_ == 3
    assert bt.ID3Classifier().fit(frame, frame.x > 0).n_leaves_ == n
    twice = pd.DataFrame({name: pd.Categorical(rng.integers(0, 20_000, 20_000).astype(str)) for name in ("u", "v")})
    with pytest.raises(ValueError, match=r"column '[uv]' has \d+ levels.*drop the column"):
        bt.ID3Classifier().fit(twice, rng.random(20_000) < 0.5)


def test_level_names_may_be_any_text():
    names = ["a", "a\0", "é", "e\u0301", "", "<script>", "日本", "\u202e", "x" * 5000]
    frame = pd.DataFrame({"c": names * 4})
    for model in both(min_objects=1):
        model.fit(frame, frame.c)
        assert list(model.predict(frame)) == list(frame.c)


def test_a_level_never_seen_is_a_missing_value():
    model = bt.C45Classifier().fit(TENNIS, "Play")
    new = TENNIS.drop(columns="Play").iloc[:1].assign(Outlook="Fog")
    np.testing.assert_allclose(model.predict_proba(new), model.predict_proba(new.assign(Outlook=None)))


def test_reduced_error_pruning_holds_out_the_rows_it_is_told():
    rng = np.random.default_rng(2)
    X, held = rng.normal(size=(300, 3)), np.arange(0, 300, 3)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    mask = np.isin(np.arange(300), held)
    by_place = bt.C45Classifier(pruning="reduced_error", midpoint=True, mdl=False).fit(X, y, prune_on=held)
    by_mask = bt.C45Classifier(pruning="reduced_error", midpoint=True, mdl=False).fit(X, y, prune_on=mask)
    full = bt.C45Classifier(pruning=None, collapse=False, midpoint=True, mdl=False).fit(X[~mask], y[~mask])
    afterwards = full.prune("reduced_error", X[mask], y[mask])
    assert by_place.nodes() == by_mask.nodes() == afterwards.nodes()
    assert by_place.tree_.weight[0] == 200
    assert by_place.n_nodes_ < full.n_nodes_
    default = bt.C45Classifier(pruning="reduced_error").fit(X, y)
    assert default.nodes() == bt.C45Classifier(pruning="reduced_error").fit(X, y).nodes()


@pytest.mark.parametrize("conventions", ["c4.5", "j48"])
def test_a_fitted_tree_is_pruned_as_if_it_had_been_pruned_at_once(conventions):
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc")).assign(d=rng.choice(list("pqr"), 400))
    X = X.mask(rng.random(X.shape) < 0.1)
    y = (X.a.fillna(0) + rng.normal(size=400) > 0).astype(int)
    full = bt.C45Classifier(conventions=conventions, pruning=None).fit(X, y)
    assert full.prune("error_based", X, y).nodes() == bt.C45Classifier(conventions=conventions).fit(X, y).nodes()
    unraised = bt.C45Classifier(conventions=conventions, raising=False).fit(X, y)
    assert full.prune("error_based").nodes() == unraised.nodes()
    assert full.prune("error_based", confidence=0.01).n_nodes_ <= unraised.n_nodes_
    assert full.prune("snip", 0).n_nodes_ == 1
    assert full.prune("error_based").undo() is full


def test_the_trace_tells_every_candidate_and_its_charge():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 2))
    model = bt.C45Classifier(trace=True).fit(X, X[:, 0] > 0)
    root = [t for t in model.trace_ if t["node"] == 0]
    assert {t["column"] for t in root} == {"x0"}  # the other gains less than its charge
    assert root[0]["penalty"] == pytest.approx(np.log2(root[0]["cuts"]) / 200, rel=1e-5)


def test_laplace_makes_answers_less_sure_and_never_other():
    rng = np.random.default_rng(6)
    X, y = np.where(rng.random((300, 3)) < 0.2, np.nan, rng.normal(size=(300, 3))), rng.integers(0, 3, 300)
    plain, smooth = (bt.C45Classifier(pruning=None, laplace=is_smooth).fit(X, y) for is_smooth in (False, True))
    assert list(plain.predict(X)) == list(smooth.predict(X))
    assert smooth.predict_proba(X).max() < plain.predict_proba(X).max()
    assert smooth.predict_proba(X).min() > 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"conventions": "c5"}, "conventions='c5': give one of 'c4.5', 'j48'"),
        ({"criterion": "gini"}, "criterion='gini': give one of 'gain_ratio', 'gain'"),
        ({"confidence": 0}, "confidence=0: give a number"),
        ({"conventions": "j48", "confidence": 0.6}, "confidence=0.6: give a number of at least 1e-06 and at most 0.5"),
        ({"min_objects": "two"}, "min_objects='two': give a number"),
        ({"pruning": "yes"}, "pruning='yes'"),
        ({"binary": True, "subset": True}, "contradict"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_a_wrong_parameter_is_refused_in_the_users_words(given, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        bt.C45Classifier(**given).fit(TENNIS, "Play")


def test_wrong_rows_to_prune_on_are_refused():
    model = bt.C45Classifier(pruning="reduced_error")
    for rows, words in (([99], "out of range"), (np.ones(3, bool), "mask with 3"), (np.arange(14), "contains all rows")):
        with pytest.raises(ValueError, match=words):
            model.fit(TENNIS, "Play", prune_on=rows)
    with pytest.raises(ValueError, match="prune_on requires"):
        bt.C45Classifier().fit(TENNIS, "Play", prune_on=[1])


def test_text_is_refused_by_name():
    with pytest.raises(ValueError, match="column 'Wind' is text"):
        bt.ID3Classifier(schema={"Wind": "text"}).fit(TENNIS, "Play")


@pytest.mark.parametrize("missing", ["fractional", "category", "largest", "learned"])
@pytest.mark.parametrize("criterion", ["error", "entropy", "gini", "gain_ratio", "chi2"])
def test_every_criterion_and_road_finds_the_nominal_signal(criterion, missing):
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"a": rng.normal(size=500), "c": rng.choice(list("pqrs"), 500)}).mask(rng.random((500, 2)) < 0.1)
    y = np.where(X.c.isin(["p", "r"]), "in", "out")
    model = bt.DecisionTreeClassifier(criterion=criterion, missing=missing, branching="multiway", max_depth=1).fit(X, y)
    assert model.nodes()[0]["column"] == "c"
    assert model.score(X[X.c.notna()], y[X.c.notna()]) == 1.0
    rationed = model.set_params(max_depth=None, max_leaves=4).fit(X, y)
    assert rationed.n_leaves_ <= 4


def test_multiway_refuses_what_only_two_branches_can():
    for given in ({"criterion": "twoing"}, {"missing": "surrogate"}, {"alpha": 0.05}, {"priors": [0.5, 0.5]}):
        with pytest.raises(ValueError, match=r"multiway|binary"):
            bt.DecisionTreeClassifier(branching="multiway", **given).fit(TENNIS, "Play")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_is_answered_at_once():
    code = """
import numpy as np, baytree as bt, time, os
rng = np.random.default_rng(0)
X = rng.normal(size=(400_000, 20)); y = rng.random(400_000) < 1 / (1 + np.exp(-X[:, 0]))
bt.C45Classifier().fit(X[:100], y[:100])
print("ready", flush=True)
try:
    while True: bt.C45Classifier(min_objects=1).fit(X, y)
except KeyboardInterrupt:
    print("stopped", time.time(), flush=True)
    os._exit(0)
"""
    assert seconds_to_interrupt(code, after=1.5) < 1.0  # 200 ms on an idle machine; no test asserts a tight time
