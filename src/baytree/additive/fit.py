"""Penalised regression on cells: Newton steps, with strengths that the marginal likelihood chooses.

The objective of one score is the deviance / 2 plus Σ λ_j βᵀ S_j β / 2. After each Newton step the strengths are updated by
Fellner and Schall's rule, λ_j = (edf_j + ν) / (βᵀ S_j β + ν / λ̄), where ν pools the curves: with few rows a column without a
clear signal takes the strength of the others. The fit ends when a step moves the scores by a small part of their standard
errors: further steps would change what the rows cannot tell. Softmax scores are fitted one class after the other, given the
others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.additive.design import GroupedRows, TermCells
from baytree.additive.newton import FittedScore, Loss, NewtonState, centre_scores, design_of, update_strengths
from baytree.additive.pairs import Working
from baytree.base.model import softmax

MAX_STEPS = 150  # Newton steps; each updates the strengths

_TOLERANCE = 0.003  # change of the scores in a step, in standard errors, at which the strengths are settled

_OPTIMAL = 1e-6  # change of scores after which the coefficients are the optimum for their strengths


def fit_number(rows: GroupedRows, terms: Sequence[TermCells]) -> FittedScore:
    """Least squares; the strengths take the residual variance into account."""
    total = float(rows.weight.sum())
    mean = float(rows.weight @ rows.label / total)
    spread = float(np.sqrt((rows.weight @ (rows.label - mean) ** 2 + rows.within) / total))
    if not spread > 0 or not terms:
        return _constant(mean, terms)
    design = design_of(terms, len(rows))
    state = NewtonState(design)
    response = (rows.label - mean) / spread
    dispersion = 1.0
    (hessian,) = design.hessians(rows.weight[None])
    for _ in range(MAX_STEPS):
        before = state.scores
        state.step(rows.weight * (response - before), hessian.copy(), dispersion)
        update_strengths([state])
        rss = float(rows.weight @ (response - state.scores) ** 2) + rows.within / spread**2
        old, dispersion = dispersion, max(rss / max(total - 1 - state.edf.sum(), 1.0), 1e-12)
        change = float(rows.weight @ (state.scores - before) ** 2) / dispersion
        if _is_settled(change, [state]) and abs(dispersion / old - 1) <= _TOLERANCE**2:
            break
    state.step(rows.weight * (response - state.scores), hessian, dispersion)
    fitted = state.result(dispersion)
    return fitted._replace(
        intercept=mean + spread * fitted.intercept,
        values=[spread * each for each in fitted.values],
        errors=[spread * each for each in fitted.errors],
    )


def fit_classes(
    rows: GroupedRows, terms: Sequence[TermCells], n_classes: int, start: Sequence[FittedScore] = ()
) -> list[FittedScore]:
    """Log-odds of the second of two classes, or a score per class; `start` is a fit of the first terms."""
    if n_classes == 2:
        return [_fit_logit(rows, terms, start[0] if start else None)]
    return _fit_softmax(rows, terms, n_classes, start)


def _fit_logit(rows: GroupedRows, terms: Sequence[TermCells], start: FittedScore | None) -> FittedScore:
    is_second = (rows.label == 1).astype(np.float64)
    rate = float(rows.weight @ is_second / rows.weight.sum())
    if not 0 < rate < 1 or not terms:
        return _constant(_log_odds(rate), terms)
    design = design_of(terms, len(rows))
    state = NewtonState(design, _log_odds(rate), start)
    is_settled = False
    for _ in range(MAX_STEPS):
        before = state.scores
        p = _sigmoid(before)
        weight = rows.weight * p * (1 - p)
        (hessian,) = design.hessians(weight[None])
        state.step(rows.weight * (is_second - p), hessian, 1.0, lambda s: _logistic_loss(s, is_second, rows.weight))
        change = state.scores - before
        if is_settled and np.abs(change).max() <= _OPTIMAL:
            break
        if not is_settled:
            update_strengths([state])
            is_settled = _is_settled(float(weight @ change**2), [state])
    return state.result()


def _fit_softmax(
    rows: GroupedRows, terms: Sequence[TermCells], n_classes: int, start: Sequence[FittedScore]
) -> list[FittedScore]:
    """One Newton step per class in turn, until the scores of all classes are settled."""
    indicator = (rows.label == np.arange(n_classes)[:, None]).astype(np.float64)
    share = indicator @ rows.weight / rows.weight.sum()
    first = [rows.content[rows.label == c].min(initial=np.iinfo(np.uint64).max) for c in range(n_classes)]
    present = [c for c in np.lexsort((first, -share)) if share[c] > 0]  # in an order that names do not change
    if len(present) < 2 or not terms:
        return [_constant(_log_share(p), terms) for p in share]
    design = design_of(terms, len(rows))
    states = [NewtonState(design, _log_share(share[c]), start[c] if start else None) for c in present]
    scores = np.stack([state.scores for state in states])  # [n_present, n_groups]
    for _ in range(MAX_STEPS):
        before, p = scores.copy(), softmax(scores.T).T
        weight = rows.weight * np.maximum(p * (1 - p), 1e-12)
        for k, (state, hessian) in enumerate(zip(states, design.hessians(weight), strict=True)):
            target, others = indicator[present[k]], _log_sum_exp(np.delete(scores, k, axis=0))
            residual = rows.weight * (target - _sigmoid(scores[k] - others))
            state.step(residual, hessian, 1.0, _offset_loss(target, rows.weight, others))
            scores[k] = state.scores
        centre_scores(states)
        scores = np.stack([state.scores for state in states])
        update_strengths(states)
        change = scores - before
        spread = (p * change**2).sum(axis=0) - (p * change).sum(axis=0) ** 2  # a common change of all scores is none
        if _is_settled(float(rows.weight @ spread), states):
            break
    fits = dict(zip(present, (state.result() for state in states), strict=True))
    return [fits[c] if c in fits else _constant(_log_share(0.0), terms) for c in range(n_classes)]


def _is_settled(change: float, states: Sequence[NewtonState]) -> bool:
    """Whether a weighted sum of squared changes of scores is small; the sampling variance of the scores has the sum edf."""
    return change <= _TOLERANCE**2 * (1 + sum(float(state.edf.sum()) for state in states))


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
    softplus = np.maximum(scores, 0.0) + np.log(1 + np.exp(-np.abs(scores)))  # np.logaddexp takes ten times as long
    return float(weight @ (softplus - target * scores))


def _offset_loss(target: np.ndarray, weight: np.ndarray, others: np.ndarray) -> Loss:
    """Loss of the scores of one class, given log Σ exp of the others."""
    return lambda scores: _logistic_loss(scores - others, target, weight)


def _log_sum_exp(scores: np.ndarray) -> np.ndarray:
    """log Σ exp over the first axis."""
    highest = scores.max(axis=0)
    return highest + np.log(np.exp(scores - highest).sum(axis=0))
