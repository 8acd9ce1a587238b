"""The examples of the lecture texts, closed forms beside independent ones, and the joint table."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import baytree as bt
from baytree.statistics.binning import mdl_cuts_of_weights

ENJOY = {
    "Sky": ["sunny", "sunny", "rainy", "sunny"],
    "Humid": ["normal", "high", "high", "high"],
    "EnjoySport": ["yes", "yes", "no", "yes"],
}
JOINT = {name: list(column) for name, column in zip("ABC", zip(*product([0, 1], repeat=3), strict=True), strict=True)}
SHARES = [0.30, 0.05, 0.10, 0.05, 0.05, 0.10, 0.25, 0.10]


def test_enjoysport_by_counting():
    model = bt.NaiveBayesClassifier(estimate="mle").fit(ENJOY, "EnjoySport")
    assert np.exp(model.model_.log_prior).tolist() == pytest.approx([1 / 4, 3 / 4])
    sky, humid = (model.likelihood(name).set_index(name)["yes"] for name in ("Sky", "Humid"))
    assert sky["sunny"] == pytest.approx(1.0)
    assert humid["high"] == pytest.approx(2 / 3)
    assert model.likelihood("Sky").set_index("Sky")["no"]["sunny"] == 0


def test_laplace_adds_one():
    colours = {"colour": ["red"] * 5 + ["green"] * 7 + ["red"], "y": ["a"] * 12 + ["b"]}
    schema = {"colour": ["red", "blue", "green"]}
    shares = bt.NaiveBayesClassifier(schema=schema).fit(colours, "y").likelihood("colour")["a"].tolist()
    assert shares == pytest.approx([6 / 15, 1 / 15, 8 / 15])
    by_mode = bt.NaiveBayesClassifier(schema=schema, estimate="map", alpha=2.0).fit(colours, "y").likelihood("colour")["a"]
    assert by_mode.tolist() == pytest.approx(shares)
    plain = bt.NaiveBayesClassifier(schema=schema, estimate="map").fit(colours, "y").likelihood("colour")["a"]
    assert plain.tolist() == pytest.approx([5 / 12, 0, 7 / 12])


def test_the_review_sentence_word_by_word():
    reviews = {
        "text": ["the sushi was awesome", "everything was awful", "awesome food", "the food was bad"],
        "y": ["+", "-", "+", "-"],
    }
    model = bt.NaiveBayesClassifier(schema={"text": "text"}, conventions="sklearn").fit(reviews, "y")
    sentence = "The sushi & everything else was awesome!"
    words, vocabulary = ["the", "sushi", "everything", "was", "awesome"], set(" ".join(reviews["text"]).split())
    totals = {"+": " ".join(reviews["text"][::2]).split(), "-": " ".join(reviews["text"][1::2]).split()}
    scores = [
        np.log(0.5) + sum(np.log((totals[c].count(w) + 1) / (len(totals[c]) + len(vocabulary))) for w in words) for c in "+-"
    ]
    assert np.allclose(model.predict_joint_log_proba({"text": [sentence]})[0], scores, atol=1e-12)
    explanation = model.explain({"text": [sentence]})[0]
    assert explanation.prediction == "+"
    assert any("awesome" in line.value for line in explanation.evidence)
    assert "awesome" in model.top_words(n=3)["+"]


def test_bayes_is_students_t():
    x, y = np.array([1.0, 2.0, 4.0, 3.0, 7.0]), ["a", "a", "a", "b", "b"]
    prior = {"m0": 2.0, "k0": 1.5, "a0": 2.0, "b0": 3.0}
    model = bt.NaiveBayesClassifier(priors={"x": prior}, class_prior=[0.5, 0.5]).fit({"x": x}, y)
    scores = []
    for values in (x[:3], x[3:]):
        n, mean, squares = len(values), values.mean(), values.var() * len(values)
        kn, an = 1.5 + n, 2 + n / 2
        bn = 3 + squares / 2 + 1.5 * n * (mean - 2) ** 2 / (2 * kn)
        scores.append(stats.t(2 * an, (1.5 * 2 + n * mean) / kn, np.sqrt(bn * (kn + 1) / (an * kn))).logpdf(2.5))
    assert np.allclose(model.predict_joint_log_proba({"x": [2.5]})[0] - np.log(0.5), scores, atol=1e-12)


def test_bayes_of_counts_is_the_negative_binomial():
    clicks, y = np.array([1.0, 2.0, 4.0, 3.0, 7.0]), ["a", "a", "a", "b", "b"]
    model = bt.NaiveBayesClassifier(
        events={"x": "poisson"}, priors={"x": {"shape": 2.0, "rate": 0.5}}, class_prior=[0.5, 0.5]
    ).fit({"x": clicks}, y)
    expected = [stats.nbinom(2 + c.sum(), 1 - 1 / (0.5 + len(c) + 1)).logpmf(5) for c in (clicks[:3], clicks[3:])]
    assert np.allclose(model.predict_joint_log_proba({"x": [5.0]})[0] - np.log(0.5), expected, atol=1e-11)


def test_bayes_of_bags_is_the_dirichlet_multinomial():
    counts, y = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 5.0], [0.0, 40.0, 2.0]]), ["a", "b", "b"]
    events = {f"x{j}": "multinomial" for j in range(3)}
    model = bt.NaiveBayesClassifier(events=events, class_prior=[0.5, 0.5]).fit(counts, y)
    asked = np.array([[2.0, 1.0, 0.0], [0.0, 30.0, 1.0]])
    mine = model.predict_joint_log_proba(asked)
    for row, bag in enumerate(asked):
        for k, seen in enumerate((counts[0], counts[1] + counts[2])):
            whole = stats.dirichlet_multinomial.logpmf(bag.astype(int), seen + 1, int(bag.sum()))
            sequences = stats.multinomial.logpmf(bag, bag.sum(), np.full(3, 1 / 3)) - bag.sum() * np.log(1 / 3)
            assert mine[row, k] - np.log(0.5) == pytest.approx(whole - sequences, abs=1e-10)


def test_pure_halves_are_cut_once_and_noise_never():
    assert mdl_cuts_of_weights(np.arange(20.0), np.repeat(np.eye(2), 10, axis=0)).tolist() == [9.5]
    assert mdl_cuts_of_weights(np.arange(20.0), np.tile(np.eye(2), (10, 1))).tolist() == []


def test_the_joint_table_of_three_switches():
    model = bt.JointDistribution().fit(JOINT, "C", sample_weight=SHARES)
    assert model.table()["probability"].tolist() == pytest.approx(SHARES)
    assert model.probability({"A": 1}) == pytest.approx(0.5)
    assert model.probability({"A": 1, "B": 1}) == pytest.approx(0.35)
    assert model.probability({"A": 1}, given={"B": 1, "C": 0}) == pytest.approx(0.25 / 0.35)
    assert model.probability({"A": [0, 1]}) == pytest.approx(1)
    assert model.predict(JOINT).tolist() == [0, 0, 0, 0, 1, 1, 0, 0]
    assert np.allclose(model.predict_proba({"A": [1], "B": [None]}), [[0.6, 0.4]])


def test_the_joint_table_learns_merges_forgets_and_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(60, 3)), rng.integers(0, 2, 60)
    whole = bt.JointDistribution(alpha=0.5).fit(X, y)
    parts = bt.JointDistribution(alpha=0.5).partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert (parts.predict_proba(X) == whole.predict_proba(X)).all()
    assert (
        parts.forget(X[20:], y[20:]).predict_proba(X[:20])
        == bt.JointDistribution(alpha=0.5).fit(X[:20], y[:20]).predict_proba(X[:20])
    ).all()
    bt.save(whole, tmp_path / "j.baytree")
    assert (bt.load(tmp_path / "j.baytree").predict_proba(X) == whole.predict_proba(X)).all()


def test_a_joint_table_that_cannot_fit_in_memory_is_refused():
    rows = np.random.default_rng(0).integers(0, 2, size=(40, 60))
    model = bt.JointDistribution().fit(rows, np.arange(40) % 2)
    with pytest.raises(ValueError, match="cells"):
        model.table()
    assert model.score(rows, np.arange(40) % 2) == 1.0


def test_drawn_rows_look_like_the_learnt_ones():
    rng = np.random.default_rng(1)
    y = rng.choice(["a", "b"], 4000, p=[0.3, 0.7])
    rows = {
        "x": rng.normal(size=4000) + 3 * (y == "b"),
        "c": np.where(rng.random(4000) < np.where(y == "a", 0.9, 0.2), "u", "v"),
    }
    model = bt.NaiveBayesClassifier().fit(rows, y)
    drawn = model.sample(4000, random_state=0)
    assert (drawn["y"] == "a").mean() == pytest.approx(0.3, abs=0.03)
    assert drawn["x"][drawn["y"] == "b"].mean() == pytest.approx(3, abs=0.1)
    assert (model.sample(500, given={"x": 6.0}, random_state=0)["y"] == "b").mean() > 0.95
    assert set(model.sample(50, given={"y": "a", "c": "u"}, random_state=0)["c"]) == {"u"}
    assert (
        model.score_samples({"x": [0.0, 50.0], "c": ["u", "u"]})[0]
        > model.score_samples({"x": [0.0, 50.0], "c": ["u", "u"]})[1]
    )


def wekas_precision(value: np.ndarray) -> float:
    frame = {"x": np.tile(value, 2), "y": ["a", "b"] * len(value)}
    return bt.NaiveBayesClassifier(conventions="weka").fit(frame, "y").model_.likelihoods[0].precision


@pytest.mark.filterwarnings("ignore:column 'x'")
def test_wekas_precision_adds_the_gaps_one_by_one():
    value = np.array([0.1, 0.2, 0.3, 0.8])
    total = 0.0
    for gap in np.diff(value).tolist():
        total += gap
    assert wekas_precision(value) == total / 3 == 0.2333333333333333
    assert (value[-1] - value[0]) / 3 != total / 3  # what it was taken for, another last bit


def test_wekas_precision_of_the_largest_numbers_is_a_number():
    assert np.isfinite(wekas_precision(np.array([-1.7e308, 0.0, 1.7e308])))
