"""A summary is a record of names and numbers: text is one printer of it, and JSON loses nothing of it."""

import json
from math import inf
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.rendering.model_text import text
from baytree.summary import from_json, to_json
from baytree.summary.naive_bayes import Amount, NaiveBayesSummary
from baytree.summary.tree import NamedCondition, Node, TreeSummary

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.baytree"))
TEXTS = Path(__file__).parent / "texts"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_stored_model_prints_as_on_the_day_it_was_stored(path):
    assert f"{bt.load(path)}\n" == (TEXTS / f"1-{path.stem[2:]}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_summary_goes_to_json_and_back_and_prints_the_same(path):
    model = bt.load(path)
    returns_as_it_went(model.model_.summary(model.schema_), str(model))


EVENTS = [{"numeric": "kernel"}, {"numeric": "discretized"}, {"conventions": "weka"}, {"conventions": "e1071"}]


@pytest.mark.parametrize("parameters", EVENTS, ids=str)
def test_so_does_the_summary_of_every_event(parameters):
    model = bt.NaiveBayesClassifier(**parameters).fit(bt.datasets.load("penguins"), "species")
    returns_as_it_went(model.model_.summary(model.schema_), str(model))


@pytest.mark.parametrize("event", ["bernoulli", "poisson", "multinomial", "complement"])
def test_so_does_the_summary_of_amounts(event):
    counts = pd.DataFrame(np.random.default_rng(0).poisson(3, (60, 2)), columns=["a", "b"])
    model = bt.NaiveBayesClassifier(events=dict.fromkeys(counts, event)).fit(counts, np.arange(60) % 3)
    returns_as_it_went(model.model_.summary(model.schema_), str(model))


def test_dates_are_numbers_in_the_record_and_dates_in_the_text():
    days = pd.date_range("2020-01-01", periods=60)
    model = bt.NaiveBayesClassifier().fit(pd.DataFrame({"day": days}), np.where(np.arange(60) < 30, "early", "late"))
    summary = model.model_.summary(model.schema_)
    assert "2020-01-15" in text(summary)
    assert "2020-01-15" not in to_json(summary).decode()
    returns_as_it_went(summary, str(model))


def test_numbers_that_json_has_no_word_for_return():
    amounts = Amount("a", "mean", (inf, -inf, 1.0))
    summary = NaiveBayesSummary("y", ("inf", "b", "c"), (0.5, 0.5, 0.0), (amounts,))
    returns_as_it_went(summary, text(summary))
    root = Node(0, 0, None, 2, 2.0, 0, 0.5, column="x", branches=2)
    least = Node(1, 1, NamedCondition("x", high=-inf), 1, 1.0, 0, 1.0)
    others = Node(2, 1, NamedCondition("x"), 1, 1.0, 1, 1.0)
    summary = TreeSummary("y", ("a", "b"), (root, least, others))
    returns_as_it_went(summary, text(summary))
    assert text(summary).splitlines()[1:3] == ["├─ x ≤ -inf: a (no rows)", "└─ x known: b (no rows)"]


def returns_as_it_went(summary, printed):
    written = to_json(summary)
    json.loads(written, parse_constant=pytest.fail)
    assert from_json(written) == summary
    assert text(from_json(written)) == text(summary) == printed
