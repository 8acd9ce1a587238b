"""Docstrings of estimators: what many of them share is written here, once, and put into each one's own sections.

A class writes its own parameters and attributes; those that it shares with others are inserted, in the order of the
signature, when the class is made. `tests/test_docstrings.py` compares the result with signatures and fitted attributes.

Docstrings of the methods of estimators: a parameter that means the same in many of them is described here, once.
"""

from __future__ import annotations

import inspect
import re
from textwrap import indent
from types import FunctionType

PARAMETERS = {
    "schema": (
        "dict or Schema, optional",
        "What columns are, where that should not be inferred: a kind (``'numeric'``, ``'nominal'``, ``'ordinal'``,\n"
        "``'text'``), a list of levels in their order, or ``bt.Text(...)``, by the names of columns. A list under the name\n"
        "of the target is the order of its classes.",
    ),
    "unseen": (
        "{'missing', 'error'}, default='missing'",
        "What a level is that was not seen in training: a missing value, or an error.",
    ),
    "averaging": (
        "{None, 'prunings'}, optional",
        "With ``'prunings'`` the tree answers with the exact average over all prunings of the grown tree, each weighed by\n"
        "how well it explains the rows (Buntine 1992; Willems, Shtarkov and Tjalkens 1995).",
    ),
    "monotone": (
        "dict, optional",
        "Columns of numbers or ranks that answers must follow, whatever others hold: ``{'age': 'up', 'debt': 'down'}``.\n"
        "Of classes, the probability of a class or any later one, for each class in its order; of two, that of the second.\n"
        "Logistic regression and MARS follow columns for numbers and two classes.",
    ),
    "first_split": (
        "str, optional",
        "The column that the root asks for, where it can be split by it at all; by default the best one.",
    ),
    "trace": ("bool, default=False", "Whether every candidate of every node is kept in `trace_`."),
    "n_jobs": ("int, optional", "The number of threads; all cores by default. The model does not depend on it."),
    "profile": (
        "bool, default=True",
        "Whether what the rows looked like is kept beside the model, for questions, pages and drift: see `profile_`.",
    ),
}

ATTRIBUTES = {
    "schema_": ("Schema", "Kinds and levels of the columns, as inferred or declared."),
    "model_": ("Model", "What was learnt: a frozen record of arrays."),
    "profile_": (
        "Profile or None",
        "What the rows looked like: each column's levels or numbers in each class. Of tables above a million cells it is\n"
        "that of rows at even distances. None with ``profile=False``.",
    ),
    "classes_": ("ndarray of shape (n_classes,)", "The classes: sorted, or in the order that was declared."),
    "n_features_in_": ("int", "The number of columns that were given."),
    "feature_names_in_": ("ndarray of shape (n_features_in_,)", "Their names, where all of them are strings."),
    "tree_": ("Tree", "The tree as flat arrays over its nodes."),
    "n_nodes_": ("int", "The number of nodes, leaves included."),
    "n_leaves_": ("int", "The number of leaves."),
    "depth_": ("int", "The number of tests on the longest way from the root to a leaf."),
    "feature_importances_": (
        "ndarray of shape (n_features_in_,)",
        "Decrease of the criterion by the tests and surrogates of each column, as a proportion; 0 for columns left out.",
    ),
    "trace_": (
        "list of dict",
        "With ``trace=True`` every candidate of every node, else empty (CHAID and merged trees: the splits that were made).",
    ),
    "history_": ("list of str", "What `prune` and `snip` have done to the fitted tree, step by step; `undo` goes back."),
    "seen_": ("Statistic", "What was seen of the rows: all that `partial_fit`, `merge` and `forget` need."),
}

_OF_TREES = ("tree_", "n_nodes_", "n_leaves_", "depth_", "feature_importances_", "trace_")

_HEADER = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def completed(kind: type) -> str:
    """The docstring of an estimator with the entries that it shares with others."""
    text = inspect.cleandoc(kind.__doc__ or "")
    parameters = list(inspect.signature(kind).parameters)
    text = with_entries(text, "Parameters", {**getattr(kind, "_parameters", {}), **PARAMETERS}, parameters)
    return with_entries(text, "Attributes", ATTRIBUTES, [name for name in ATTRIBUTES if _may_have(kind, name)])


