"""Twenty questions: the next question is the one that tells most, and the answer is the model's own."""

import numpy as np
import pytest
from click.testing import CliRunner

import baytree as bt
from baytree.cli.main import main
from baytree.interview.posterior import uniform

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
    bt.NBTreeClassifier(),
    bt.StreamingTreeClassifier(grace=20),
    bt.StreamingTreeClassifier(leaves="adaptive", grace=20),
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


TENNIS = bt.datasets.load("play-tennis", as_="pandas")
TREES = [
    bt.ID3Classifier(),
    bt.C45Classifier(pruning=None),
    bt.C45Classifier(pruning=None, conventions="j48"),
    bt.CARTClassifier(cp=0.0, min_split=2),
    bt.DecisionTreeClassifier(),
    bt.DecisionTreeClassifier(branching="multiway", missing="category"),
    bt.CHAIDClassifier(alpha_split=0.5, min_split=2, min_leaf=1),
    bt.OptimalTreeClassifier(),
]


@pytest.mark.parametrize("model", TREES, ids=lambda model: repr(model)[:60])
def test_a_tree_begins_with_the_class_distribution_of_its_root(model):
    model.fit(TENNIS, "PlayTennis")
    talk = model.interview()
    assert talk.belief == pytest.approx({"No": 5 / 14, "Yes": 9 / 14}, abs=1e-9)
    root = model.nodes()[0]
    if root["column"]:
        assert talk.next().column == root["column"]


def test_the_first_question_of_id3_gains_what_the_course_works_out():
    question = bt.ID3Classifier().fit(TENNIS, "PlayTennis").interview().next()
    assert (question.column, question.gain) == (
        "Outlook",
        pytest.approx(bt.information_gain(TENNIS, "PlayTennis", "Outlook")),
    )


def test_priors_of_a_tree_are_those_of_its_first_belief():
    priors = {"Adelie": 0.1, "Chinstrap": 0.8, "Gentoo": 0.1}
    assert fitted(bt.CARTClassifier(priors=priors)).interview().belief == pytest.approx(priors, abs=1e-9)


@pytest.mark.parametrize("model", TREES, ids=lambda model: repr(model)[:60])
def test_a_tree_asks_for_the_columns_on_the_path_of_a_row_and_for_no_others(model):
    """Also with missing values, where surrogates, fractions or a branch of missing values go on."""
    frame = PENGUINS.copy()
    frame.loc[::7, "bill_length_mm"] = None
    model.fit(frame, "species")
    inputs = frame.drop(columns="species")
    by_id = {node["id"]: node for node in model.nodes()}
    for place in range(0, len(frame), 25):
        row = inputs.iloc[place]
        talk = model.interview(sure=1.0)
        played(talk, row)
        assert talk.prediction == model.predict(inputs.iloc[[place]])[0]
        assert list(talk.belief.values()) == pytest.approx(model.predict_proba(inputs.iloc[[place]])[0].tolist(), abs=1e-9)
        node, path = by_id[model.apply(inputs.iloc[[place]])[0]], set()
        while node["parent"] is not None:
            node = by_id[node["parent"]]
            path.add(node["column"])
        if None not in talk.answers.values():
            assert set(talk.answers) <= path


def test_a_surrogate_is_asked_for_where_the_split_is_not_known():
    model = fitted(bt.CARTClassifier())
    talk, root = model.interview(sure=1.0), model.nodes()[0]
    assert talk.next().column == root["column"]
    talk.answer(None)
    assert talk.next().column == root["surrogates"][0]["column"]


@pytest.mark.parametrize("model", [*MODELS, *TREES], ids=lambda model: repr(model)[:60])
def test_no_question_promises_more_bits_than_the_belief_holds(model):
    model.fit(PENGUINS, "species")
    draws = np.random.default_rng(0)
    for _ in range(3):
        talk = model.interview(sure=1.0)
        row = PENGUINS.iloc[int(draws.integers(len(PENGUINS)))]
        for _ in range(6):
            belief = np.array(list(talk.belief.values()))
            question = talk.next()
            if question is None:
                break
            entropy = -(belief[belief > 0] * np.log2(belief[belief > 0])).sum()
            assert 0 <= question.gain <= entropy + 1e-9
            talk.answer(None if draws.random() < 0.3 else given(question, row))


def test_a_tree_is_asked_along_its_path_where_the_first_answer_alone_tells_nothing():
    rows = {"a": ["x", "x", "z", "z"] * 4, "b": ["u", "v", "u", "v"] * 4, "y": ["p", "q", "q", "p"] * 4}
    model = bt.OptimalTreeClassifier(max_depth=2).fit(rows, "y")
    talk = model.interview()
    assert talk.next().gain == pytest.approx(0, abs=1e-9)
    talk.answer("x")
    assert talk.next().gain == pytest.approx(1)


