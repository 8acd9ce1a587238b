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
