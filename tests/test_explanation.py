"""A ledger in words and as a page: it adds up, and no name of a column or level can break out of it."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from law_settings import settings

RNG = np.random.default_rng(0)
N = 60
LABEL = np.where(RNG.random(N) < 0.5, "stay", "go")


class Structure(HTMLParser):
    """The elements and attribute names of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, tuple(name for name, _ in attributes)))

    def handle_data(self, data):
        self.text.append(data)


def ledger(column, level):
    table = pd.DataFrame({column: np.where(LABEL == "go", level, level + "!"), "size": RNG.normal(size=N)})
    model = bt.NaiveBayesClassifier(schema={column: "nominal"}).fit(table, LABEL)
    return model.explain(table.head(1))[0]


HOSTILE = ['"><script>alert(1)</script>', "</td></tr></table>", "&lt;", "\0\x1b[31m", "<!--"]
PLAIN = Structure(ledger("colour", "red")._repr_html_())


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(min_size=1), st.sampled_from(HOSTILE)))
def test_no_name_or_level_changes_the_structure_of_the_page(text):
    if text == "size":
        return
    assert Structure(ledger(text, text)._repr_html_()).elements == PLAIN.elements


@pytest.mark.parametrize("model", [bt.NaiveBayesClassifier(), bt.CARTClassifier(), bt.LogisticRegression()])
def test_words_and_page_name_the_answer_and_every_line(model):
    table = bt.datasets.load("penguins", "pandas")
    explanation = model.fit(table, "species").explain(table.head(1))[0]
    page = "".join(Structure(explanation._repr_html_()).text)
    for text in (str(explanation), page):
        assert str(explanation.prediction) in text
        assert all(line.column in text for line in explanation.evidence)


def test_an_explained_number_adds_up_in_words_and_on_the_page():
    table = pd.DataFrame({"x": np.arange(40.0), "y": np.arange(40.0) ** 2})
    explanation = bt.CARTRegressor().fit(table, "y").explain(table.head(1))[0]
    answer, _, amounts, total = explanation.against_runner_up()
    assert np.isclose(sum(amounts), total)
    assert f"{total:.6g}" in answer
    assert answer in "".join(Structure(explanation._repr_html_()).text)


TITANIC = bt.datasets.load("titanic", as_="pandas")
UNKNOWN = TITANIC.drop(columns="survived")[:2].assign(**{"class": ["new", None]})


@pytest.mark.parametrize(
    "model",
    [
        bt.NaiveBayesClassifier(),
        bt.LogisticRegression(),
        bt.LinearDiscriminantAnalysis(),
        bt.MARSClassifier(),
        bt.DecisionTreeClassifier(),
        bt.C45Classifier(),
        bt.NBTreeClassifier(),
        bt.JointDistribution(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")
def test_a_level_that_training_did_not_see_is_named_and_a_gap_is_missing(model):
    model.fit(TITANIC, "survived")
    new, gap = model.explain(UNKNOWN)
    (line,) = [line for line in new.evidence if line.column == "class"]
    assert line.label == "class = new (not seen in training)"
    assert "missing" not in str(new)
    (line,) = [line for line in gap.evidence if line.column == "class"]
    assert "missing" in line.label
    assert "not seen" not in str(gap)
    np.testing.assert_array_equal(new.scores, gap.scores)


@pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")
def test_unknown_levels_are_named_by_position_and_as_numbers():
    codes = RNG.integers(0, 3, N)
    model = bt.NaiveBayesClassifier(schema={"x0": "nominal"}).fit(codes[:, None], LABEL)
    assert model.explain([[7]])[0].evidence[0].value == "7 (not seen in training)"
    assert "not seen" not in str(model.explain([[1]])[0])


REVIEWS = {"review": ["sushi was awesome", "awesome sushi", "awful rice", "the rice was awful"], "y": ["+", "+", "-", "-"]}


@pytest.mark.parametrize(
    "model", [bt.NaiveBayesClassifier(), bt.LogisticRegression()], ids=lambda model: type(model).__name__
)
def test_unknown_words_are_counted(model):
    model.set_params(schema={"review": "text"}).fit(REVIEWS, "y")
    told = model.explain({"review": ["The sushi & everything else was awesome!", "everything", "sushi", None]})
    own = [[line.label for line in each.evidence if line.column == "review"] for each in told]
    assert own[0][-1] == "review = 2 unknown words"
    assert own[1] == ["review = 1 unknown word"]
    assert "unknown" not in str(told[2])
    assert own[3] == ["review = missing"]
    for each in told:
        np.testing.assert_allclose(each.start + sum(line.effect for line in each.evidence), each.scores)