def test_a_large_tree_offers_the_intervals_of_its_node_only():
    x = np.random.default_rng(0).normal(size=(400, 2))
    y = np.where(np.sin(12 * x[:, 0]) + x[:, 1] > 0, "up", "down")
    model = bt.DecisionTreeClassifier().fit(x, y)
    talk, root = model.interview(sure=1.0), model.nodes()[0]
    question = talk.next()
    cut = root["threshold"]
    assert question.choices == ((None, cut), (cut, None))
    while (question := talk.next()) is not None:
        assert len(question.choices) <= 8
        talk.answer(question.choices[0])
    assert len(talk.answers) <= 2


def test_equal_costs_leave_the_path_of_a_tree_as_it_is():
    model = fitted(bt.C45Classifier())
    dear = model.interview(question_costs=dict.fromkeys(model.schema_.names, 7.0))
    assert dear.next().column == model.interview().next().column == model.nodes()[0]["column"]


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
    with pytest.raises(ValueError, match="no answer to undo"):
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
    with pytest.raises(ValueError, match=r"reads only text \('said'\), which an interview cannot ask for"):
        alone.interview()


# columns that cost something


def test_equal_costs_ask_as_no_costs_do():
    model = fitted(bt.NaiveBayesClassifier())
    free, dear = model.interview(), model.interview(question_costs=dict.fromkeys(model.schema_.names, 7.0))
    for place in range(0, len(PENGUINS), 60):
        row = PENGUINS.drop(columns="species").iloc[place]
        while (question := free.next()) is not None:
            asked = dear.next()
            assert (asked.column, asked.gain, asked.cost) == (question.column, question.gain, 7.0)
            assert question.cost is None
            free.answer(given(question, row))
            dear.answer(given(asked, row))
        assert dear.next() is None
        free, dear = model.interview(), model.interview(question_costs=dict.fromkeys(model.schema_.names, 7.0))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:60])
def test_the_question_of_largest_gain_per_cost_is_asked(model):
    names = fitted(model).schema_.names
    gains = {name: _gain_when_cheap(model, name) for name in names}
    costs = {name: 1.0 + k for k, name in enumerate(names)}
    question = model.interview(question_costs=costs).next()
    telling = {name: gain / costs[name] for name, gain in gains.items() if gain is not None}
    assert question.column == max(telling, key=telling.get)
    assert question.gain == gains[question.column]


def _gain_when_cheap(model, name):
    """The gain of a column that is asked for first, since it costs nothing; None where it would tell nothing."""
    question = model.interview(question_costs={name: 0.0}).next()
    return question.gain if question.column == name else None


@pytest.mark.slow
def test_cheap_questions_save_costs_and_end_in_the_same_answer():
    model = fitted(bt.NaiveBayesClassifier())
    costs = {name: 10.0 if name.endswith("mm") else 1.0 for name in model.schema_.names}
    inputs = PENGUINS.drop(columns="species").dropna()
    spent = {True: 0.0, False: 0.0}
    for place in range(0, len(inputs), 10):
        for knows in spent:
            talk = model.interview(sure=0.95, question_costs=costs if knows else None)
            played(talk, inputs.iloc[place])
            spent[knows] += sum(costs[name] for name in talk.answers)
            assert not knows or talk.spent == sum(costs[name] for name in talk.answers)
    assert spent[True] < spent[False]


def test_what_is_not_known_has_cost_nothing():
    talk = fitted(bt.NaiveBayesClassifier()).interview(question_costs={"island": 0.5})
    talk.next()
    talk.answer(None)
    assert talk.spent == 0


def test_wrong_costs_are_refused_in_words():
    model = fitted(bt.NaiveBayesClassifier())
    with pytest.raises(ValueError, match="question_costs: there is no column 'ísland'; did you mean 'island'"):
        model.interview(question_costs={"ísland": 2.0})
    for wrong in (-1.0, float("nan"), float("inf"), "much"):
        with pytest.raises(ValueError, match=r"question_costs\['island'\]=.*: give a finite number of at least 0"):
            model.interview(question_costs={"island": wrong})


def test_the_game_takes_costs_and_tells_what_was_spent(tmp_path):
    bt.save(fitted(bt.NaiveBayesClassifier()), tmp_path / "m.baytree")
    words = ["play", str(tmp_path / "m.baytree"), "--sure", "0.9"]
    result = CliRunner().invoke(main, [*words, "--cost", "flipper_length_mm=50"], input="1)\n" * 9)
    assert result.exit_code == 0, result.output
    assert "for a cost of 1)" in result.output
    assert "at a cost of " in result.output
    for cost, why in (("flipper=3", "there is no column 'flipper'"), ("island=much", "'much' is not a number")):
        wrong = CliRunner().invoke(main, [*words, "--cost", cost])
        assert wrong.exit_code == 2
        assert why in wrong.output
