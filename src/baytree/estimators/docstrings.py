"""Shared docstring entries of estimators, inserted into numpydoc sections when a class is created.

An estimator class documents its own parameters and attributes. Entries that many estimators share (`schema`, `n_jobs`,
`classes_`, `X`, `sample_weight`, ...) are written once here: `completed` inserts the entries of a class, in the order of its
signature, and `complete_methods` those of its public methods. `tests/test_docstrings.py` compares the result with the
signatures and the fitted attributes.
"""

from __future__ import annotations

import inspect
import re
from textwrap import indent
from types import FunctionType

PARAMETERS = {
    "schema": (
        "dict or Schema, optional",
        "Declared columns; the others are inferred. A dict maps column names to a kind (``'numeric'``, ``'nominal'``,\n"
        "``'ordinal'``, ``'text'``), to an ordered list of levels, or to ``bt.Text(...)``. A list under the name of the\n"
        "target sets the order of the classes.",
    ),
    "unseen": (
        "{'missing', 'error'}, default='missing'",
        "How to treat a level that does not occur in the training rows: as a missing value, or as an error.",
    ),
    "costs": (
        "array-like or dict of dict, optional",
        "``costs[i][j]`` is the cost of predicting class j when i is true, in the order of `classes_` or by label, with 0\n"
        "on the diagonal. `predict` answers the class of least expected cost, the first one on ties; learning and\n"
        "`predict_proba` are unchanged. By default every mistake costs the same.",
    ),
    "averaging": (
        "{None, 'prunings'}, optional",
        "With ``'prunings'``, predict the exact Bayesian average over all prunings of the grown tree, each weighted by how\n"
        "well it explains the training rows (Buntine 1992; Willems, Shtarkov and Tjalkens 1995).",
    ),
    "monotone": (
        "dict, optional",
        "Monotonic constraints on numeric or ordinal columns: ``{'age': 'up', 'debt': 'down'}``. The prediction never\n"
        "decreases ('up') or increases ('down') with the column, all other columns being equal. For two classes, the\n"
        "probability of the second one is constrained; for more classes, the probability of each class or any later one,\n"
        "in the order of the classes. Logistic regression and MARS take constraints for a numeric target or two classes.",
    ),
    "first_split": (
        "str, optional",
        "Column that the root tests if it can be split by it; by default the best column.",
    ),
    "trace": (
        "bool, default=False",
        "Whether to record every candidate split of every node in `trace_`. Gains are per row of the node, in the unit of\n"
        "the criterion (bits for entropy); of a significance test, they are its statistic or −ln p.",
    ),
    "n_jobs": ("int, optional", "Number of threads; all cores by default. The model does not depend on it."),
    "profile": (
        "bool, default=True",
        "Whether to store the distribution of the training rows in `profile_`, which interviews, report pages and drift\n"
        "detection need.",
    ),
}

ATTRIBUTES = {
    "schema_": ("Schema", "Kinds and levels of the columns, inferred or declared."),
    "model_": ("Model", "Fitted model: a frozen record of arrays."),
    "profile_": (
        "Profile or None",
        "Distribution of the training rows: the levels or numbers of each column in each class. For tables above a million\n"
        "cells it is computed from a systematic sample (evenly spaced rows). None with ``profile=False``.",
    ),
    "classes_": ("ndarray of shape (n_classes,)", "Class labels, sorted or in the declared order."),
    "n_features_in_": ("int", "Number of columns seen during `fit`."),
    "feature_names_in_": ("ndarray of shape (n_features_in_,)", "Names of these columns, if all of them are strings."),
    "tree_": ("Tree", "The tree as flat arrays, one entry per node."),
    "n_nodes_": ("int", "Number of nodes, including leaves."),
    "n_leaves_": ("int", "Number of leaves."),
    "depth_": ("int", "Number of tests on the longest path from the root to a leaf."),
    "feature_importances_": (
        "ndarray of shape (n_features_in_,)",
        "Decrease of the criterion by the tests and surrogates of each column, normalised to sum to 1; 0 for columns that\n"
        "are not used for training.",
    ),
    "trace_": (
        "list of dict",
        "Every candidate split of every node if ``trace=True``, else empty (CHAID and merged trees: the chosen splits).",
    ),
    "history_": ("list of str", "Calls of `prune` and `snip` on the fitted tree, oldest first; `undo` reverts the last."),
    "statistic_": (
        "Statistic",
        "The statistic of all training rows, which `partial_fit`, `merge` and `forget` add to and subtract from.",
    ),
    "seen_": ("Statistic", "Older name of `statistic_`."),
}

_OF_TREES = ("tree_", "n_nodes_", "n_leaves_", "depth_", "feature_importances_", "trace_")

_HEADER = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def completed(kind: type) -> str:
    """Docstring of an estimator class, completed with the shared entries of its parameters and attributes."""
    text = inspect.cleandoc(kind.__doc__ or "")
    parameters = list(inspect.signature(kind).parameters)
    text = with_entries(text, "Parameters", {**getattr(kind, "_parameters", {}), **PARAMETERS}, parameters)
    return with_entries(text, "Attributes", ATTRIBUTES, [name for name in ATTRIBUTES if _may_have(kind, name)])


def entries(text: str, section: str) -> dict[str, str]:
    """Entries of a section of a numpydoc docstring, by name."""
    start, end = _bounds(text, section)
    parts = re.split(r"^(?=\S)", text[start:end], flags=re.MULTILINE)
    return {re.split(r"\s*:", entry)[0].strip(): entry.rstrip() for entry in parts if entry.strip()}


