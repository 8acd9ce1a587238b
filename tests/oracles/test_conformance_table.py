"""The conformance page counts what is found here: every stored fit of every tree, its size and its predictions compared.

`pytest tests/oracles/test_conformance_table.py -m slow` prints the counts. A fit here sees the labels as a data frame has
them: categories in the order that the table declares, which is the reference's own.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import reference
from test_bayes import SETTINGS as BAYES_KEYS
from test_c45r8 import KEYS as C45_KEYS
from test_c50 import KEYS as C50_KEYS
from test_c50 import fitted as c50
from test_c50 import size as c50_size
from test_chaid_r import fitted as chaid
from test_earth import GLM as EARTH_GLM
from test_earth import KEYS as EARTH_KEYS
from test_earth import TABLES as EARTH_TABLES
from test_glmnet import KEYS as GLMNET_KEYS
from test_lda_qda import KEYS as DISCRIMINANT_KEYS
from test_rpart import _estimator as cart
from test_text_nb import MODELS as TEXT_KEYS

import baytree as bt

J48_KEYS = {
    "default": {}, "unpruned": {"pruning": None}, "binary": {"binary": True}, "no_raising": {"raising": False},
    "laplace": {"laplace": True}, "m5_c10": {"min_objects": 5, "confidence": 0.10}, "midpoint_split": {"midpoint": True},
    "no_collapse_no_mdl": {"collapse": False, "mdl": False}, "reduced_error": {"pruning": "reduced_error"},
}  # fmt: skip


class Counted(NamedTuple):
    """Fits of a reference, and those that are identical here."""

    fits: int
    identical: int


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
        model, X, fit = c50(name, key)
        size = len(model.rules_[0]) if model.rules_ else model.trees_[0].n_leaves
        same = [str(label) for label in model.predict(X)] == [stored["classes"][code] for code in fit["class"]]
        if "prob" in fit and key != "costs":
            rows, theirs = reference.probabilities(fit["prob"])
            same = same and _close(model, X if isinstance(rows, slice) else X.iloc[rows], stored["classes"], theirs, 1e-5)
        yield Compared(size == c50_size(fit), same)


# How the fits of each reference are compared, by the row of docs/conformance.md that counts them.
REFERENCES = {
    "rpart 4.1.19 (CART)": ("rpart", _rpart),
    "C4.5 release 8, pruned and unpruned": ("c45r8", _c45r8),
    "Weka 3.8.7 J48, nine settings": ("j48", _j48),
    "Weka 3.6.14 Id3": ("id3", _id3),
    "C5.0 2.07 (R's C50 0.2.0), eleven settings": ("c50", _c50),
    "R CHAID 0.1-2, asymptotic": ("chaid_r", _chaid),
}
# Which stored fits the tests beside this one compare, all of which must be identical.
STORED = {
    "e1071 naive Bayes": ("e1071_naivebayes", tuple(BAYES_KEYS["e1071_naivebayes"])),
    "Weka naive Bayes: normal, kernel, discretised": ("weka_naivebayes", tuple(BAYES_KEYS["weka_naivebayes"])),
    "text naive Bayes (scikit-learn, Weka)": ("text_nb", (*TEXT_KEYS, "weka_multinomial")),
    "MASS lda, qda": ("lda_qda", tuple(DISCRIMINANT_KEYS)),
    "glmnet lasso, ridge, elastic net": ("glmnet", tuple(GLMNET_KEYS)),
    "earth 5.3.2 (MARS), eight settings of least squares": ("earth", tuple(EARTH_KEYS)),
    "earth 5.3.2, the glm step": ("earth", tuple(EARTH_GLM)),
}
PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"


@pytest.mark.slow
def test_the_conformance_page_counts_the_trees_that_are_fitted_here(capsys):
    lines = [f"{'reference':45s} {'tables':>6s} {'fits':>5s} {'same trees':>10s} {'same predictions':>16s} {'both':>5s}"]
    for row, (algorithm, compare) in REFERENCES.items():
        stored = list(_found(algorithm))
        fits = [fit for name, answers in stored for fit in compare(answers, name)]
        both = sum(fit.has_same_size and fit.predicts_the_same for fit in fits)
        trees, predictions = sum(fit.has_same_size for fit in fits), sum(fit.predicts_the_same for fit in fits)
        lines.append(f"{row:45s} {len(stored):6d} {len(fits):5d} {trees:10d} {predictions:16d} {both:5d}")
        told = _told(row)
        assert len(fits) - both <= told.fits - told.identical, "\n".join(lines)
        assert len(stored) < len(_tables(algorithm)) or told == Counted(len(fits), both), "\n".join(lines)
    with capsys.disabled():
        print("\n" + "\n".join(lines))


@pytest.mark.parametrize("row", STORED)
def test_the_conformance_page_counts_the_stored_fits(row):
    algorithm, keys = STORED[row]
    stored = list(_found(algorithm))
    if len(stored) < len(_tables(algorithm)):
        pytest.skip("some tables are under the GPL and not part of this clone")
    fits = [answers["fits"].get(key) or {"error": "not run"} for _, answers in stored for key in keys]
    n_fits = sum(len(fit.get("at", [fit])) for fit in fits if "error" not in fit)  # of a path at several λ
    assert _told(row) == Counted(n_fits, n_fits)


def _tables(algorithm: str) -> Sequence[str]:
    return EARTH_TABLES if algorithm == "earth" else reference.tables(algorithm)


def _found(algorithm: str) -> Iterator[tuple[str, dict]]:
    """The stored answers of each table that is part of this clone or beside it."""
    for name in _tables(algorithm):
        with suppress(pytest.skip.Exception):
            reference.frame(name)
            yield name, reference.expected(algorithm, name)


def _told(row: str) -> Counted:
    """What the page says of a reference."""
    cells = next(line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {row} |"))
    return Counted(int(cells[2]), int(cells[3]))
