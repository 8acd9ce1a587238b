"""A: what is given to an estimator never breaks it: junk, strange strings, columns in any order, weights."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.base import clone

from figure import Figure, Scope, each
from metamorphic import SUBJECTS, Subject, allowed, level_classifiers, mixed, own_laws, weight_zero, whole_weights
from test_junk import NAMES, call_with_junk

ALPHABET = [
    "a",
    "b",
    "A",
    "\0",
    "\ud800",
    "\udfff",
    "é",
    "e\u0301",
    "ß",
    "\u202e",
    "\n",
    " ",
    "",
    "💥",
    "\x1b[31m",
    "0",
    "nan",
]


def junk(scope: Scope) -> Iterator[Figure]:
    """A3: no internal error leaves the package."""
    tasks = [(name, seed) for name in NAMES for seed in scope.seeds(20_000 // len(NAMES) + 1)]
    leaks = [leak for leak in each(_leak, tasks) if leak]
    found = leaks[0] if leaks else "none"
    yield Figure("A3", "every estimator", "no internal error leaves the package", len(tasks), found, not leaks)


def _leak(task: tuple[str, int]) -> str:
    warnings.simplefilter("ignore")
    try:
        call_with_junk(*task)
    except AssertionError as error:
        return str(error)
    return ""


def column_names(_: Scope) -> Iterator[Figure]:
    """A4: columns are known by their names, in every engine."""
    for name in level_classifiers():
        cases, wrong = 0, 0
        for engine in (pd.DataFrame, pl.from_pandas, pa.Table.from_pandas):
            right, tried = _named_columns(name, engine)
            cases, wrong = cases + tried, wrong + tried - right
        yield Figure(
            "A4",
            name,
            "columns in any order; missing, renamed and doubled names refused where they decide an answer",
            cases,
            f"{wrong} wrong",
            not wrong,
        )


def _named_columns(name: str, engine: object) -> tuple[int, int]:
    rows = mixed(0)
    model = clone(SUBJECTS[name].estimator).fit(engine(rows.X), rows.y)
    expected = model.predict_proba(engine(rows.X))
    verdicts = [
        np.array_equal(model.predict_proba(engine(rows.X[list(order)])), expected)
        for order in itertools.permutations(rows.X.columns)
    ]
    verdicts.append(np.array_equal(model.predict_proba(engine(rows.X.assign(extra=1.0))), expected))
    for without in (rows.X.drop(columns="b"), rows.X.rename(columns={"b": "B"})):
        verdicts.append(_refuses(model, engine(without), "b", otherwise=expected))
    if engine is pd.DataFrame:
        verdicts.append(_refuses(model, pd.concat([rows.X, rows.X[["b"]]], axis=1), "b"))
    return sum(verdicts), len(verdicts)


def _refuses(model: object, X: object, column: str, otherwise: np.ndarray | None = None) -> bool:
    """Whether a column is refused by its name; or answers otherwise, as a column may be absent that decides none."""
    try:
        answers = model.predict_proba(X)
    except ValueError as error:
        return repr(column) in str(error)
    return otherwise is not None and np.array_equal(answers, otherwise)


def strings(scope: Scope) -> Iterator[Figure]:
    """A5: any strings at fit, any at predict."""
    names = level_classifiers()
    if not names:
        return
    tasks = [(name, seed) for name in names for seed in scope.seeds(10_000 // len(names) + 1)]
    faults = [fault for fault in each(_fault_of_strings, tasks) if fault]
    found = faults[0] if faults else "no exception, no merged level"
    yield Figure("A5", "every classifier", "unseen, missing, empty and strange strings", len(tasks), found, not faults)


def _fault_of_strings(task: tuple[str, int]) -> str:
    warnings.simplefilter("ignore")
    name, seed = task
    random = np.random.default_rng(seed)
    seen, asked = _texts(random, random.integers(2, 13)), [*_texts(random, random.integers(1, 13)), None]
    if seed % 1000 == 0:
        asked.append("x" * 10_000_000)
    try:
        model = clone(SUBJECTS[name].estimator).set_params(schema={"x": "nominal"})
        model.fit({"x": seen}, np.arange(len(seen)) % 2)
        proba = model.predict_proba({"x": asked})
    except Exception as error:  # whatever it is, it is a fault
        return f"{name}, seed {seed}: {error!r}"
    if len(model.schema_["x"].levels) != len(set(seen)):
        return f"{name}, seed {seed}: levels were merged"
    return "" if np.allclose(proba.sum(axis=1), 1, rtol=0, atol=1e-12) else f"{name}, seed {seed}: no probabilities"


def _texts(random: np.random.Generator, n: int) -> list[str]:
    return ["".join(random.choice(ALPHABET, random.integers(0, 5))) for _ in range(n)]


def weights(scope: Scope) -> Iterator[Figure]:
    """A6: a whole weight is repetition, zero is absence."""
    chunks = np.array_split(np.array(scope.seeds(2_000)), 8)
    for name in SUBJECTS:
        worst = max(each(_worst_of_weights, [(name, chunk) for chunk in chunks]))
        laws = _laws_of_weights(name)
        cases = len(laws) * sum(map(len, chunks))
        limit = allowed(SUBJECTS[name], whole_weights)
        promise = f"{'a whole weight is repetition, ' if whole_weights in laws else ''}zero is absence: within {limit:g}"
        yield Figure("A6", name, promise, cases, f"largest difference {worst:.1e}", worst <= limit)


def _worst_of_weights(task: tuple[str, np.ndarray]) -> float:
    warnings.simplefilter("ignore")
    subject, laws = SUBJECTS[task[0]], _laws_of_weights(task[0])
    return max(law(subject, int(seed)) for seed in task[1] for law in laws)


def _laws_of_weights(name: str) -> list[Callable[[Subject, int], float]]:
    """Those that are promised: C5.0 takes weights over their mean, as the program does."""
    return [law for law in own_laws(SUBJECTS[name]) if law in (whole_weights, weight_zero)]


CHECKS = {"A3": junk, "A4": column_names, "A5": strings, "A6": weights}
