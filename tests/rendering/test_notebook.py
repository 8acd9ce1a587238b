"""What a notebook shows: a table for every result, every name escaped."""

from html.parser import HTMLParser

import pytest

import baytree as bt

PENGUINS = bt.datasets.load("penguins")
HOSTILE = PENGUINS.rename(columns={"island": "<script>alert(1)</script>"})


class Rows(HTMLParser):
    """How many rows the tables of a page have, and which elements there are."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)


def results(frame):
    tree, found = bt.CARTClassifier().fit(frame, "species"), bt.cross_validate(bt.CARTClassifier(), frame, "species", cv=3)
    return {
        "schema": (tree.schema_, len(tree.schema_.columns) + 2),
        "ranking": (ranking := bt.rank_features(frame, "species"), len(ranking) + 1),
        "cross-validation": (found, len(found.metrics) + 1),
        "rules": (tree.rules(), tree.n_leaves_ + 1),
        "importances": (tree.importances(), len(tree.importances()) + 1),
    }


SHOWN, NASTY = results(PENGUINS), results(HOSTILE)


@pytest.mark.parametrize("name", SHOWN)
def test_every_result_is_a_table_in_a_notebook(name):
    result, n_rows = SHOWN[name]
    assert Rows(result._repr_html_()).tags.count("tr") == n_rows


@pytest.mark.parametrize("name", NASTY)
def test_no_name_breaks_out_of_the_table(name):
    tags = Rows(NASTY[name][0]._repr_html_()).tags
    assert tags.count("script") == 1  # the view's own
    assert set(tags) == set(Rows(SHOWN[name][0]._repr_html_()).tags)


def test_a_list_of_explanations_shows_each_and_counts_the_rest():
    every = bt.NaiveBayesClassifier().fit(PENGUINS, "species").explain(PENGUINS.head(25))
    assert isinstance(every, list)
    assert Rows(every._repr_html_()).tags.count("table") == 20
    assert "5 more" in every._repr_html_()
