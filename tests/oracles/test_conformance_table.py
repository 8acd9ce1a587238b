"""The conformance table of the trees: every stored fit of every reference, its size and its predictions compared.

`pytest tests/oracles/test_conformance_table.py -m slow` prints it. A fit here sees the labels as a data frame has
them: categories in the order that the table declares, which is the reference's own.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import reference
from test_c45r8 import KEYS as C45_KEYS
from test_c50 import KEYS as C50_KEYS
from test_c50 import fitted as c50
from test_c50 import size as c50_size
from test_chaid_r import fitted as chaid
from test_rpart import _estimator as cart

import baytree as bt

J48_KEYS = {
    "default": {}, "unpruned": {"pruning": None}, "binary": {"binary": True}, "no_raising": {"raising": False},
    "laplace": {"laplace": True}, "m5_c10": {"min_objects": 5, "confidence": 0.10}, "midpoint_split": {"midpoint": True},
    "no_collapse_no_mdl": {"collapse": False, "mdl": False}, "reduced_error": {"pruning": "reduced_error"},
}  # fmt: skip


class Compared(NamedTuple):
    """One fit beside the reference's."""

    has_same_size: bool
    predicts_the_same: bool


def _declared(name: str) -> tuple[pd.DataFrame, pd.Categorical | np.ndarray]:
    X, y = reference.columns_and_labels(name)
    about = reference.frame(name)[1]
    return X, y if about["task"] == "regression" else pd.Categorical(y, about["columns"][about["target"]]["levels"])


def _close(model, X, classes: list[str], theirs: np.ndarray, tolerance: float) -> bool:
    ours = reference.in_order(model, X, classes)
    return bool(np.all(np.isnan(theirs) | (np.abs(ours - theirs) <= tolerance)))


def _rpart(stored: dict, name: str) -> Iterator[Compared]:
    X, y = _declared(name)
    for fit in stored["fits"].values():
        if "error" in fit:
            continue
        classes = stored.get("classes")
        weight = 1 + np.arange(1, len(X) + 1) % 3 if fit.get("weights") else None
        model = cart(fit, classes).fit(X, y, sample_weight=weight)
        node = {each["id"]: each for each in fit["nodes"]}
        where = fit.get("predict_where") or fit["where"]
        if classes:
            theirs = np.array([[np.nan] * len(classes) if i is None else node[i]["prob"] for i in where], float)
            same = _close(model, X, classes, theirs, 1e-8)
        else:
            theirs = np.array([np.nan if i is None else float(node[i]["yval"]) for i in where])
            same = bool(np.nanmax(np.abs(model.predict(X) - theirs)) <= 1e-8 * max(1.0, np.nanmax(np.abs(theirs))))
        yield Compared(model.n_leaves_ == sum(not each.get("split") for each in fit["nodes"]), same)


def _c45r8(stored: dict, name: str) -> Iterator[Compared]:
    X, y = _declared(name)
    for key, part in ((key, part) for key in C45_KEYS for part in ("unpruned", "pruned")):
        fit = stored["fits"].get(key, {}).get(part)
        if fit is None or "error" in fit:
            continue
        model = bt.C45Classifier(pruning="error_based" if part == "pruned" else None, **C45_KEYS[key]).fit(X, y)
        yield _quinlan(model, X, stored, fit, 1e-5)


def _j48(stored: dict, name: str) -> Iterator[Compared]:
    X, y = _declared(name)
    for key, options in J48_KEYS.items():
        fit = stored["fits"].get(key)
        if fit is None or "error" in fit:
            continue
        prune_on = {"prune_on": np.array(fit["prune_rows"])} if key == "reduced_error" else {}
        yield _quinlan(bt.C45Classifier(conventions="j48", **options).fit(X, y, **prune_on), X, stored, fit, 1e-8)


def _id3(stored: dict, name: str) -> Iterator[Compared]:
    X, y = _declared(name)
    fit = stored["fits"]["default"]
    _, theirs = reference.probabilities(fit["pred"]["dist"])
    theirs[theirs.sum(axis=1) == 0] = np.nan  # Id3 does not answer there
    model = bt.ID3Classifier().fit(X, y)
    yield Compared(True, _close(model, X, stored["classes"], theirs, 1e-8))


def _quinlan(model, X, stored: dict, fit: dict, tolerance: float) -> Compared:
    rows, theirs = reference.probabilities(fit["pred"]["dist"])
    seen = X if isinstance(rows, slice) else X.iloc[rows]
    same = _close(model, seen, stored["classes"], theirs, tolerance)
    return Compared((model.n_leaves_, model.n_nodes_) == (fit["leaves"], fit["size"]), same)


def _chaid(stored: dict, name: str) -> Iterator[Compared]:
    for key, fit in stored["fits"].items():
        if "error" in fit or not key.startswith("asymptotic"):
            continue
        model, X = chaid(stored, fit, name)
        leaves, waiting = {}, [fit["tree"]]
        while waiting:
            node = waiting.pop()
            waiting += node.get("kids") or []
            if not node.get("kids"):
                leaves[node["id"]] = node["counts"]
        theirs = np.array([leaves[i] for i in fit["terminal_node"]], float)
        theirs /= theirs.sum(axis=1, keepdims=True)
        same = _close(model, X[stored["variables"]], stored["classes"], theirs, 1e-8)
        yield Compared(model.n_leaves_ == len(leaves), same)


def _c50(stored: dict, name: str) -> Iterator[Compared]:
    for key in (key for key in C50_KEYS if key != "tree_subset" and "error" not in stored["fits"].get(key, {"error": ""})):
        model, X, fit = c50(stored, name, key)
        size = len(model.rules_[0]) if model.rules_ else model.trees_[0].n_leaves
        same = [str(label) for label in model.predict(X)] == [stored["classes"][code] for code in fit["class"]]
        if "prob" in fit and key != "costs":
            rows, theirs = reference.probabilities(fit["prob"])
            same = same and _close(model, X if isinstance(rows, slice) else X.iloc[rows], stored["classes"], theirs, 1e-5)
        yield Compared(size == c50_size(fit), same)


# How each reference is read, and how many fits differ at most: docs/conformance.md says why.
REFERENCES = {
    "rpart": (_rpart, 1),
    "c45r8": (_c45r8, 6),
    "j48": (_j48, 1),
    "id3": (_id3, 0),
    "c50": (_c50, 2),
    "chaid_r": (_chaid, 11),
}


@pytest.mark.slow
def test_the_conformance_table_has_no_new_difference(capsys):
    lines = [f"{'reference':10s} {'tables':>6s} {'fits':>5s} {'same trees':>10s} {'same predictions':>16s} {'both':>5s}"]
    for algorithm, (compare, most) in REFERENCES.items():
        fits, n_tables = [], 0
        for name in reference.tables(algorithm):
            try:
                fits += list(compare(reference.expected(algorithm, name), name))
                n_tables += 1
            except pytest.skip.Exception:  # a table that is not part of this clone
                continue
        both = sum(fit.has_same_size and fit.predicts_the_same for fit in fits)
        trees, predictions = sum(fit.has_same_size for fit in fits), sum(fit.predicts_the_same for fit in fits)
        lines.append(f"{algorithm:10s} {n_tables:6d} {len(fits):5d} {trees:10d} {predictions:16d} {both:5d}")
        assert len(fits) - both <= most, "\n".join(lines)
    with capsys.disabled():
        print("\n" + "\n".join(lines))
