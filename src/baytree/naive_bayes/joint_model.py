"""Joint table of all nominal columns: a classifier from the weights of combinations of levels.

`Combinations` is the additive statistic (which combinations occur in complete rows, with exact weights). `JointTable` is the
model: p(class | known columns) from the combinations that agree with a row, plus α for every possible one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Self

import msgspec
import numpy as np

from baytree.base.model import Evidence, Explanation
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind, level_map
from baytree.data.schema.schema import Schema
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import ExactSum
from baytree.summary.naive_bayes import Combination, JointSummary
from baytree.uncertainty.intervals import proportion_intervals, proportion_moments

if TYPE_CHECKING:
    from baytree.formula import Formula

MAX_SHOWN_COMBINATIONS = 20  # combinations in the summary


class JointTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="joint_table"):
    """Weight of each combination that occurs, plus α for each possible one; the Bayes-optimal classifier they imply."""

    code: np.ndarray  # int32 [n_combinations, n_columns + 1]
    weight: np.ndarray  # [n_combinations], positive
    levels: tuple[int, ...]  # number of levels of each column, then the number of classes
    alpha: float

    def __post_init__(self) -> None:
        if self.code.dtype != np.int32 or self.code.ndim != 2 or self.code.shape[1] != len(self.levels):
            raise ValueError("combinations need a code for each column and the class")
        if self.weight.dtype != np.float64 or self.weight.shape != (len(self.code),) or not len(self.code):
            raise ValueError("every combination needs a weight")
        if not (np.isfinite(self.weight).all() and (self.weight > 0).all()) or not 0 <= self.alpha < np.inf:
            raise ValueError("weights of combinations must be positive")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless every code is a level of the schema."""
        check_codes(self.code, schema)
        if self.levels != level_counts(schema):
            raise ValueError("the joint table does not fit the levels of the schema")

    def predict(self, table: Table) -> np.ndarray:
        """p(c | known columns) of each row [n_rows, n_classes]; class proportions if the combination never occurred."""
        return self._given(np.column_stack([np.asarray(values) for values in table.values]).astype(np.int32))

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Jeffreys intervals of the class proportions among the rows that agree with each row: [n_rows, n_classes, 2]."""
        rows = np.column_stack([np.asarray(values) for values in table.values]).astype(np.int32)
        weights = msgspec.structs.replace(self, alpha=0.0)._weights(rows)
        return proportion_intervals(*proportion_moments(weights), level)

    def _weights(self, rows: np.ndarray) -> np.ndarray:
        """Weight of each class among the rows that agree with the known columns of each row: [n_rows, n_classes]."""
        weight = np.zeros((len(rows), self.levels[-1]))
        patterns, pattern = np.unique(rows >= 0, axis=0, return_inverse=True)
        for k, is_known in enumerate(patterns):
            selected = pattern.ravel() == k
            weight[selected] = self._matching(rows[selected][:, is_known], is_known)
        return weight

    def _given(self, rows: np.ndarray) -> np.ndarray:
        weight = self._weights(rows)
        total = weight.sum(axis=1, keepdims=True)
        return np.where(total > 0, weight / np.where(total > 0, total, 1.0), self.class_proportions())

    def _matching(self, rows: np.ndarray, known: np.ndarray) -> np.ndarray:
        """As `_weights`, for rows of codes in which the same columns are known."""
        n_completions = float(prod(n for n, is_known in zip(self.levels[:-1], known, strict=True) if not is_known))
        ours = self.code[:, :-1][:, known]
        if not known.any():
            index = np.zeros(len(ours) + len(rows), np.int64)
        else:
            index = np.unique(np.concatenate([ours, rows]), axis=0, return_inverse=True)[1].ravel()
        sums = np.full((int(index.max()) + 1, self.levels[-1]), self.alpha * n_completions)
        np.add.at(sums, (index[: len(ours)], self.code[:, -1]), self.weight)
        return sums[index[len(ours) :]]

    def class_proportions(self) -> np.ndarray:
        """Probability of each class: [n_classes]."""
        weight = np.bincount(self.code[:, -1], self.weight, minlength=self.levels[-1])
        weight = weight + self.alpha * float(prod(self.levels[:-1]))
        return weight / weight.sum()

    def probability(self, allowed: list[np.ndarray | None]) -> float:
        """Probability that every column is among its allowed codes; None allows all."""
        matches = np.ones(len(self.code), bool)
        for j, codes in enumerate(allowed):
            if codes is not None:
                matches &= np.isin(self.code[:, j], codes)
        cells = prod(n if codes is None else len(codes) for n, codes in zip(self.levels, allowed, strict=True))
        total = self.weight.sum() + self.alpha * float(prod(self.levels))
        return float((self.weight[matches].sum() + self.alpha * float(cells)) / total)

    def explain(self, table: Table) -> list[Explanation]:
        """Change of the class probabilities as the columns become known one after another."""
        rows = np.column_stack([np.asarray(values) for values in table.values]).astype(np.int32)
        steps = [np.tile(self.class_proportions(), (len(rows), 1))]
        for k in range(rows.shape[1]):
            steps.append(self._given(np.where(np.arange(rows.shape[1]) <= k, rows, -1)))
        columns = table.schema.columns
        return [
            Explanation(
                table.schema.classes,
                steps[0][row],
                tuple(
                    Evidence(column.name, column.show(rows[row, j]), steps[j + 1][row] - steps[j][row])
                    for j, column in enumerate(columns)
                ),
                steps[-1][row],
                "probability",
            )
            for row in range(len(rows))
        ]

    def formula(self, schema: Schema) -> Formula:
        """Model as an expression of the raw columns."""
        from baytree.naive_bayes.model import joint_table

        return joint_table(self, schema)

    def summary(self, schema: Schema) -> JointSummary:
        """Number of combinations and the `MAX_SHOWN_COMBINATIONS` heaviest ones."""
        order = np.argsort(-self.weight, kind="stable")[:MAX_SHOWN_COMBINATIONS]
        proportions = (self.weight[order] / self.weight.sum()).tolist()
        heaviest = tuple(
            _combination(schema, code, proportion) for code, proportion in zip(self.code[order], proportions, strict=True)
        )
        return JointSummary(schema.target.name, schema.names, len(self.code), prod(self.levels), heaviest)


def _combination(schema: Schema, code: np.ndarray, proportion: float) -> Combination:
    *levels, label = code.tolist()
    names = tuple(column.show(level) for column, level in zip(schema.columns, levels, strict=True))
    return Combination(names, str(schema.classes[label]), proportion)


class Combinations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="combinations"):
    """Combinations that occur in complete rows, ascending, each with its exact weight; the class comes last."""

    code: np.ndarray  # int32 [n_combinations, n_columns + 1]
    weight: ExactSum  # [n_combinations]

    @classmethod
    def of(cls, table: Table) -> Self:
        """Combinations of the rows without missing values."""
        rows = np.column_stack([*table.values, table.label]).astype(np.int32)
        complete = (rows >= 0).all(axis=1)
        code, index = np.unique(rows[complete], axis=0, return_inverse=True)
        weight = None if table.is_unweighted else table.weight[complete]
        one = np.zeros(int(complete.sum()), np.int32)
        counts = Counts.of(index.ravel().astype(np.int32), one, weight, len(code), 1)
        return cls(code, _flat(counts.cells.take(np.arange(1, len(code) + 1))))

    def __add__(self, other: Self) -> Self:
        return self._combined(other, ExactSum.__add__)

    def __sub__(self, other: Self) -> Self:
        difference = self._combined(other, ExactSum.__sub__)
        nonzero = np.flatnonzero(difference.weight.limbs.any(axis=1))
        return type(self)(difference.code[nonzero], difference.weight.take(nonzero))

    def to_schema(self, old: Schema, new: Schema) -> Self:
        """Same combinations recoded for a schema with other levels or classes."""
        if old.columns == new.columns and old.target == new.target:
            return self
        new_codes = [level_map(new.columns[j].levels, column.levels) for j, column in enumerate(old.columns)]
        new_codes.append(level_map(new.classes, old.classes))
        code = np.column_stack([new_code[self.code[:, j]] for j, new_code in enumerate(new_codes)]).astype(np.int32)
        order = np.lexsort(code.T[::-1])
        return type(self)(code[order], self.weight.take(order))

    def drop_unused_levels(self, schema: Schema) -> tuple[Schema, Self]:
        """Schema without undeclared levels and classes that no longer occur, and the recoded statistic."""
        if not len(self.code):
            raise ValueError("cannot forget all training rows: no data would be left")
        columns = []
        for j, column in enumerate(schema.columns):
            used = set(np.unique(self.code[:, j]).tolist())
            levels = tuple(level for code, level in enumerate(column.levels) if column.declared or code in used)
            columns.append(msgspec.structs.replace(column, levels=levels))
        used = set(np.unique(self.code[:, -1]).tolist())
        classes = tuple(label for code, label in enumerate(schema.classes) if code in used)
        target = msgspec.structs.replace(schema.target, classes=classes)
        smaller = msgspec.structs.replace(schema, columns=tuple(columns), target=target)
        return smaller, self.to_schema(schema, smaller)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless every code is a level and every combination has a weight."""
        check_codes(self.code, schema)
        self.weight.check((len(self.code),))

    def _combined(self, other: Self, operation: Callable[[ExactSum, ExactSum], ExactSum]) -> Self:
        both = np.concatenate([self.code, other.code])
        code, index = np.unique(both, axis=0, return_inverse=True)
        index = index.ravel()
        ours, theirs = (np.full(len(code), -1) for _ in range(2))
        ours[index[: len(self.code)]] = np.arange(len(self.code))
        theirs[index[len(self.code) :]] = np.arange(len(other.code))
        return type(self)(code, operation(self.weight.take(ours), other.weight.take(theirs)))


def level_counts(schema: Schema) -> tuple[int, ...]:
    """Number of levels of each column, then the number of classes."""
    return (*(len(column.levels) for column in schema.columns), len(schema.classes))


def check_codes(code: np.ndarray, schema: Schema) -> None:
    """Raise ValueError unless the combinations are distinct and every code is a level of the schema."""
    if any(column.kind not in (Kind.NOMINAL, Kind.ORDINAL) for column in schema.columns):
        raise ValueError("a joint table needs nominal or ordinal columns")
    if code.dtype != np.int32 or code.ndim != 2 or code.shape[1] != len(schema) + 1:
        raise ValueError("combinations need a code for each column and the class")
    if len(code) and ((code < 0).any() or (code.max(axis=0) >= np.array(level_counts(schema))).any()):
        raise ValueError("a combination has a code that is not a level")
    if len(np.unique(code, axis=0)) < len(code):
        raise ValueError("a combination occurs twice")


def _flat(cells: ExactSum) -> ExactSum:
    return ExactSum(np.ascontiguousarray(cells.limbs[:, 0]), cells.low)
