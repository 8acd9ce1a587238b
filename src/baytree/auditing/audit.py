"""The public function `audit`, and `audit_problem` for tables that were read already."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from baytree import _warnings
from baytree._typing import FrameLike, TargetLike
from baytree.auditing.columns import column_findings, target_findings
from baytree.auditing.counts import MAX_COLUMNS, AuditCounts, CountedBins, bins_of, sample_of
from baytree.auditing.leaks import LeakChecks
from baytree.auditing.result import Audit, Finding, listed, most_serious_first
from baytree.auditing.rows import duplicate_findings, group_findings
from baytree.auditing.time_order import TimeColumn, time_columns, time_findings
from baytree.data.encoding import encode
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.dispatch import remote_source
from baytree.engine.partitions import LocalPartitions, Partitions
from baytree.feature_selection.filters import open_remote_classes
from baytree.folds.row_structure import GroupsLike, TimeLike
from baytree.model_selection.problem import SupervisedProblem

_NEEDS_ALL_ROWS = "duplicates, groups and time, which need all rows in one place"


def audit(
    frame: FrameLike,
    target: TargetLike,
    time: TimeLike = None,
    groups: GroupsLike = None,
    *,
    task: str | None = None,
    schema: Mapping[str, Any] | Schema | None = None,
) -> Audit:
    """Examine a table for what makes models look better than they are, before a model is chosen.

    It looks for columns that leak the target, duplicate rows, groups of rows and an order in time that random folds
    would break, unbalanced and rare classes, and columns that identify rows, are empty or constant, have too many levels,
    codes for missing values or far values. Each finding names its figure and the remedy.

    Parameters
    ----------
    frame : data frame, dict of columns, array, `baytree.scan`, Dask or Spark frame
        Table with or without its target column. Remote rows stay where they are if the target is a class; checks that need
        all rows in one place are then left out and named.
    target : str or array
        Name of the target column, or the labels.
    time : str, optional
        Column of dates or times by which folds will be made; the finding is then only what changes with it.
    groups : str or array, optional
        Column of groups, or the group of each row, that folds will keep together.
    task : {"classification", "regression"}, optional
        Type of the target; inferred by default.
    schema : dict or Schema, optional
        Kinds of columns that should not be inferred, as in every estimator.

    Returns
    -------
    Audit
        Prints as a list; `findings` has each with its `kind`, `columns`, `message`, `remedy` and `figure`; `to_dict` and
        `report` return all of it.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = bt.datasets.load("penguins")
    >>> rows["weighed_as"] = rows["species"].str.lower()
    >>> print(bt.audit(rows, "species").findings[0].message)
    'weighed_as' alone predicts 'species' with accuracy 1.000 in cross-validation, all other columns together with 0.977
    """
    source = remote_source(frame)
    if source is not None and time is None and groups is None:
        rows = open_remote_classes(source, target, task, schema)
        if rows is not None:
            statistics = Statistics.of(rows)
            findings, left_out = statistics.findings(None, 0), (*statistics.left_out, _NEEDS_ALL_ROWS)
            return Audit(statistics.sample.schema.target.name, rows.n_rows, most_serious_first(findings), left_out)
    return audit_problem(SupervisedProblem.of(frame, target, task, schema, groups=groups, time=time))


def audit_problem(problem: SupervisedProblem) -> Audit:
    """Audit of a table that was read already; its groups and times are those of the problem."""
    with _warnings.capture():
        table = problem.table if problem.is_finite else _without_infinities(problem)
    statistics = Statistics.of(LocalPartitions(table))
    bins, structure = statistics.bins, problem.structure
    table = statistics.examined(table)
    n_unlabelled = 0 if problem.row_mask is None else int((~problem.row_mask).sum())
    n_values = None if problem.is_classification else len(np.unique(table.label))
    columns = time_columns(table, problem.frame, problem.schema.left_out)
    if structure.time is not None:
        columns = [TimeColumn(structure.time_name, structure.time, structure.unit is not None, None)]
    findings = statistics.findings(n_values, n_unlabelled)
    leaks = {name for finding in findings if finding.kind == "leak" for name in finding.columns}
    times = [each for each in columns if each.name not in leaks]
    findings += time_findings(table, bins, times, is_given=structure.time is not None)
    if structure.groups is None:
        findings += group_findings(table, bins, {*leaks, *(each.name for each in times)})
    findings += duplicate_findings(table, structure.groups)
    return Audit(problem.name, len(problem), most_serious_first(findings), statistics.left_out)


def _without_infinities(problem: SupervisedProblem) -> Table:
    """Encoded rows in which infinite numbers, which some models refuse, are missing."""
    schema, values = encode.fit_encode(problem.frame, problem.schema, True)
    finite = tuple(
        np.where(np.isinf(v), np.nan, v) if isinstance(v, np.ndarray) and v.dtype.kind == "f" else v for v in values
    )
    return Table(schema, finite, problem.weight, problem.label.values, problem.is_unweighted)


class Statistics(NamedTuple):
    """Additive statistics of a table, from two passes over the rows."""

    sample: Table  # with the examined columns only
    bins: tuple[CountedBins | None, ...]
    counts: AuditCounts
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, rows: Partitions) -> Self:
        """Statistics of local or remote rows."""
        sample, n_columns = sample_of(rows), min(len(rows.schema), MAX_COLUMNS)
        bins = bins_of(sample, n_columns)
        centre = 0.0 if sample.n_classes or not len(sample) else float(sample.label.mean())
        counts = rows.map_reduce(partial(AuditCounts.of, bins, centre))
        left_out = [f"columns after the first {MAX_COLUMNS:,}"] if n_columns < len(rows.schema) else []
        names = [column.name for column, own in zip(sample.schema.columns, bins, strict=False) if own is None]
        if names:
            left_out.append(f"whether texts or columns of very many levels leak the target: {listed(names)}")
        return cls(sample, bins, counts, tuple(left_out)).with_examined_columns()

    def with_examined_columns(self) -> Self:
        """Statistics whose sample has only the examined columns."""
        return self._replace(sample=self.examined(self.sample))

    def examined(self, table: Table) -> Table:
        """Table of the columns that are examined."""
        return table if len(self.bins) == len(table.schema) else table.select(range(len(self.bins)))

    def findings(self, n_values: int | None, n_unlabelled: int) -> list[Finding]:
        """Findings that follow from the statistics."""
        schema, sums = self.sample.schema, [sums for sums in self.counts.columns if sums.size]
        per_class = sums[0].sum(axis=(0, 1)) if sums and self.sample.n_classes else None
        return [
            *LeakChecks(schema.target.name, self.sample, self.counts).findings(),
            *target_findings(schema, per_class, n_values, n_unlabelled),
            *column_findings(schema, self.counts),
        ]
