"""Naive Bayes beside e1071 and Weka on their own tables: the same posteriors to 1e-8."""

import numpy as np
import pytest
import reference

import baytree as bt

SETTINGS = {
    "e1071_naivebayes": {"laplace0": {"estimate": "mle", "alpha": 0.0}, "laplace1": {"alpha": 1.0}},
    "weka_naivebayes": {
        "default": {},
        "supervised_discretization": {"numeric": "discretized"},
        "kernel": {"numeric": "kernel"},
    },
}
CASES = [(program, table, key) for program, keys in SETTINGS.items() for table in reference.tables(program) for key in keys]
LARGE = {"adult", "mushroom", "segment", "nursery", "letter"}


@pytest.mark.parametrize(
    ("program", "table", "key"),
    [pytest.param(*case, marks=pytest.mark.slow if case[1] in LARGE else ()) for case in CASES],
)
def test_posteriors_are_those_of_the_reference_program(program, table, key):
    expected = reference.expected(program, table)
    fit = expected["fits"].get(key)
    if not fit or "error" in fit:
        pytest.skip(f"{program} has no fit {key!r} of {table}")
    X, y = reference.columns_and_labels(table)
    model = bt.NaiveBayesClassifier(conventions=program.split("_")[0], **SETTINGS[program][key])
    # all classes that were declared to the reference, also those without rows
    model.partial_fit(X, y, classes=np.array(expected["classes"], dtype=object))
    rows, theirs = reference.probabilities(fit)
    mine = reference.in_order(model, X, expected["classes"])[rows]
    known = ~np.isnan(theirs)
    assert np.abs(mine - theirs)[known].max(initial=0) <= 1e-8