def entries(text: str, section: str) -> dict[str, str]:
    """The entries of a section of a numpydoc text, by name."""
    start, end = _bounds(text, section)
    found = re.split(r"^(?=\S)", text[start:end], flags=re.MULTILINE)
    return {re.split(r"\s*:", entry)[0].strip(): entry.rstrip() for entry in found if entry.strip()}


def with_entries(text: str, section: str, shared: dict[str, tuple[str, str]], names: list[str]) -> str:
    """The text, its section with the shared entries of these names; what the text says itself stays."""
    own = entries(text, section)
    written = {**{name: _entry(name, *shared[name]) for name in names if name in shared}, **own}
    order = [name for name in names if name in written] if section == "Parameters" else [*own, *written]
    body = "\n".join(written[name] for name in dict.fromkeys([*order, *own]))
    start, end = _bounds(text, section)
    if start == end:  # a section that is not there yet follows the parameters
        start = end = _bounds(text, "Parameters")[1]
        body = f"{section}\n{'-' * len(section)}\n{body}"
        return "\n\n".join(part.strip("\n") for part in (text[:start], body, text[end:]) if part)
    return f"{text[:start]}{body}\n\n{text[end:]}".rstrip()


def _entry(name: str, kind: str, words: str) -> str:
    return f"{name} : {kind}\n{indent(words, '    ')}"


def _bounds(text: str, section: str) -> tuple[int, int]:
    """Where the entries of a section begin and end: both at the end of the text where there is no such section."""
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
    return name != "seen_" or hasattr(kind, "partial_fit")


METHOD_PARAMETERS = {
    "X": (
        "data frame, array, sparse matrix or dict of columns",
        "The rows: a frame of any library, or an array whose columns have no names.",
    ),
    "y": ("str or array-like, optional", "The name of the target column in `X`, or the labels, one for each row."),
    "sample_weight": (
        "str or array-like, optional",
        "How much each row counts: the name of a column in `X`, or a number for each row; 1 by default.",
    ),
    "classes": ("array-like, optional", "All classes that may ever come; without them, those of the rows so far."),
    "other": ("estimator", "A fitted estimator of the same kind and parameters."),
    "frame": (
        "data frame, optional",
        "Rows with their target; without them, what the model has kept of the rows that it has learnt from.",
    ),
    "reject": (
        "float, dict or prediction sets, optional",
        "When to say nothing: the least probability of an answer; a dict of `confidence` (that), `cost` (of saying "
        "nothing, beside 1 for a mistake or the model's own costs), `typicality` (the least share of rows, as the model "
        "expects them, that are as unlikely) and `sets`; or what `baytree.conformal` gave: an answer is then what stands "
        "alone in its set.",
    ),
    "sure": ("float, default=0.99", "How probable a class must be to be the answer."),
    "target": ("str", "What to write, such as 'sql' or 'python': see `baytree.export`."),
    "path": ("path, optional", "The file to write."),
    "rows": (
        "int or list of int, optional",
        "Rows of the frame that the page explains: so many of the worst and most doubtful, or those at these places.",
    ),
    "sets": (
        "PredictionSets or PredictionIntervals, optional",
        "What `baytree.conformal` gave for this model with ``cv='fitted'``: the page tells a row's set, or interval.",
    ),
    "options": ("keyword arguments", "What else that target takes: see `baytree.export`."),
    "column": ("str", "The name of a column."),
    "ax": ("matplotlib Axes, optional", "Where to draw; new axes by default."),
    "n": ("int, default=1", "The number of rows."),
    "given": ("dict, optional", "What is known: a value for each of these columns, or for the target."),
    "random_state": ("int or Generator, optional", "The seed; by default every call draws other rows."),
    "level": ("float, default=0.95", "The confidence of the intervals."),
    "max_depth": ("int, optional", "How many levels of the tree are shown; all by default."),
    "max_levels": ("int, default=12", "How many levels of a column are named in a condition; None for all."),
}


def complete_methods(kind: type) -> None:
    """Gives each public method that a class defines an entry for every parameter."""
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
