"""Docstrings of the methods of estimators: a parameter that means the same in many of them is described here, once."""

from __future__ import annotations

import inspect
from types import FunctionType

from baytree.estimators.docstrings import with_entries

PARAMETERS = {
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
                function.__doc__ = with_entries(inspect.cleandoc(function.__doc__ or ""), "Parameters", PARAMETERS, names)


def _parameters(function: FunctionType) -> list[str]:
    code = function.__code__
    starred = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount + starred])
