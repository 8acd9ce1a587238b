"""C5.0, fit by fit: the size of the first tree or rule set, the class of every row, and the stored probabilities."""

from functools import cache
from math import floor

import numpy as np
import pandas as pd
import pytest
from reference import columns_and_labels, expected, frame, in_order, probabilities, tables

from baytree import C50Classifier

KEYS = {
    "tree": {},
    "tree_subset": {},
    "rules": {"rules": True},
    "boost10": {"trials": 10},
    "rules_boost5": {"rules": True, "trials": 5},
    "tree_no_global_pruning": {"global_pruning": False},
    "tree_subset_off": {"subset": False},
    "tree_CF10_min10": {"confidence": 0.10, "min_cases": 10},
    "tree_fuzzy": {"fuzzy": True},
    "winnow": {"winnow": True},
    "costs": {},
    "weights": {},
}
# Where no rule holds, the program gives the class of autos that never occurs its share too.
ONE_CLASS_MORE = {("autos", "rules")}
# cmc: a row with the program's probabilities and another class; soybean: a later trial. (proportion of rows that agree)
OTHER_TRIALS = {("cmc", "tree_fuzzy"): 0.999, ("soybean", "boost10"): 0.99}
# The program gives each class 1/k where no rule was formed, we give the class proportions of the training rows.
NO_RULES = {(name, key) for name in ("enjoysport", "kyphosis") for key in ("rules", "rules_boost5")}


@cache  # several tests and the conformance page read the same fits
def fitted(name, key):
    """The model of a stored fit, its columns, and the fit."""
    stored = expected("c50", name)
    fit, classes = stored["fits"].get(key), stored["classes"]
    if fit is None or "error" in fit:
        pytest.skip(f"{name}: C5.0 was not run with {key}")
    X, y = columns_and_labels(name)
    about = frame(name)[1]
    y = pd.Categorical(y, about["columns"][about["target"]]["levels"])
    theirs = fit["args"].get("costs") if key == "costs" else None  # [predicted][true]
    costs = theirs and {a: {b: theirs[j][i] for j, b in enumerate(classes)} for i, a in enumerate(classes)}
    weight = np.array(fit["args"]["weights"], float) if key == "weights" else None
    return C50Classifier(costs=costs, **KEYS[key]).fit(X, y, sample_weight=weight), X, fit


def leaves(node):
    """The leaves that hold rows."""
    below = [leaves(branch["node"]) for branch in node.get("branches") or [] if branch["value"] != "N/A"]
    return sum(below) if below else int(sum(node.get("freq") or [0]) > 0)


def size(fit):
    return len(fit["rulesets"][0]["rules"]) if "rulesets" in fit else leaves(fit["trees"][0])


@pytest.mark.parametrize("key", list(KEYS))
@pytest.mark.parametrize("name", tables("c50"))
def test_the_model_is_that_of_c50(name, key):
    stored = expected("c50", name)
    model, X, fit = fitted(name, key)
    assert (len(model.rules_[0]) if model.rules_ else model.trees_[0].n_leaves) == size(fit)
    ours, theirs = [str(label) for label in model.predict(X)], [stored["classes"][code] for code in fit["class"]]
    if (name, key) in OTHER_TRIALS:
        assert np.mean(np.array(ours) == np.array(theirs)) >= OTHER_TRIALS[name, key]
        return
    assert ours == theirs
    if "prob" in fit and key != "costs" and (name, key) not in ONE_CLASS_MORE | NO_RULES:
        rows, theirs = probabilities(fit["prob"])
        ours = in_order(model, X if isinstance(rows, slice) else X.iloc[rows], stored["classes"])
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", tables("c50"))
def test_rules_have_the_order_cover_and_confidence_of_c50(name):
    model, _, fit = fitted(name, "rules")
    theirs = fit["rulesets"][0]
    classes = [str(label) for label in model.classes_]
    told = [(rule.label, -rule.thousandths, rule.cover, rule.right, rule.lift) for rule in model.rules_[0]]
    want = [
        (classes.index(r["class"]), -floor(1000 * r["confidence"] + 0.5), r["cover"], r["ok"], r["lift"])
        for r in theirs["rules"]
    ]
    assert [each[:2] for each in told] == [each[:2] for each in want]
    told, want = sorted(told), sorted(want)  # rules of the same class and vote may stand in another order
    assert [each[:4] for each in told] == [each[:4] for each in want]
    assert [each[4] for each in told] == pytest.approx([each[4] for each in want], rel=0.01)  # printed to three digits
    assert classes[model.rules_[0].default] == theirs["default"]