def with_entries(text: str, section: str, shared: dict[str, tuple[str, str]], names: list[str]) -> str:
    """Docstring whose section also has the shared entries of these names. Entries that the text already has are kept."""
    existing = entries(text, section)
    by_name = {**{name: _entry(name, *shared[name]) for name in names if name in shared}, **existing}
    order = [name for name in names if name in by_name] if section == "Parameters" else [*existing, *by_name]
    body = "\n".join(by_name[name] for name in dict.fromkeys([*order, *existing]))
    start, end = _bounds(text, section)
    if start == end:  # a new section follows the parameters
        start = end = _bounds(text, "Parameters")[1]
        body = f"{section}\n{'-' * len(section)}\n{body}"
        return "\n\n".join(part.strip("\n") for part in (text[:start], body, text[end:]) if part)
    return f"{text[:start]}{body}\n\n{text[end:]}".rstrip()


def _entry(name: str, kind: str, words: str) -> str:
    return f"{name} : {kind}\n{indent(words, '    ')}"


def _bounds(text: str, section: str) -> tuple[int, int]:
    """Start and end of the entries of a section; both are the end of the text if there is no such section."""
    headers = list(_HEADER.finditer(text))
    for k, header in enumerate(headers):
        if header[1] == section:
            return header.end(), headers[k + 1].start() if k + 1 < len(headers) else len(text)
    return len(text), len(text)


def _may_have(kind: type, name: str) -> bool:
    if name == "classes_":
        return hasattr(kind, "predict_proba")
    if name == "trace_" and "trace" not in inspect.signature(kind).parameters:
        return False
    if name in _OF_TREES and name != "trace_":
        return hasattr(kind, "tree_") and hasattr(kind, name)
    if name == "history_":
        return hasattr(kind, "history_")
    return name not in ("seen_", "statistic_") or hasattr(kind, "partial_fit")


METHOD_PARAMETERS = {
    "X": (
        "data frame, array, sparse matrix or dict of columns",
        "Rows: a data frame of any library, or an array (columns without names).",
    ),
    "y": ("str or array-like, optional", "Name of the target column in `X`, or one label per row."),
    "sample_weight": (
        "str or array-like, optional",
        "Weight of each row: the name of a column in `X`, or one number per row; 1 by default.",
    ),
    "classes": (
        "array-like, optional",
        "All classes that may occur in this or a later batch; by default the classes of the rows so far.",
    ),
    "other": ("estimator", "Fitted estimator of the same class and parameters."),
    "frame": (
        "data frame, optional",
        "Rows with their target; by default the profile of the training rows that the model has stored.",
    ),
    "reject": (
        "float, dict or prediction sets, optional",
        "When to reject a row instead of predicting it. A float is the minimum probability of the predicted class. A dict "
        "may hold `confidence` (the same), `cost` (cost of a rejection, relative to 1 for a mistake or to the model's own "
        "costs), `typicality` (minimum proportion of rows, expected under the model, that are at most as likely as this "
        "row) and `sets`. Prediction sets come from `baytree.conformal`: a class is then predicted only if it is the only "
        "one in its set.",
    ),
    "costs": (
        "array-like or dict of dict, optional",
        "Costs for these rows instead of the model's own: ``costs[i][j]`` of predicting class j when i is true, in the "
        "order of `classes_` or by label. The class of least expected cost is predicted, the first one on ties.",
    ),
    "sure": ("float, default=0.99", "Probability at which a class is accepted and the interview ends."),
    "target": ("str", "Target language or format, such as 'sql' or 'python': see `baytree.export`."),
    "path": ("path, optional", "File to write."),
    "rows": (
        "int or list of int, optional",
        "Rows of the frame to explain on the page: the number of worst and least certain rows, or a list of row indices.",
    ),
    "sets": (
        "PredictionSets or PredictionIntervals, optional",
        "Result of `baytree.conformal` for this model with ``cv='fitted'``; the page then shows the prediction set, or "
        "interval, of a row.",
    ),
    "options": ("keyword arguments", "Further options of the export target: see `baytree.export`."),
    "column": ("str", "Name of a column."),
    "ax": ("matplotlib Axes, optional", "Axes to draw on; new axes by default."),
    "n": ("int, default=1", "Number of rows."),
    "given": ("dict, optional", "Values to condition on: a value per column name, or the class under the target's name."),
    "random_state": ("int or Generator, optional", "Random seed; by default every call draws different rows."),
    "level": ("float, default=0.95", "Confidence level of the intervals."),
    "max_depth": ("int, optional", "Maximum depth of the tree that is shown; the whole tree by default."),
    "max_levels": ("int, default=12", "Maximum number of levels that a condition lists by name; None for all."),
}


def complete_methods(kind: type) -> None:
    """Add the missing parameter entries to the docstrings of all public methods that a class defines."""
    for name, value in list(vars(kind).items()):
        function = value.__func__ if isinstance(value, classmethod) else value
        if isinstance(function, FunctionType) and not name.startswith("_"):
            names = _parameters(function)
            if names:
                function.__doc__ = with_entries(
                    inspect.cleandoc(function.__doc__ or ""), "Parameters", METHOD_PARAMETERS, names
                )


def _parameters(function: FunctionType) -> list[str]:
    code = function.__code__
    starred = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount + starred])
