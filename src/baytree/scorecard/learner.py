"""Learner of scorecards: fine bins of all columns, optimal bins, choice of columns, whole points.

The counts of bins come from as many passes over the rows as those of one column, on any engine. The regression then needs
the bins of each row, one byte per cell, which are gathered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
import numpy as np

from baytree.additive.axis import Axis
from baytree.base.learner import FitResult
from baytree.binning.coarse_bins import BinningOptions, CoarseBins, coarse_bins
from baytree.binning.column_bins import ColumnBins
from baytree.binning.fine_bins import FineBins, fine_bins_of_all
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions, rescale_weights
from baytree.parallel.blas import at_most
from baytree.scorecard.coded_rows import CodedRows, coded_rows
from baytree.scorecard.model import CardColumn, Scale, ScorecardModel
from baytree.scorecard.points import weights_of_evidence, whole_points
from baytree.scorecard.selection import choose

_SCORE_GROUPS = 10  # of training rows, by which the stability of the score is measured

_WIDE, _BISECTIONS = 100.0, 80  # log-odds on each side of even odds in which the start is searched


@dataclass(frozen=True)
class ScorecardLearner:
    """Settings of a scorecard."""

    scale: Scale
    good: int | None  # None: the class with more weight
    binning: BinningOptions
    monotone: tuple[tuple[str, str | None], ...] = ()  # of single columns, in place of that of `binning`
    select: str = "l1"
    n_folds: int = 5
    rule: str = "min"

    def learn(self, rows: Partitions) -> FitResult:
        """Card of these rows, and the bins of all columns."""
        with at_most(rows.n_jobs):
            return self._learn(rescale_weights(rows))

    def _learn(self, rows: Partitions) -> FitResult:
        schema, fine = rows.schema, fine_bins_of_all(rows)
        total = fine[0].sums.sum(axis=0) if fine else np.zeros(2)
        _refuse_absent_class(schema, total)
        good = self.good if self.good is not None else int(total[1] > total[0])
        bins = [self._coarse(each) for each in fine]
        columns = [_column(j, *each, good) for j, each in enumerate(zip(fine, bins, strict=True))]
        varying = [j for j, each in enumerate(columns) if len(np.unique(each.woe)) > 1]
        coded = coded_rows(rows, [(j, fine[j]) for j in varying])
        evidence = partial(self._evidence, coded, [fine[j] for j in varying], good)
        theta = choose(coded, evidence, self.select, self.n_folds, good, self.rule)
        with_points = {j: _with_points(columns[j], float(theta[k]), self.scale) for k, j in enumerate(varying)}
        used = [with_points[j] for j in varying if with_points[j].points.any()]
        if (theta[:-1] > 0).any() and not used:
            raise ValueError(
                f"points_to_double={self.scale.points_to_double:g}: all points round to 0, so no column would count; give a "
                "larger number, such as 20"
            )
        of_cells = [_of_cells(fine[j], bins[j], with_points[j].points.astype(np.float64)) for j in varying]
        named = {
            each.column.name: ColumnBins(each, own, schema.target.name, schema.classes, self.binning.objective)
            for each, own in zip(fine, bins, strict=True)
        }
        model = self._model(coded.sum_of(of_cells), coded.weight[:, [1 - good, good]], columns, used, good)
        return FitResult(model, fitted_attributes={"bins_": named})

    def _coarse(self, fine: FineBins) -> CoarseBins:
        given, name = dict(self.monotone), fine.column.name
        options = msgspec.structs.replace(self.binning, monotone=given[name]) if name in given else self.binning
        return coarse_bins(fine, options)

    def _evidence(self, coded: CodedRows, fine: Sequence[FineBins], good: int, weight: np.ndarray) -> list[np.ndarray]:
        """Weight of evidence of the cells of each column, by the bins that are best for these weights of the rows."""
        found = []
        for k, each in enumerate(fine):
            own = msgspec.structs.replace(each, sums=coded.sums(k, len(each.sums), weight))
            bins = self._coarse(own)
            found.append(_of_cells(own, bins, _column(0, own, bins, good).woe))
        return found

    def _model(
        self, points: np.ndarray, weight: np.ndarray, columns: Sequence[CardColumn], used: Sequence[CardColumn], good: int
    ) -> ScorecardModel:
        """Model from the points of the columns of each group of rows, and the weights of the groups, the good class last."""
        start = _start(points, weight, self.scale)
        positions = {each.axis.column for each in used}
        unused = tuple((each.axis.column, each.information_value) for each in columns if each.axis.column not in positions)
        cuts, in_groups = _score_groups(start + points, weight.sum(axis=1))
        return ScorecardModel(self.scale, good, start, tuple(used), unused, cuts, in_groups, float(weight[:, 1].sum()))


def _with_points(column: CardColumn, coefficient: float, scale: Scale) -> CardColumn:
    return msgspec.structs.replace(column, coefficient=coefficient, points=whole_points(coefficient * column.woe, scale))


def _of_cells(fine: FineBins, bins: CoarseBins, values: np.ndarray) -> np.ndarray:
    """Values of the bins of a column's axis, for each cell of its fine bins."""
    found = np.full(len(fine.sums), values[-1])
    known = [cells for cells in bins.cells if min(cells) < fine.n_ordered]
    for k, cells in enumerate(known):
        found[list(cells)] = values[k]
    rest = np.setdiff1d(np.arange(fine.n_ordered), [cell for cells in known for cell in cells])
    found[rest] = 0.0
    return found


