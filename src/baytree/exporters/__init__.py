"""Export a fitted model to another language or format: `export` and the table of exporters.

A model describes itself as a `Formula` (package `formula`); each exporter prints a formula in one target language and knows
nothing about models. To add a target, write a function of a formula and the target's options, and list it in `EXPORTERS`.
The package is called `exporters`, so that `bt.export` stays a function.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Literal, overload

from baytree._typing import TextTarget
from baytree.file_io.atomic import write_file

if TYPE_CHECKING:
    from baytree.base.predictor import FittedEstimator, Predictor
    from baytree.formula import Formula

# Exporter of each target: a function of a formula and the options of that target.
EXPORTERS: Mapping[str, str] = {
    "python": "exporters.python.source:module",
    "javascript": "exporters.javascript.source:script",
    "c": "exporters.c.source:file",
    "sql": "exporters.sql.query:query",
    "onnx": "exporters.onnx.file:model",
    "pmml": "exporters.pmml.file:document",
    "xlsx": "exporters.xlsx.workbook:workbook",
    "json": "formula:document",
}


@overload
def export(
    model: FittedEstimator | Predictor,
    target: TextTarget,
    path: str | os.PathLike | None = None,
    *,
    reject: float | None = None,
    **options: object,
) -> str: ...
@overload
def export(
    model: FittedEstimator | Predictor,
    target: Literal["onnx"],
    path: str | os.PathLike | None = None,
    *,
    reject: float | None = None,
    **options: object,
) -> bytes: ...
@overload
def export(
    model: FittedEstimator | Predictor,
    target: str,
    path: str | os.PathLike | None = None,
    *,
    reject: float | None = None,
    **options: object,
) -> str | bytes: ...
def export(
    model: FittedEstimator | Predictor,
    target: str,
    path: str | os.PathLike | None = None,
    *,
    reject: float | None = None,
    **options: object,
) -> str | bytes:
    """Export a fitted model as source text (or bytes) that predicts like `predict_proba` without this library.

    Parameters
    ----------
    model : fitted estimator
        Estimator whose schema and model are exported.
    target : {"python", "javascript", "c", "sql", "onnx", "pmml", "xlsx", "json"}
        "python": a module for Python 3.9 or later that imports the standard library only, with `predict(row)` and, for
        classes, `predict_proba(row)`; a row is a dict keyed by column name. None, NaN and absent keys are missing.
        "javascript": a script without requires, for node (CommonJS) or a page: `model.predict(row)`, `model.effects(row)`
        and, for classes, `model.predictProba(row)`; null, undefined, NaN and absent keys are missing.
        "c": one C99 file that needs the mathematical library only. "sql": a query. "onnx": a graph, as bytes. "pmml":
        a document of PMML 4.4. "xlsx": an Excel workbook with live formulas, as bytes. "json": the formula as records.
        `docs/guide/exports.md` describes how to call each of them and which models it refuses.
    path : path, optional
        File to which the text is also written.
    reject : float, optional
        Minimum probability of a predicted class, as in `predict`: below it the program predicts no class (None in Python,
        null in JavaScript, NULL in SQL, −1 in C, "" in ONNX). PMML cannot express this and raises a ValueError.
    options : keyword arguments
        Options of "sql": `dialect` ("duckdb", "sqlite", "postgres", "mysql", "spark", "bigquery", "snowflake", "tsql"),
        `table`, `view` (name of a view to create instead of a query) and `effects` (further columns with each
        column's contribution). Option of "xlsx": `rows`, the number of rows that can be typed (200).

    Returns
    -------
    str or bytes
        The exported program; bytes for "onnx" and "xlsx", otherwise text.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.NaiveBayesClassifier().fit({"size": [1.0, 2.0, 9.0], "y": ["a", "a", "b"]}, "y")
    >>> exported = {}
    >>> exec(bt.export(model, "python"), exported)
    >>> exported["predict"]({"size": 8.0})
    'b'
    """
    printed = program(model, target, reject=reject, **options)
    _warn_string_formats(model)
    if path is not None:
        write_file(path, printed if isinstance(printed, bytes) else printed.encode())
    return printed


def program(
    model: FittedEstimator | Predictor, target: str, *, reject: float | None = None, **options: object
) -> str | bytes:
    """Return the text that `export` returns, without its warnings; used by HTML pages, whose users did not call `export`."""
    if target not in EXPORTERS:
        raise ValueError(f"target={target!r} is not an export target; choose one of {', '.join(map(repr, EXPORTERS))}")
    formula = formula_of(model)
    if reject is not None:
        formula = _rejecting(formula, reject)
    return _exporter(target, options)(formula, **options)


def _rejecting(formula: Formula, min_probability: float) -> Formula:
    from baytree import param_validation
    from baytree.formula.transforms import abstain_below

    return abstain_below(formula, param_validation.number("reject", min_probability, 0, 1))


def formula_of(model: FittedEstimator | Predictor) -> Formula:
    """Formula of a fitted model, including its costs and its rule for levels that did not occur in training."""
    from baytree.base.predictor import Predictor

    predictor = model if isinstance(model, Predictor) else model._predictor
    predictor.check_target()
    return predictor.formula()


_EXPECTED_INPUT = {  # input that an exported program expects where the model parsed strings in a format
    "number": "expects numbers such as 39.1, not '39,1' or '5 kg'",
    "date": "expects ISO dates such as 2024-02-13, not local formats",
    "clock": "expects seconds since midnight, not '9:45 pm'",
}


def _warn_string_formats(model: FittedEstimator | Predictor) -> None:
    """Warn about string formats that the model parses and an exported program does not."""
    from baytree import _warnings
    from baytree.base.predictor import Predictor

    schema = (model if isinstance(model, Predictor) else model._predictor).schema
    formats = [(column.name, column.form) for column in schema.columns]
    messages = [
        f"column {name!r} {_EXPECTED_INPUT[form.kind]}"
        for name, form in formats
        if form and not form.part and form.kind in _EXPECTED_INPUT
    ]
    if messages:
        _warnings.warn(f"the exported program does not parse local formats: {'; '.join(messages)}")


def _exporter(target: str, options: Mapping[str, object]) -> Callable[..., str | bytes]:
    """Exporter function of a target; raises TypeError for an option that it does not have."""
    module, _, name = EXPORTERS[target].partition(":")
    printer = getattr(import_module(f"baytree.{module}"), name)
    _, *known = signature(printer).parameters
    for option in options:
        if option not in known:
            remedy = f"it has {', '.join(known)}" if known else "it has none"
            raise TypeError(f"{option}=: target {target!r} has no such option; {remedy}")
    return printer
