"""Newton steps on the coefficients of the cells of all terms, for given strengths of their penalties.

The Hessian of the loss is made of weighted counts of pairs of cells, which the core computes for several scores at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs

from baytree import _core
from baytree.additive.design import TermCells
from baytree.parallel.blas import run_lapack

POOLING = 4.0  # ν: degrees of freedom of the common strength

_MONOTONE_FACTOR = 1e6  # strength of the penalty on steps against the direction, relative to the Hessian's diagonal

_LIMITS = 1e-6, 1e9  # range of strengths

_WIDE = 0.5  # rows per coefficient below which the equations are solved for the rows

_MAX_KERNELS = 4_000_000  # numbers in the kernel matrices of all terms, 32 MB

_INTERCEPT_VARIANCE = 1e4  # of the intercept, which has no penalty, in the space of the rows; the optimum is the same

_MAX_SCORES = 4  # scores whose Hessians are counted in one pass


Loss = Callable[[np.ndarray], float]  # of scores, without the penalty


class FittedScore(NamedTuple):
    """Coefficients of one score."""

    intercept: float
    values: list[np.ndarray]  # [n_cells] of each term
    errors: list[np.ndarray]  # standard errors
    strength: np.ndarray  # [n_terms]
    edf: np.ndarray  # effective degrees of freedom of each term
    dispersion: float = 1.0


class NewtonSolution(NamedTuple):
    """Newton step, effective degrees of freedom of each term, and a function for the variances of its coefficients."""

    change: np.ndarray
    edf: np.ndarray
    variances: Callable[[], list[np.ndarray]]


class CellDesign:
    """Design of an intercept and the cells of all terms; each row has a one in one cell of each term."""

    def __init__(self, terms: Sequence[TermCells], n_rows: int):
        self.terms, self.n_rows = terms, n_rows
        self._size = np.array([1, *(term.size for term in terms)], np.int64)
        self._offset = np.cumsum([0, *self._size])
        self._cell = np.stack([np.zeros(n_rows, np.int32), *(term.cell.astype(np.int32) for term in terms)])

    def __len__(self) -> int:
        return int(self._offset[-1])

    def own(self, j: int) -> slice:
        """Coefficients of a term."""
        return slice(self._offset[j + 1], self._offset[j + 2])

    def scores(self, beta: np.ndarray) -> np.ndarray:
        """Scores of the rows, summed in the order of the terms."""
        total = np.full(self.n_rows, beta[0])
        for j, term in enumerate(self.terms):
            total += beta[self.own(j)][term.cell]
        return total

    def hessians(self, weight: np.ndarray) -> Iterator[np.ndarray]:
        """Hessian of the loss for each row of weights [n_scores, n_rows]: the lower triangle, by terms, of [n, n]."""
        for first in range(0, len(weight), _MAX_SCORES):
            some = np.ascontiguousarray(weight[first : first + _MAX_SCORES])
            out = np.zeros((len(some), len(self), len(self)))
            _core.cell_products(self._cell, self._size, some, out)
            yield from out

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        """Sums of the residuals of each cell, the gradient of the log-likelihood."""
        parts = [np.bincount(term.cell, residual, term.size) for term in self.terms]
        return np.concatenate([[residual.sum()], *parts])

    def solve(self, hessian: np.ndarray, strength: np.ndarray, beta: np.ndarray, gradient: np.ndarray) -> NewtonSolution:
        """Newton step of the penalised objective, given the Hessian of the loss, which is overwritten."""
        gradient = gradient.copy()
        for j, term in enumerate(self.terms):
            own = self.own(j)
            penalty = strength[j] * term.penalty
            if term.direction:
                penalty = penalty + _against(term, beta[own], float(hessian[own, own].diagonal().max()))
            hessian[own, own] += penalty
            gradient[own] -= penalty @ beta[own]
        change, inverse = run_lapack(_solved, hessian, gradient)
        edf = np.empty(len(self.terms))
        for j, term in enumerate(self.terms):
            lower = np.tril(inverse[self.own(j), self.own(j)])
            block = lower + np.tril(lower, -1).T
            edf[j] = term.size - strength[j] * float((block * term.penalty).sum())
        return NewtonSolution(change, edf, lambda: [inverse.diagonal()[self.own(j)] for j in range(len(self.terms))])


class RowDesign(CellDesign):
    """The same design, solved in the space of the rows, which are fewer than the coefficients.

    With G the inverse of the penalty, the inverse of X'WX + G⁻¹ is G − G X' (W⁻¹ + X G X')⁻¹ X G (Woodbury). X G X' is a sum
    of one kernel matrix per term, divided by its strength. The Newton step is that of `CellDesign`.
    """

    def __init__(self, terms: Sequence[TermCells], n_rows: int):
        super().__init__(terms, n_rows)
        self._covariance = [np.linalg.inv(term.penalty) for term in terms]
        kernels = [each[term.cell][:, term.cell].ravel() for term, each in zip(terms, self._covariance, strict=True)]
        self._kernels = np.stack(kernels)  # [n_terms, n_rows²]

    def hessians(self, weight: np.ndarray) -> Iterator[np.ndarray]:
        """The weights of each score: the Hessian is not needed."""
        yield from weight

    def solve(self, hessian: np.ndarray, strength: np.ndarray, beta: np.ndarray, gradient: np.ndarray) -> NewtonSolution:
        """Newton step of the penalised objective, given the weights of the rows."""
        root = np.sqrt(hessian)
        covariance = [each / scale for each, scale in zip(self._covariance, strength, strict=True)]
        step = np.empty(len(beta))
        step[0] = _INTERCEPT_VARIANCE * gradient[0]
        for j, each in enumerate(covariance):
            step[self.own(j)] = each @ gradient[self.own(j)] - beta[self.own(j)]
        system = ((1 / strength) @ self._kernels + _INTERCEPT_VARIANCE).reshape(self.n_rows, -1) * root[:, None] * root
        system[np.diag_indices_from(system)] += 1.0
        solution, inverse = run_lapack(_solved, system, root * self.scores(step))
        inverse = (np.tril(inverse) + np.tril(inverse, -1).T) * root[:, None] * root
        pulled = self.gradient(root * solution)
        step[0] -= _INTERCEPT_VARIANCE * pulled[0]
        for j, each in enumerate(covariance):
            step[self.own(j)] -= each @ pulled[self.own(j)]
        return NewtonSolution(step, self._kernels @ inverse.ravel() / strength, lambda: self._variances(covariance, inverse))

    def _variances(self, covariance: list[np.ndarray], inverse: np.ndarray) -> list[np.ndarray]:
        found = []
        for term, each in zip(self.terms, covariance, strict=True):
            pair = (term.cell[:, None] * term.size + term.cell).ravel()
            explained = np.bincount(pair, inverse.ravel(), term.size**2).reshape(term.size, term.size)
            found.append(each.diagonal() - ((each @ explained) * each).sum(axis=1))
        return found


def design_of(terms: Sequence[TermCells], n_rows: int) -> CellDesign:
    """Design whose Newton step is the cheaper one: in the space of the coefficients or of the rows."""
    n_coefficients = 1 + sum(term.size for term in terms)
    is_wide = n_rows < _WIDE * n_coefficients and len(terms) * n_rows**2 <= _MAX_KERNELS
    is_wide = is_wide and not any(term.direction for term in terms)  # steps against a direction couple the cells of a term
    return RowDesign(terms, n_rows) if is_wide else CellDesign(terms, n_rows)


class NewtonState:
    """State of the iteration for one score."""

    def __init__(self, design: CellDesign, intercept: float = 0.0, start: FittedScore | None = None):
        self.design, self.terms = design, design.terms
        self.beta = np.zeros(len(design))
        self.beta[0] = intercept
        self.strength = np.ones(len(self.terms))
        self.edf = np.array([term.size for term in self.terms], np.float64)
        self.variances: Callable[[], list[np.ndarray]] = list
        if start is not None:  # a fit with fewer terms
            self.beta[0] = start.intercept
            for j, values in enumerate(start.values):
                self.beta[design.own(j)] = values
            self.strength[: len(start.strength)] = start.strength
        self.scores = design.scores(self.beta)

    def step(self, residual: np.ndarray, hessian: np.ndarray, dispersion: float = 1.0, loss: Loss | None = None) -> None:
        """Newton step for the current strengths, halved while the objective rises; overwrites the Hessian."""
        if dispersion != 1:
            hessian = hessian / dispersion
            residual = residual / dispersion
        gradient = self.design.gradient(residual)
        change, edf, self.variances = self.design.solve(hessian, self.strength, self.beta, gradient)
        self.edf = np.maximum(edf, 1e-9)
        self._move(change, loss)

    def _move(self, change: np.ndarray, loss: Loss | None) -> None:
        moved = self.design.scores(change)
        size = 1.0
        if loss is not None:
            start = loss(self.scores) + self._penalty(self.beta)
            for _ in range(20):
                if loss(self.scores + size * moved) + self._penalty(self.beta + size * change) <= start + 1e-12 * abs(start):
                    break
                size /= 2
        self.beta = self.beta + size * change
        self.scores = self.scores + size * moved

    def _penalty(self, beta: np.ndarray) -> float:
        return (
            sum(
                self.strength[j] * float(beta[own] @ term.penalty @ beta[own])
                for j, term in enumerate(self.terms)
                for own in (self.design.own(j),)
            )
            / 2
        )

    def sizes(self) -> np.ndarray:
        """βᵀ S β of each term."""
        own = (self.beta[self.design.own(j)] for j in range(len(self.terms)))
        return np.array([float(beta @ term.penalty @ beta) for beta, term in zip(own, self.terms, strict=True)])

    def result(self, dispersion: float = 1.0) -> FittedScore:
        """Coefficients with standard errors; each term is centred by weight."""
        intercept, values, errors = float(self.beta[0]), [], []
        for j, (term, variance) in enumerate(zip(self.terms, self.variances(), strict=True)):
            own = self.beta[self.design.own(j)].copy()
            if term.direction:
                own[:-1] = term.direction * np.maximum.accumulate(term.direction * own[:-1])
            mean = float(term.weight @ own / term.weight.sum())
            intercept += mean
            values.append(np.where((term.weight == 0) & _is_missing(term), 0.0, own - mean))
            errors.append(np.sqrt(np.maximum(variance, 0.0)))
        return FittedScore(intercept, values, errors, self.strength, self.edf, dispersion)


def centre_scores(states: Sequence[NewtonState]) -> None:
    """Take the mean over the scores from each coefficient of terms without direction.

    Probabilities of classes stay the same, and the penalty, which the scores share, becomes the least: the optimum has
    this mean, which steps of one score after the other approach slowly.
    """
    terms = states[0].terms
    mean = np.mean([state.beta for state in states], axis=0)
    for j, term in enumerate(terms):
        if term.direction:
            mean[states[0].design.own(j)] = 0.0
    moved = states[0].design.scores(mean)
    for state in states:
        state.beta = state.beta - mean
        state.scores = state.scores - moved


def update_strengths(states: Sequence[NewtonState]) -> None:
    """Fellner and Schall's rule for the strengths that the scores share; those of curves are pooled.

    Scores of classes sum to zero, so that n of them have the degrees of freedom of n − 1.
    """
    edf, size = np.sum([state.edf for state in states], axis=0), np.sum([state.sizes() for state in states], axis=0)
    if len(states) > 1:
        edf *= 1 - 1 / len(states)
    nu = np.array([POOLING if term.is_pooled else 0.0 for term in states[0].terms])
    old = states[0].strength
    common = float(np.exp(np.log(old[nu > 0]).mean())) if nu.any() else 1.0
    strength = np.clip((edf + nu) / np.maximum(size + nu / common, 1e-300), *_LIMITS)
    for state in states:
        state.strength = strength


def _against(term: TermCells, beta: np.ndarray, size: float) -> np.ndarray:
    """Penalty on steps against the direction of a monotone curve."""
    step = np.zeros((term.size - 2, term.size))
    step[:, :-1] = np.diff(np.eye(term.size - 1), axis=0)
    wrong = term.direction * (step @ beta) < 0
    return _MONOTONE_FACTOR * max(size, 1.0) * (step[wrong].T @ step[wrong])


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
