"""Dirichlet–multinomial counts: the exact predictive of a bag, which does not factor over its words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from baytree import _core
from baytree.bayes.events.likelihood import ColumnsLikelihood, check_numeric
from baytree.formula.expressions import Case, Compare, Expression, Known, LogRising, Named, Number, Product, Sum, When
from baytree.formula.steps import Effects, Steps, constant, where_known
from baytree.statistics.totals import refuse_negative, sparse_entries
from baytree.summary.bayes import Amount
from baytree.table.matrices import matrices
from baytree.table.schema import Schema
from baytree.table.table import SparseColumns, Table


class UrnLikelihood(ColumnsLikelihood, frozen=True, tag="urns"):
    """An urn for each class: every count drawn puts one more of its kind back (Pólya)."""

    concentration: np.ndarray  # [n_columns, n_classes]

    def __post_init__(self) -> None:
        check_concentration(self.concentration)
        if len(self.concentration) != len(self.columns):
            raise ValueError("urns have one number per column and class")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the columns are numbers and every class has its urn."""
        check_numeric(self.columns, self.concentration.shape[1], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each row's log-probability to its scores; a missing value leaves its column out of the urn."""
        try:
            self._add(table, scores)
        except ValueError:
            refuse_negative(table, self.columns)
            raise

    def _add(self, table: Table, scores: np.ndarray) -> None:
        total = self.concentration.sum(axis=0)
        if isinstance(table.values, SparseColumns):
            entries = sparse_entries(table, self.columns)
            fields = entries.start, entries.code, entries.count, entries.missing
            _core.add_sparse_urn_scores(*fields, self.concentration, total, scores)
            return
        stripes = list(matrices(table, self.columns))
        whole = stripes[0] if len(stripes) == 1 else np.hstack(stripes)
        _core.add_urn_scores(whole, self.concentration, total, scores)

    def effects(self, table: Table) -> list[np.ndarray]:
        """What each column adds once the columns before it are known: [n_rows, n_classes] each."""
        steps = [np.zeros((len(table), self.concentration.shape[1]))]
        counts = np.column_stack([table.values[j] for j in self.columns])
        for k in range(1, counts.shape[1] + 1):
            scores = np.zeros_like(steps[0])
            known = np.where(np.arange(counts.shape[1]) < k, counts, np.where(np.isnan(counts), np.nan, 0.0))
            _core.add_urn_scores(known, self.concentration, self.concentration.sum(axis=0), scores)
            steps.append(scores)
        return [after - before for before, after in pairwise(steps)]

    def formula(self, steps: Steps) -> Effects:
        """Σ log Γ(a + x)/Γ(a), less log Γ(A + n)/Γ(A): what is not known is left out of the urn."""
        urn, n_classes = self.concentration, self.concentration.shape[1]
        columns = list(enumerate(self.columns))
        added: Effects = [(j, where_known(j, LogRising(constant(urn[k]), Number(j)), n_classes)) for k, j in columns]
        drawn = steps.keep(Sum(tuple(where_known(j, Number(j), 1) for _, j in columns)))
        left_out = [Case((When(Known(j), constant(0.0)),), constant(-urn[k])) for k, j in columns]
        size = steps.keep(Sum((constant(urn.sum(axis=0)), *left_out)))
        return [*added, (None, less_size(size, drawn))]

    def summary(self, schema: Schema) -> list[Amount]:
        """The expected share of each column in each class."""
        share = (self.concentration / self.concentration.sum(axis=0)).tolist()
        rows = zip(self.columns, share, strict=True)
        return [Amount(schema.columns[j].name, "share", tuple(row)) for j, row in rows]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """The expected share of a column in each class."""
        k = self.columns.index(column)
        return ["share"], (self.concentration[k] / self.concentration.sum(axis=0))[None]

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Refused: nothing says how large a row is."""
        raise ValueError("multinomial and complement columns do not say how large a row is, so rows cannot be drawn")


def open_urns(concentration: np.ndarray) -> np.ndarray:
    """The same urns, an empty one filled evenly: a class without counts and without a prior tells nothing."""
    empty = concentration.sum(axis=0) <= 0
    return np.where(empty, 1.0, np.minimum(concentration, 1e300 / max(len(concentration), 1)))


def check_concentration(concentration: np.ndarray) -> None:
    """Raises an error unless every urn holds something, and nothing negative."""
    if concentration.dtype != np.float64 or concentration.ndim != 2:
        raise ValueError("urns have one number per column and class")
    if not np.isfinite(concentration).all() or (concentration < 0).any() or (concentration.sum(axis=0) <= 0).any():
        raise ValueError("urns hold finite numbers, and none is empty")


def less_size(size: Named, drawn: Named) -> Expression:
    """−log Γ(A + n)/Γ(A), 0 where nothing was drawn or nothing is left in the urn."""
    nothing, cost = constant(0.0), Product((constant(-1.0), LogRising(size, drawn)))
    whens = (When(Compare(drawn, "<=", nothing), nothing), When(Compare(size, "<=", nothing), nothing))
    return Case(whens, cost)
