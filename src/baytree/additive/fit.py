"""Penalised regression on cells: Newton steps, with strengths that the marginal likelihood chooses.

The objective of one score is the deviance / 2 plus Σ λ_j βᵀ S_j β / 2. After each Newton step the strengths are updated by
Fellner and Schall's rule, λ_j = (edf_j + ν) / (βᵀ S_j β + ν / λ̄), where ν pools the curves: with few rows a column without a
clear signal takes the strength of the others. The Hessian is made of weighted counts of pairs of cells. Softmax scores are
fitted one class after the other, given the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs

from baytree.additive.design import GroupedRows, TermCells
from baytree.additive.pairs import Working
from baytree.base.model import softmax
from baytree.parallel.blas import run_lapack

POOLING = 4.0  # ν: degrees of freedom of the common strength

MAX_STEPS = 150  # Newton steps; each updates the strengths

_TOLERANCE = 1e-4  # change of scores, relative to their size, at which the strengths are settled

_SETTLED = 1e-9  # change of scores after which the coefficients are the optimum for their strengths

_MONOTONE_FACTOR = 1e6  # strength of the penalty on steps against the direction, relative to the Hessian's diagonal

_LIMITS = 1e-6, 1e9  # range of strengths


Loss = Callable[[np.ndarray], float]  # of scores, without the penalty


class FittedScore(NamedTuple):
    """Coefficients of one score."""

    intercept: float
    values: list[np.ndarray]  # [n_cells] of each term
    errors: list[np.ndarray]  # standard errors
    strength: np.ndarray  # [n_terms]
    edf: np.ndarray  # effective degrees of freedom of each term
    dispersion: float = 1.0


def fit_number(rows: GroupedRows, terms: Sequence[TermCells]) -> FittedScore:
    """Least squares; the strengths take the residual variance into account."""
    total = float(rows.weight.sum())
    mean = float(rows.weight @ rows.label / total)
    spread = float(np.sqrt((rows.weight @ (rows.label - mean) ** 2 + rows.within) / total))
    if not spread > 0 or not terms:
        return _constant(mean, terms)
    state = _Newton(rows, terms)
    response = (rows.label - mean) / spread
    dispersion = 1.0
    counted = state.cross_counts(rows.weight)
    for _ in range(MAX_STEPS):
        before = state.scores()
        residual = rows.weight * (response - before)
        state.step(residual, rows.weight, dispersion, counted)
        update_strengths([state])
        now = state.scores()
        rss = float(rows.weight @ (response - now) ** 2) + rows.within / spread**2
        old, dispersion = dispersion, max(rss / max(total - 1 - state.edf.sum(), 1.0), 1e-12)
        if np.abs(now - before).max() <= _TOLERANCE and abs(dispersion / old - 1) <= _TOLERANCE:
            break
    state.step(rows.weight * (response - state.scores()), rows.weight, dispersion, counted)
    fitted = state.result(dispersion)
    return fitted._replace(
        intercept=mean + spread * fitted.intercept,
        values=[spread * each for each in fitted.values],
        errors=[spread * each for each in fitted.errors],
    )


def fit_classes(
    rows: GroupedRows, terms: Sequence[TermCells], n_classes: int, start: Sequence[FittedScore] = ()
) -> list[FittedScore]:
    """Log-odds of the second of two classes, or a score per class."""
    if n_classes == 2:
        return [_fit_logit(rows, terms, start[0] if start else None)]
    return _fit_softmax(rows, terms, n_classes)


def _fit_logit(rows: GroupedRows, terms: Sequence[TermCells], start: FittedScore | None) -> FittedScore:
    is_second = (rows.label == 1).astype(np.float64)
    rate = float(rows.weight @ is_second / rows.weight.sum())
    if not 0 < rate < 1 or not terms:
        return _constant(_log_odds(rate), terms)
    state = _Newton(rows, terms)
    state.beta[0] = _log_odds(rate)
    if start is not None:
        state.start_from(start)
    is_settled = False
    for _ in range(MAX_STEPS):
        before = state.scores()
        p = _sigmoid(before)
        weight = rows.weight * p * (1 - p)
        state.step(rows.weight * (is_second - p), weight, 1.0, None, lambda s: _logistic_loss(s, is_second, rows.weight))
        change = float(np.abs(state.scores() - before).max())
        if is_settled and change <= _SETTLED * 1e3:
            break
        if not is_settled:
            update_strengths([state])
            is_settled = change <= 100 * _TOLERANCE
    return state.result(1.0)


def _fit_softmax(rows: GroupedRows, terms: Sequence[TermCells], n_classes: int) -> list[FittedScore]:
    """One Newton step per class in turn, until the scores of all classes are settled."""
    indicator = rows.label[:, None] == np.arange(n_classes)
    share = rows.weight @ indicator / rows.weight.sum()
    first = [rows.content[rows.label == c].min(initial=np.iinfo(np.uint64).max) for c in range(n_classes)]
    present = [c for c in np.lexsort((first, -share)) if share[c] > 0]  # in an order that names do not change
    if len(present) < 2 or not terms:
        return [_constant(_log_share(p), terms) for p in share]
    states = [_Newton(rows, terms) for _ in range(n_classes)]
    scores = np.tile(np.array([_log_share(p) for p in share]), (len(rows), 1))
    for c in present:
        states[c].beta[0] = scores[0, c]
    for _ in range(MAX_STEPS):
        change = 0.0
        for c in present:
            p = softmax(scores)[:, c]
            others = np.logaddexp.reduce(np.delete(scores, c, axis=1), axis=1)
            target = indicator[:, c].astype(np.float64)
            weight = rows.weight * np.maximum(p * (1 - p), 1e-12)
            loss = _offset_loss(target, rows.weight, others)
            states[c].step(rows.weight * (target - p), weight, 1.0, None, loss)
            now = states[c].scores()
            change = max(change, float(np.abs(now - scores[:, c]).max()))
            scores[:, c] = now
        update_strengths([states[c] for c in present])
        if change <= 300 * _TOLERANCE:
            break
    return [states[c].result(1.0) if c in present else _constant(_log_share(0.0), terms) for c in range(n_classes)]


def working(rows: GroupedRows, scores: np.ndarray, n_classes: int, dispersion: float) -> list[Working]:
    """Residuals and weights of each score at the fitted scores [n_groups, n_scores]."""
    if not n_classes:
        return [Working(rows.weight * (rows.label - scores[:, 0]) / dispersion, rows.weight / dispersion)]
    full = scores if scores.shape[1] > 1 else np.concatenate([np.zeros_like(scores), scores], axis=1)
    probability = softmax(full)
    return [
        Working(rows.weight * ((rows.label == c) - p), rows.weight * p * (1 - p))
        for c, p in enumerate(probability.T)
        if n_classes > 2 or c == 1
    ]


def scores_of(rows: GroupedRows, terms: Sequence[TermCells], fits: Sequence[FittedScore]) -> np.ndarray:
    """Scores of the groups. [n_groups, n_scores]"""
    columns = []
    for fitted in fits:
        total = np.full(len(rows), fitted.intercept)
        for term, values in zip(terms, fitted.values, strict=True):
            total += values[term.cell]
        columns.append(total)
    return np.stack(columns, axis=1)


class _Newton:
    """State of the iteration for one score."""

    def __init__(self, rows: GroupedRows, terms: Sequence[TermCells]):
        self.terms = terms
        sizes = [term.size for term in terms]
        self.offset = np.cumsum([1, *sizes])
        self.beta = np.zeros(self.offset[-1])
        self.strength = np.ones(len(terms))
        self.edf = np.array(sizes, np.float64)
        self.inverse: np.ndarray | None = None
        self.n_rows = len(rows)

    def own(self, j: int) -> slice:
        """Coefficients of a term."""
        return slice(self.offset[j], self.offset[j + 1])

    def start_from(self, fitted: FittedScore) -> None:
        """Take over the coefficients and strengths of a fit with fewer terms."""
        self.beta[0] = fitted.intercept
        for j, values in enumerate(fitted.values):
            self.beta[self.own(j)] = values
        self.strength[: len(fitted.strength)] = fitted.strength

    def scores(self, beta: np.ndarray | None = None) -> np.ndarray:
        """Scores of the groups, summed in the order of the terms."""
        beta = self.beta if beta is None else beta
        total = np.full(self.n_rows, beta[0])
        for j, term in enumerate(self.terms):
            total += beta[self.own(j)][term.cell]
        return total

    def cross_counts(self, weight: np.ndarray) -> np.ndarray:
        """Weighted counts of pairs of cells, the Hessian of the loss. [n, n]"""
        hessian = np.zeros((len(self.beta), len(self.beta)))
        hessian[0, 0] = weight.sum()
        for j, first in enumerate(self.terms):
            own = self.own(j)
            total = np.bincount(first.cell, weight, first.size)
            hessian[own, 0] = total
            hessian[own, own] = np.diag(total)
            for k in range(j):
                second = self.terms[k]
                cell = first.cell * second.size
                cell += second.cell
                hessian[own, self.own(k)] = np.bincount(cell, weight, first.size * second.size).reshape(first.size, -1)
        return hessian  # the lower triangle is enough

    def step(
        self,
        residual: np.ndarray,
        weight: np.ndarray,
        dispersion: float,
        counted: np.ndarray | None = None,
        loss: Loss | None = None,
    ) -> None:
        """Newton step for the current strengths, halved while the objective rises."""
        hessian = self.cross_counts(weight) / dispersion if counted is None else counted / dispersion
        gradient = np.empty(len(self.beta))
        gradient[0] = residual.sum() / dispersion
        for j, term in enumerate(self.terms):
            own = self.own(j)
            penalty = self.strength[j] * term.penalty
            penalty = penalty + self._against(j, float(hessian[own, own].diagonal().max()))
            hessian[own, own] += penalty
            gradient[own] = np.bincount(term.cell, residual, term.size) / dispersion - penalty @ self.beta[own]
        change, self.inverse = run_lapack(_solved, hessian, gradient)
        self._move(change, loss)

    def _move(self, change: np.ndarray, loss: Loss | None) -> None:
        if loss is None:
            self.beta = self.beta + change
            return
        start, size = self._objective(self.beta, loss), 1.0
        for _ in range(20):
            new = self.beta + size * change
            if self._objective(new, loss) <= start + 1e-12 * abs(start):
                break
            size /= 2
        self.beta = new

    def _objective(self, beta: np.ndarray, loss: Loss) -> float:
        penalty = sum(
            self.strength[j] * float(beta[self.own(j)] @ term.penalty @ beta[self.own(j)])
            for j, term in enumerate(self.terms)
        )
        return loss(self.scores(beta)) + penalty / 2

    def _against(self, j: int, size: float) -> np.ndarray | float:
        """Penalty on steps against the direction of a monotone curve; 0 for others."""
        term = self.terms[j]
        if not term.direction:
            return 0.0
        step = np.zeros((term.size - 2, term.size))
        step[:, :-1] = np.diff(np.eye(term.size - 1), axis=0)
        wrong = term.direction * (step @ self.beta[self.own(j)]) < 0
        return _MONOTONE_FACTOR * max(size, 1.0) * (step[wrong].T @ step[wrong])

    def amounts(self) -> tuple[np.ndarray, np.ndarray]:
        """Effective degrees of freedom and βᵀ S β of each term."""
        size = np.empty(len(self.terms))
        for j, term in enumerate(self.terms):
            own = self.own(j)
            block = self._inverse_block(own)
            self.edf[j] = max(term.size - self.strength[j] * float((block * term.penalty).sum()), 1e-9)
            size[j] = float(self.beta[own] @ term.penalty @ self.beta[own])
        return self.edf, size

    def _inverse_block(self, own: slice) -> np.ndarray:
        assert self.inverse is not None
        lower = np.tril(self.inverse[own, own])
        return lower + np.tril(lower, -1).T

    def result(self, dispersion: float) -> FittedScore:
        """Coefficients with standard errors; each term is centred by weight."""
        assert self.inverse is not None
        variance = np.maximum(self.inverse.diagonal(), 0.0)
        intercept, values, errors = float(self.beta[0]), [], []
        for j, term in enumerate(self.terms):
            own = self.beta[self.own(j)].copy()
            if term.direction:
                own[:-1] = term.direction * np.maximum.accumulate(term.direction * own[:-1])
            mean = float(term.weight @ own / term.weight.sum())
            intercept += mean
            values.append(np.where((term.weight == 0) & _is_missing(term), 0.0, own - mean))
            errors.append(np.sqrt(variance[self.own(j)]))
        return FittedScore(intercept, values, errors, self.strength, self.edf, dispersion)


def update_strengths(states: Sequence[_Newton]) -> None:
    """Fellner and Schall's rule for the strengths that the scores share; those of curves are pooled."""
    edf, size = (np.sum(part, axis=0) for part in zip(*(state.amounts() for state in states), strict=True))
    nu = np.array([POOLING if term.is_pooled else 0.0 for term in states[0].terms])
    old = states[0].strength
    common = float(np.exp(np.log(old[nu > 0]).mean())) if nu.any() else 1.0
    strength = np.clip((edf + nu) / np.maximum(size + nu / common, 1e-300), *_LIMITS)
    for state in states:
        state.strength = strength


