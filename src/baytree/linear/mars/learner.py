"""Learner of MARS: forward pass, backward pass and, for classes, the logistic step."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from baytree.base.learner import FitResult
from baytree.data.encoding.labels import within_doubles
from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.folds.content_folds import as_single_rows
from baytree.linear.linear_model import LOG_ZERO
from baytree.linear.mars.backward import PrunedTerms, TriangularFactor, criterion_of, or_nothing, prune
from baytree.linear.mars.coefficients import least_squares_within, logistic_within, slope_constraints
from baytree.linear.mars.features import MarsOptions, SplineRows, learn_features
from baytree.linear.mars.forward import grow
from baytree.linear.mars.model import Link, MarsModel, Terms, columns_of
from baytree.parallel.blas import at_most

_EQUALITY_TOLERANCE = 1e-8  # weights that differ by less count as equal

_UNSCALED_RANGE = 1e-100, 1e100  # range of target sizes whose squares neither overflow nor underflow


@dataclass(frozen=True)
class MarsLearner:
    """Learner of multivariate adaptive regression splines (Friedman 1991)."""

    options: MarsOptions

    def learn(self, rows: Partitions) -> FitResult:
        """Model with the selected terms and their coefficients."""
        with at_most(rows.n_jobs):
            table = within_doubles(rows.gather())
            table = table if self.options.conventions == "earth" else as_single_rows(table)
            return FitResult(_learn(table, self.options))


def _learn(table: Table, options: MarsOptions) -> MarsModel:
    features, x = learn_features(table, options)
    y, unit = _responses(table)
    rows = SplineRows(x, y, _differing(table.weight))
    terms = grow(rows, options)
    basis, root = columns_of(terms, rows.x), rows.root
    factor = TriangularFactor.of(root[:, None] * basis, (root * y).T)
    pruned = prune(factor, options, rows.n_rows)
    kept = [terms[k] for k in pruned.kept]
    pieces = slope_constraints(kept, features, table.schema, options.monotone)
    selected_factor = factor.take(pruned.kept)
    coefficient, link = _coefficients(table, basis[:, pruned.kept], selected_factor, rows, unit, pieces)
    is_selected = np.any(coefficient, axis=0) | ~np.any(pieces, axis=0)  # terms that the constraints set to 0 are dropped
    constrained = _within(pruned, selected_factor, pieces, options, rows.n_rows, int(np.count_nonzero(is_selected)))
    return MarsModel(
        features,
        Terms.of([kept[k] for k in np.flatnonzero(is_selected)]),
        np.ascontiguousarray(coefficient[:, is_selected]),
        link,
        _scaled(criterion_of(terms, pruned, len(features)), unit),
        rows.n_rows,
        *_quality(constrained, unit),
    )


def _responses(table: Table) -> tuple[np.ndarray, float]:
    """Responses [n_responses, n_rows] and their unit: the number, the second of two classes, or each of more classes."""
    if table.schema.target.classes is None:
        y = np.asarray(table.label, np.float64)
        size = float(np.abs(y).max(initial=0.0))
        unit = (
            1.0
            if not size or _UNSCALED_RANGE[0] < size < _UNSCALED_RANGE[1]
            else float(np.exp2(np.clip(np.frexp(size)[1], -1000, 1000)))
        )
        return y[None] / unit, unit
    present = np.unique(table.label)
    modelled = present[1:] if len(present) <= 2 else present
    return np.stack([table.label == c for c in (modelled if len(modelled) else present)]).astype(np.float64), 1.0


def _differing(weight: np.ndarray) -> np.ndarray | None:
    """Row weights; None if all are equal."""
    return weight if np.ptp(weight) > _EQUALITY_TOLERANCE * weight.max() else None


def _within(
    pruned: PrunedTerms, factor: TriangularFactor, pieces: np.ndarray, options: MarsOptions, n_rows: int, n_terms: int
) -> PrunedTerms:
    """Selected terms with their own RSS and GCV, after monotonicity constraints if there are any."""
    rss, gcv, at = pruned.rss.copy(), pruned.gcv.copy(), pruned.size - 1
    rss[at] = factor.rest
    if len(pieces):
        residual = factor.z[:, 0] - factor.r @ least_squares_within(factor.r, factor.z[:, 0], pieces)
        rss[at] += float(residual @ residual)
    gcv[at] = options.gcv(rss[at], n_terms, n_rows)
    return msgspec.structs.replace(pruned, rss=or_nothing(rss), gcv=or_nothing(gcv))


def _coefficients(
    table: Table, basis: np.ndarray, factor: TriangularFactor, rows: SplineRows, unit: float, pieces: np.ndarray
) -> tuple[np.ndarray, Link]:
    """Coefficients by least squares (number) or the logistic step (classes); a class without rows is never predicted."""
    if table.schema.target.classes is None:
        solution = least_squares_within(factor.r, factor.z[:, 0], pieces)[None] if len(pieces) else factor.solution().T
        return solution * unit, "identity"
    present, weight = np.unique(table.label), np.ones(rows.n_rows) if rows.weight is None else rows.weight
    coefficient = np.zeros((table.n_classes, basis.shape[1]))
    coefficient[:, 0] = LOG_ZERO
    coefficient[present, 0] = 0.0
    if len(present) > 1:
        solution = np.stack([logistic_within(basis, y, weight, pieces) for y in rows.y])
        coefficient[present] = solution if len(present) > 2 else np.concatenate([-solution, solution])
    if table.n_classes != 2:
        return coefficient, "ovr"
    return coefficient[1:] if len(present) == 2 else coefficient[1:] - coefficient[:1], "sigmoid"


def _scaled(score: np.ndarray, unit: float) -> np.ndarray:
    """Gains in units of the squared target, clipped to finite doubles."""
    with np.errstate(over="ignore"):
        return np.clip(score * np.array([1.0, unit * unit, unit * unit]), -1e300, 1e300)


def _quality(pruned: PrunedTerms, unit: float) -> tuple[float, float, float, float]:
    """RSS, GCV, R² and 1 − GCV / GCV of the constant."""
    rss, gcv = float(pruned.rss[pruned.size - 1]), float(pruned.gcv[pruned.size - 1])
    r2 = 1 - rss / pruned.rss[0] if pruned.rss[0] > 0 else 0.0
    grsq = 1 - gcv / pruned.gcv[0] if pruned.gcv[0] > 0 and np.isfinite(pruned.gcv[0]) else 0.0
    return rss * unit * unit, gcv * unit * unit, float(r2), float(grsq)
