"""A fitted model as a program elsewhere: one printer of formulas for each target.

A printer reads a `Formula` and knows nothing of models. The room is called `exports`, so that `bt.export` stays a function.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Protocol

from baytree.file_io.atomic import write_file

if TYPE_CHECKING:
    from baytree.base.predictor import Predictor
    from baytree.formula import Formula

# The printer of each target, a function of a formula and the target's own options.
EXPORTERS: Mapping[str, str] = {
    "python": "exporters.python.source:module",
    "javascript": "exporters.javascript.source:script",
    "c": "exporters.c.source:file",
    "sql": "exporters.sql.query:query",
    "onnx": "exporters.onnx.file:model",
    "pmml": "exporters.pmml.file:document",
    "json": "formula:document",
}


class FittedEstimator(Protocol):
    """What can be exported: an estimator that has learnt."""

    @property
    def _predictor(self) -> Predictor: ...


def export(
    model: FittedEstimator | Predictor,
    target: str,
    path: str | os.PathLike | None = None,
    *,
    reject: float | None = None,
    **options: object,
) -> str | bytes:
    """A fitted model as source text (or bytes) that answers like `predict_proba` without this library.

    Parameters
    ----------
    model : fitted estimator
        What is exported: its schema and its model.
    target : {"python", "javascript", "c", "sql", "onnx", "pmml", "json"}
        "python": a module for Python 3.9 or later that imports the standard library only, with `predict(row)` and, for
        classes, `predict_proba(row)`; a row is a dict by the names of columns. None, NaN and what is left out are missing.
        "javascript": a script without requires, for node (CommonJS) or a page: `model.predict(row)`, `model.effects(row)`
        and, for classes, `model.predictProba(row)`; null, undefined, NaN and what is left out are missing.
        "c": one C99 file that needs the mathematical library only. "sql": a query. "onnx": a graph, as bytes. "pmml":
        a document of PMML 4.4. "json": the formula as records. `docs/guide/exports.md` tells how each is called and what
        it refuses.
    path : path, optional
        Where the text is written, too.
    reject : float, optional
        The least probability of a class that is answered, as in `predict`: below it the program answers nothing (None in
        Python, null in JavaScript, NULL in SQL, −1 in C, "" in ONNX). PMML has no such answer and refuses.
    options : keyword arguments
        Options of "sql": `dialect` ("duckdb", "sqlite", "postgres", "mysql", "spark", "bigquery", "snowflake", "tsql"),
        `table`, `view` (a name, for a view instead of a query) and `effects` (what each column adds, as columns).

    Returns
    -------
    str or bytes
        The text.

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
    _tell_forms(model)
    if path is not None:
        write_file(path, printed if isinstance(printed, bytes) else printed.encode())
    return printed


def program(
    model: FittedEstimator | Predictor, target: str, *, reject: float | None = None, **options: object
) -> str | bytes:
    """The text that `export` returns, without its warnings: for pages, whose users exported nothing."""
    if target not in EXPORTERS:
        raise ValueError(f"target={target!r}: no such export; there is {', '.join(map(repr, EXPORTERS))}")
    formula = formula_of(model)
    if reject is not None:
        formula = _rejecting(formula, reject)
    return _checked(target, options)(formula, **options)


def _rejecting(formula: Formula, least: float) -> Formula:
    from baytree import param_validation
    from baytree.formula.transforms import abstain_below

    return abstain_below(formula, param_validation.number("reject", least, 0, 1))


def formula_of(model: FittedEstimator | Predictor) -> Formula:
    """What a fitted model computes, with its rule for levels that were never seen."""
    import msgspec

    from baytree.base.predictor import Predictor

    predictor = model if isinstance(model, Predictor) else model._predictor
    return msgspec.structs.replace(predictor.model.formula(predictor.schema), unseen=predictor.unseen)


_TAKEN = {  # what a program takes where the model read strings of a form
    "number": "takes numbers such as 39.1, not '39,1' or '5 kg'",
    "date": "takes ISO dates such as 2024-02-13, not local forms",
    "clock": "takes seconds since midnight, not '9:45 pm'",
}


def _tell_forms(model: FittedEstimator | Predictor) -> None:
    """Warns of the forms of strings that the model reads and an exported program does not."""
    from baytree import _warnings
    from baytree.base.predictor import Predictor

    schema = (model if isinstance(model, Predictor) else model._predictor).schema
    read = [(column.name, column.form) for column in schema.columns]
    told = [f"column {name!r} {_TAKEN[form.kind]}" for name, form in read if form and not form.part and form.kind in _TAKEN]
    if told:
        _warnings.warn(f"the exported program reads no local forms: {'; '.join(told)}")


def _checked(target: str, options: Mapping[str, object]) -> Callable[..., str | bytes]:
    """The printer of a target, which must have these options."""
    module, _, name = EXPORTERS[target].partition(":")
    printer = getattr(import_module(f"baytree.{module}"), name)
    _, *known = signature(printer).parameters
    for option in options:
        if option not in known:
            remedy = f"it has {', '.join(known)}" if known else "it has none"
            raise TypeError(f"{option}=: target {target!r} has no such option; {remedy}")
    return printer
