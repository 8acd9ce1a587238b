"""Twenty questions: the next question is the one that tells most, and the answer is the model's own."""

import numpy as np
import pytest

import baytree as bt
from baytree.interview.belief import uniform

MODELS = [
    bt.NaiveBayesClassifier(),
    bt.NaiveBayesClassifier(numeric="discretized"),
    bt.NaiveBayesClassifier(numeric="kernel"),
    bt.LinearDiscriminantAnalysis(),
    bt.QuadraticDiscriminantAnalysis(),
    bt.LogisticRegression(),
    bt.CARTClassifier(),
    bt.C45Classifier(),
    bt.OptimalTreeClassifier(),
    bt.CHAIDClassifier(),
    bt.DecisionTreeClassifier(max_depth=4),
]
PENGUINS = bt.datasets.load("penguins", as_="pandas")


def fitted(model):
    return model.fit(PENGUINS, "species")


def given(question, row):
    """The answer of a row: the range that holds its number where ranges are offered."""
    value = row[question.column]
    return None if value is None or value != value else value


def played(talk, row):
    asked = 0
    while (question := talk.next()) is not None:
        talk.answer(given(question, row))
        asked += 1
    return asked


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:60])
def test_asking_everything_ends_in_the_answer_of_predict(model):
    fitted(model)
    inputs = PENGUINS.drop(columns="species")
    for place in range(0, len(PENGUINS), 40):
        talk = model.interview(sure=1.0)
        played(talk, inputs.iloc[place])
        assert talk.prediction == model.predict(inputs.iloc[[place]])[0]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:60])
def test_a_belief_is_a_probability_and_a_gain_is_not_negative(model):
    talk = fitted(model).interview()
    for _ in range(3):
        question = talk.next()
        if question is None:
            break
        assert question.gain > 0
        belief = talk.answer(None)
        assert sum(belief.values()) == pytest.approx(1)


def test_naive_bayes_asks_for_the_column_of_the_largest_exact_gain():
    """Counted from the joint of the model itself, level by level."""
    rows = {
        "a": ["x", "x", "x", "z", "z", "z"] * 10,
        "b": ["u", "v", "u", "v", "u", "v"] * 10,
        "y": ["p", "p", "q", "q", "q", "q"] * 10,
    }
    model = bt.NaiveBayesClassifier().fit(rows, "y")
    prior, gains = np.exp(model.model_.log_prior), {}
    for column, levels in (("a", ["x", "z"]), ("b", ["u", "v"])):
        posterior = np.array([model.predict_proba({"a": [None], "b": [None], column: [level]})[0] for level in levels])
        _, share = model.model_.likelihoods[("a", "b").index(column)].distribution(model.schema_, ("a", "b").index(column))
        weight = share @ prior
        entropy = lambda p: -(p * np.log2(p)).sum()  # noqa: E731
        gains[column] = entropy(prior) - sum(w * entropy(p) for w, p in zip(weight, posterior, strict=True))
    question = model.interview().next()
    assert question.column == max(gains, key=gains.get)
    assert question.gain == pytest.approx(gains[question.column], rel=1e-9)


def test_a_tree_is_asked_along_its_own_tests():
    model = bt.C45Classifier().fit(PENGUINS, "species")
    talk, root = model.interview(), model.nodes()[0]
    question = talk.next()
    assert question.column == root["column"]
    assert root["threshold"] in {high for _, high in question.choices}


def test_a_range_is_an_answer_and_tells_less_than_a_number():
    model = fitted(bt.NaiveBayesClassifier())
    talk = model.interview()
    question = talk.next()
    belief = talk.answer((None, 190.0))
    assert belief["Gentoo"] < 0.05
    talk.undo()
    assert talk.next() == question


def test_undo_takes_back_what_was_answered():
    talk = fitted(bt.CARTClassifier()).interview()
    before = talk.belief
    talk.next()
    talk.answer(None)
    talk.undo()
    assert talk.belief == before
    with pytest.raises(ValueError, match="nothing to undo"):
        talk.undo()


def test_answers_that_make_no_sense_are_refused_by_name():
    talk = fitted(bt.NaiveBayesClassifier()).interview()
    with pytest.raises(ValueError, match="call next"):
        talk.answer(1)
    column = talk.next().column
    for junk in ("much", (2.0, 1.0), (1.0,)):
        with pytest.raises(ValueError, match=column):
            talk.answer(junk)


def test_a_model_of_numbers_and_a_file_without_profile_say_what_is_needed():
    with pytest.raises(AttributeError):
        bt.CARTRegressor().fit(PENGUINS[["year", "body_mass_g"]].dropna(), "body_mass_g").interview()
    model = fitted(bt.LogisticRegression())
    model.profile_ = None
    with pytest.raises(ValueError, match=r"model\.interview\(frame\)"):
        model.interview()
    assert model.interview(PENGUINS).next() is not None


def test_chance_is_the_same_everywhere():
    draws = uniform(np.arange(20_000))
    assert abs(draws.mean() - 0.5) < 0.01
    assert abs((draws < 0.1).mean() - 0.1) < 0.01


def test_text_is_not_asked_for_and_that_is_said():
    said = ["win money now", "see you at home", "win a prize", "home at six"] * 6
    frame = {"said": said, "sender": ["x", "y", "x", "y"] * 6, "spam": ["yes", "no", "yes", "no"] * 6}
    kinds = {"said": bt.Text(), "sender": "nominal"}
    talk = bt.NaiveBayesClassifier(schema=kinds).fit(frame, "spam").interview()
    assert talk.unasked == ("said",)
    assert talk.next().column == "sender"
    alone = bt.NaiveBayesClassifier(schema={"said": bt.Text()}).fit({"said": said, "spam": frame["spam"]}, "spam")
    with pytest.raises(ValueError, match=r"reads nothing but text \('said'\), and text is not asked for"):
        alone.interview()