def _refuse_absent_class(schema: Schema, total: np.ndarray) -> None:
    """Raise ValueError unless both classes have rows with weight."""
    if len(total) < 2 or not (total > 0).all():
        present = [repr(label) for label, weight in zip(schema.classes, total, strict=False) if weight > 0]
        raise ValueError(
            f"Scorecard: all rows of the target {schema.target.name!r} have the class {', '.join(present)}; a card needs "
            "rows of two classes, so give rows of the other class too"
        )


def _column(j: int, fine: FineBins, bins: CoarseBins, good: int) -> CardColumn:
    """Column with its bins and weights of evidence, before it has points."""
    axis, sums, n_known = _axis(j, fine, bins)
    shape = bins.shape if fine.column.kind is not Kind.NOMINAL else None
    woe = weights_of_evidence(sums, good, shape, n_known)
    total = sums.sum(axis=0)
    value = float(((sums[:, good] / total[good] - sums[:, 1 - good] / total[1 - good]) * woe).sum())
    return CardColumn(axis, sums, woe, 0.0, np.zeros(len(woe), np.int32), value, shape)


def _axis(j: int, fine: FineBins, bins: CoarseBins) -> tuple[Axis, np.ndarray, int]:
    """Axis of the bins, the sums of its bins with those of missing values last, and the number of the others."""
    n, missing = fine.n_ordered, fine.sums[-1]
    known = [cells for cells in bins.cells if min(cells) < n]
    sums = [fine.sums[list(cells)].sum(axis=0) for cells in known]
    if fine.column.kind is Kind.NUMERIC:
        cuts = np.array([fine.edges[max(cells)] for cells in known[:-1]])
        axis = Axis(j, cuts, np.empty(0, np.int32))
        sums = sums or [np.zeros_like(missing)]
        return axis, np.stack([*sums, missing]), len(sums)
    bin_of_level = np.full(n, -1, np.int32)
    for k, cells in enumerate(known):
        bin_of_level[list(cells)] = k
    if (bin_of_level < 0).any():  # declared levels without training rows
        bin_of_level[bin_of_level < 0] = len(sums)
        sums.append(np.zeros_like(missing))
    return Axis(j, np.empty(0), bin_of_level), np.stack([*sums, missing]), len(sums)


def _start(points: np.ndarray, weight: np.ndarray, scale: Scale) -> int:
    """Whole points of every row that fit best, given the rounded points of the columns. weight [n, 2], good last"""

    def loss(start: int) -> float:
        score = scale.log_odds(points + start)
        return float(weight[:, 0] @ np.logaddexp(0, score) + weight[:, 1] @ np.logaddexp(0, -score))

    low, high = (np.array([-_WIDE, _WIDE]) - scale.shift) / scale.per_point - np.array([points.max(), points.min()])
    n_good = float(weight[:, 1].sum())
    for _ in range(_BISECTIONS):  # the mean probability rises with the start
        middle = (low + high) / 2
        expected = float(weight.sum(axis=1) @ (0.5 * (1 + np.tanh(scale.log_odds(points + middle) / 2))))
        low, high = (middle, high) if expected < n_good else (low, middle)
    return min((int(np.floor(low)), int(np.floor(low)) + 1), key=loss)


def _score_groups(scores: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Upper edges of groups of rows of similar weight by score, without the last, and the weight of each group."""
    order = np.argsort(scores, kind="stable")
    cumulative = np.cumsum(weight[order])
    goal = cumulative[-1] * np.arange(1, _SCORE_GROUPS) / _SCORE_GROUPS
    position = np.minimum(np.searchsorted(cumulative, goal * (1 - 1e-12)), len(order) - 1)
    cuts = np.unique(scores[order][position])
    cuts = cuts[cuts < scores.max()]
    return cuts, np.bincount(np.searchsorted(cuts, scores, side="left"), weight, len(cuts) + 1)
