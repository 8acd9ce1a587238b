"""The joint table as a model: what the weights of combinations say of classes, events and rows."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.bayes.combinations import check_codes, level_counts
from baytree.limits.intervals import share_intervals, share_moments
from baytree.model import Evidence, Explanation
from baytree.summary.bayes import Combination, JointSummary
from baytree.table.schema import Schema
from baytree.table.table import Table

if TYPE_CHECKING:
    from baytree.formula import Formula

SHOWN = 20  # combinations in the summary


class JointTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="joint_table"):
    """The weight of each combination that occurs, α for each that could; the Bayes-optimal classifier it implies."""

    code: np.ndarray  # int32 [n_combinations, n_columns + 1]
    weight: np.ndarray  # [n_combinations], positive
    levels: tuple[int, ...]  # the number of levels of each column, and of classes
    alpha: float

    def __post_init__(self) -> None:
        if self.code.dtype != np.int32 or self.code.ndim != 2 or self.code.shape[1] != len(self.levels):
            raise ValueError("combinations have a code for each column and the class")
        if self.weight.dtype != np.float64 or self.weight.shape != (len(self.code),) or not len(self.code):
            raise ValueError("every combination has its weight")
        if not (np.isfinite(self.weight).all() and (self.weight > 0).all()) or not 0 <= self.alpha < np.inf:
            raise ValueError("weights of combinations are positive")

    def check(self, schema: Schema) -> None:
        """Raises an error unless every code is a level of the schema."""
        check_codes(self.code, schema)
        if self.levels != level_counts(schema):
            raise ValueError("the joint table does not fit the levels of the schema")

    def answers(self, table: Table) -> np.ndarray:
        """p(c | known columns) of each row; the shares of the classes where the combination never occurred."""
        return self._given(np.column_stack([np.asarray(values) for values in table.values]).astype(np.int32))

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Of the share of each class among the rows that agree with a row, after Jeffreys. [n_rows, n_classes, 2]"""
        rows = np.column_stack([np.asarray(values) for values in table.values]).astype(np.int32)
        counted = msgspec.structs.replace(self, alpha=0.0)._weights(rows)
        return share_intervals(*share_moments(counted), level)

    def _weights(self, rows: np.ndarray) -> np.ndarray:
        """The weight of each class among the rows that agree with the known columns of each row."""
        weight = np.zeros((len(rows), self.levels[-1]))
        patterns, place = np.unique(rows >= 0, axis=0, return_inverse=True)
        for k, known in enumerate(patterns):
            chosen = place.ravel() == k
            weight[chosen] = self._matching(rows[chosen][:, known], known)
        return weight

    def _given(self, rows: np.ndarray) -> np.ndarray:
        weight = self._weights(rows)
        total = weight.sum(axis=1, keepdims=True)
        return np.where(total > 0, weight / np.where(total > 0, total, 1.0), self.class_shares())

    def _matching(self, rows: np.ndarray, known: np.ndarray) -> np.ndarray:
        """The weight of each class among the combinations that agree with the known columns of each row."""
        free = float(prod(n for n, is_known in zip(self.levels[:-1], known, strict=True) if not is_known))
        ours = self.code[:, :-1][:, known]
        if not known.any():
            place = np.zeros(len(ours) + len(rows), np.int64)
        else:
            place = np.unique(np.concatenate([ours, rows]), axis=0, return_inverse=True)[1].ravel()
        sums = np.full((int(place.max()) + 1, self.levels[-1]), self.alpha * free)
        np.add.at(sums, (place[: len(ours)], self.code[:, -1]), self.weight)
        return sums[place[len(ours) :]]

    def class_shares(self) -> np.ndarray:
        """The probability of each class."""
        weight = np.bincount(self.code[:, -1], self.weight, minlength=self.levels[-1])
        weight = weight + self.alpha * float(prod(self.levels[:-1]))
        return weight / weight.sum()

    def probability(self, allowed: list[np.ndarray | None]) -> float:
        """The probability that every column is among its allowed codes; None allows all."""
        matches = np.ones(len(self.code), bool)
        for j, codes in enumerate(allowed):
            if codes is not None:
                matches &= np.isin(self.code[:, j], codes)
        cells = prod(n if codes is None else len(codes) for n, codes in zip(self.levels, allowed, strict=True))
        whole = self.weight.sum() + self.alpha * float(prod(self.levels))
        return float((self.weight[matches].sum() + self.alpha * float(cells)) / whole)

    def explain(self, table: Table) -> list[Explanation]:
        """How the probability of each class moves as the columns are looked at one after another."""
        rows = np.column_stack([np.asarray(values) for values in table.values]).astype(np.int32)
        steps = [np.tile(self.class_shares(), (len(rows), 1))]
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
        """The model as an expression of the raw columns."""
        from baytree.bayes.formula import joint_table

        return joint_table(self, schema)

    def summary(self, schema: Schema) -> JointSummary:
        """How many combinations occur, and those that weigh most."""
        order = np.argsort(-self.weight, kind="stable")[:SHOWN]
        share = (self.weight[order] / self.weight.sum()).tolist()
        heaviest = tuple(_combination(schema, code, each) for code, each in zip(self.code[order], share, strict=True))
        return JointSummary(schema.target.name, schema.names, len(self.code), prod(self.levels), heaviest)


def _combination(schema: Schema, code: np.ndarray, share: float) -> Combination:
    *levels, label = code.tolist()
    names = tuple(column.show(level) for column, level in zip(schema.columns, levels, strict=True))
    return Combination(names, str(schema.classes[label]), share)
