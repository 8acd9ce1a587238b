"""The joint distribution of all columns: the full table by counting, its marginals and conditionals, and its classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree.bayes.combinations import Combinations, JointTable, level_counts
from baytree.bayes.generate import as_frame
from baytree.engine.parts import InMemory
from baytree.estimators.base import AdditiveClassifier
from baytree.table.frames import RawFrame
from baytree.table.infer import Census
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table

MOST_CELLS = 1 << 24  # rows of a full table


class JointDistribution(AdditiveClassifier):
    """The joint table of all columns and the target, by counting; predicts the class that is most probable in it.

    Every number is a level of its own. Rows that miss a value are left out of the counts; in a question, what is not said
    is summed out. d columns of two levels need 2^d rows, which is why naive Bayes exists.

    Parameters
    ----------
    alpha : float
        What is added to every cell of the table, also to those that never occurred.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"rain": ["yes", "yes", "no", "no"], "wet": ["yes", "yes", "yes", "no"]}
    >>> model = bt.JointDistribution().fit(rows, "wet")
    >>> model.probability({"wet": "yes"}), model.probability({"rain": "yes"}, given={"wet": "no"})
    (0.75, 0.0)
    """

    def __init__(self, alpha: float = 0.0, schema: Any = None, unseen: str = "missing", n_jobs: int | None = None):
        self.alpha = alpha
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def table(self) -> Any:
        """The full table as a frame: a row for each combination of levels and its probability."""
        check_is_fitted(self, "model_")
        levels = level_counts(self.schema_)
        if prod(levels) > MOST_CELLS:
            raise ValueError(
                f"the full table has {prod(levels)} cells, more than the {MOST_CELLS} that are kept in memory; "
                "ask for single probabilities with .probability(...), or use NaiveBayesClassifier"
            )
        weight = np.full(levels, self.model_.alpha)
        weight[tuple(self.model_.code.T)] += self.model_.weight
        codes = np.indices(levels).reshape(len(levels), -1)
        names = [*self.schema_.names, self.schema_.target.name]
        columns = {name: _level_array(self._levels(j))[codes[j]] for j, name in enumerate(names)}
        return as_frame({**columns, "probability": (weight / weight.sum()).ravel()})

    def probability(self, event: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> float:
        """P(event | given): each names columns (or the target) and a level, or a list of levels, for each of them.

        NaN where what is given never happens.
        """
        check_is_fitted(self, "model_")
        condition = self._allowed(given or {})
        whole = self.model_.probability(condition)
        both = [_both(a, b) for a, b in zip(condition, self._allowed(event), strict=True)]
        return self.model_.probability(both) / whole if whole > 0 else float("nan")

    def sample(self, n: int = 1, given: Mapping[str, Any] | None = None, random_state: Any = None) -> Any:
        """n rows drawn from the table, as a frame; `given` fixes columns or the class."""
        check_is_fitted(self, "model_")
        random = np.random.default_rng(random_state)
        codes = self._drawn(n, self._allowed(given or {}), random)
        names = [*self.schema_.names, self.schema_.target.name]
        return as_frame({name: _level_array(self._levels(j))[codes[:, j]] for j, name in enumerate(names)})

    def _drawn(self, n: int, allowed: list[np.ndarray | None], random: np.random.Generator) -> np.ndarray:
        model = self.model_
        matches = np.ones(len(model.code), bool)
        choices = [np.arange(k) if codes is None else codes for k, codes in zip(model.levels, allowed, strict=True)]
        for j, codes in enumerate(choices):
            matches &= np.isin(model.code[:, j], codes)
        seen, added = model.weight[matches].sum(), model.alpha * float(prod(map(len, choices)))
        if not seen + added > 0:
            raise ValueError("what is given never happens, so nothing can be drawn from it")
        drawn = np.column_stack([random.choice(codes, n) for codes in choices])  # for what α added, every cell is alike
        is_seen = random.random(n) * (seen + added) < seen
        if is_seen.any():
            share = model.weight[matches] / seen
            drawn[is_seen] = model.code[matches][random.choice(len(share), int(is_seen.sum()), p=share)]
        return drawn

    def _allowed(self, event: Mapping[str, Any]) -> list[np.ndarray | None]:
        """For each column and the target the codes that an event allows; None for all."""
        names = [*self.schema_.names, self.schema_.target.name]
        for name in event:
            if name not in names:
                raise ValueError(f"no column {name!r}; the columns are {', '.join(map(repr, names))}")
        return [self._codes(j, event[name]) if name in event else None for j, name in enumerate(names)]

    def _codes(self, column: int, wanted: Any) -> np.ndarray:
        levels = list(self._levels(column))
        several = wanted if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
        for level in several:
            if level not in levels:
                name = [*self.schema_.names, self.schema_.target.name][column]
                raise ValueError(f"column {name!r} has no level {level!r}; its levels are {levels[:20]}")
        return np.array(sorted({levels.index(level) for level in several}), np.int64)

    def _levels(self, column: int) -> tuple:
        return self.schema_.classes if column == len(self.schema_) else self.schema_.columns[column].levels

    def _observe(self, table: Table) -> Combinations:
        for column in table.schema.columns:
            if column.kind is Kind.TEXT:
                raise ValueError(f"column {column.name!r} is text; a joint table counts levels: leave it out")
        missing = np.zeros(len(table), bool)
        for values in table.values:
            missing |= np.asarray(values) < 0
        if missing.any():
            text = f"{int(missing.sum())} rows miss a value and are left out of the joint table"
            warnings.warn(text, UserWarning, stacklevel=3)
        return InMemory(table, self.n_jobs).total(Combinations.of)

    def _derive(self, seen: Combinations, schema: Schema) -> JointTable:
        alpha = float(self.alpha)
        if not (np.isfinite(alpha) and alpha >= 0):
            raise ValueError(f"alpha={self.alpha!r}: give a finite number that is not negative")
        if not len(seen.code):
            raise ValueError("every row misses a value, so there is nothing to count; leave out what is mostly missing")
        exponent = max(0, seen.weight.magnitude - 900)
        return JointTable(seen.code, seen.weight.rounded(exponent), level_counts(schema), float(np.ldexp(alpha, -exponent)))

    def _schema_of(self, frame: RawFrame) -> Schema:
        if frame.matrix is not None and not isinstance(frame.matrix, np.ndarray):
            raise TypeError("Sparse data was passed, but a joint table takes dense columns: use X.toarray()")
        schema = super()._schema_of(frame)
        if isinstance(self.schema, Schema):
            return schema
        numbers = [column.name for column in schema.columns if column.kind is Kind.NUMERIC]
        declared = dict(self.schema or {}) | dict.fromkeys(numbers, Kind.NOMINAL.value)
        return Census.of(frame, declared).schema(frame.is_named) if numbers else schema

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.classifier_tags.poor_score = True
        return tags


def _both(left: np.ndarray | None, right: np.ndarray | None) -> np.ndarray | None:
    if left is None or right is None:
        return right if left is None else left
    return np.intersect1d(left, right)


def _level_array(levels: tuple) -> np.ndarray:
    array = np.empty(len(levels), object)
    array[:] = levels
    return array