def _solved(hessian: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solution of hessian · x = gradient, and the lower triangle of the inverse; a singular Hessian gets a small ridge."""
    potrf, potrs, potri = get_lapack_funcs(("potrf", "potrs", "potri"), dtype=np.float64)
    factor, failed = potrf(hessian, lower=1)
    if failed:
        ridge = np.eye(len(hessian)) * (1e-8 * float(hessian.diagonal().max()))
        factor, _ = potrf(hessian + ridge, lower=1)
    return potrs(factor, gradient, lower=1)[0], potri(factor, lower=1)[0]


def _is_missing(term: TermCells) -> np.ndarray:
    """Whether a cell of a curve is that of missing values. bool [n_cells]"""
    mask = np.zeros(term.shape, bool)
    if len(term.shape) == 1:
        mask[-1] = True
    return mask.ravel()


def _constant(intercept: float, terms: Sequence[TermCells]) -> FittedScore:
    zeros = [np.zeros(term.size) for term in terms]
    return FittedScore(intercept, zeros, zeros, np.ones(len(terms)), np.zeros(len(terms)))


_MAX_LOG_ODDS = 50.0  # of a class that does not occur, or is alone: its probability is 0 to all digits that matter


def _log_odds(rate: float) -> float:
    return _MAX_LOG_ODDS * np.sign(rate - 0.5) if rate in (0.0, 1.0) else float(np.log(rate / (1 - rate)))


def _log_share(share: float) -> float:
    return float(np.log(share)) if share > 0 else -_MAX_LOG_ODDS


def _sigmoid(scores: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(scores, -500, 500)))


def _logistic_loss(scores: np.ndarray, target: np.ndarray, weight: np.ndarray) -> float:
    return float(weight @ (np.logaddexp(0.0, scores) - target * scores))


def _offset_loss(target: np.ndarray, weight: np.ndarray, others: np.ndarray) -> Loss:
    """Loss of the scores of one class, given log Σ exp of the others."""
    return lambda scores: float(weight @ (np.logaddexp(scores, others) - target * scores))
