"""Rows of a logistic regression in a database: loss, gradient and Hessian of a step are the answer of one query.

The query computes the scores of each row from the coefficients, then residuals and second derivatives, and adds up their
products with the features. The solver is the one of rows in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from baytree.engine.partitions import PartitionValues
from baytree.linear.design.design import Design
from baytree.linear.logistic.objective import LossGradient
from baytree.linear.logistic.rows import DenseRows

_MAX_SCORE = 700.0  # beyond it exp overflows or underflows, which PostgreSQL refuses; probabilities are 0 or 1 before


class QueriedRows(DenseRows, frozen=True):
    """Rows whose loss, gradient and Hessian are computed by a database."""

    def every(self, step: int) -> QueriedRows:
        """All rows: a query reads them all in any case."""
        return self

    def slope_and_curvature(self, theta: np.ndarray) -> LossGradient:
        """Loss, gradient and Hessian in one query."""
        return self._block.slope_and_curvature(theta)

    def largest_score(self, theta: np.ndarray) -> float:
        """Largest |score| of any row."""
        return self._block.largest_score(theta)

    @property
    def _block(self) -> _QueriedBlock:
        pieces: Any = self.pieces
        return pieces.block


def queried_rows(rows: Any, design: Design, present: np.ndarray, class_weight: np.ndarray, total: float) -> QueriedRows:
    """Rows of `SqlPartitions` in the units of a design; `present` are the codes of the classes that occur."""
    k = 1 if len(present) <= 2 else len(present)
    block = _QueriedBlock(rows, design, present, class_weight, total, k)
    p = len(design)
    pieces: PartitionValues[Any] = _OnePiece(block)
    return QueriedRows(pieces, rows.n_rows, p + 1, k, np.zeros(p), np.ones(p))


class _OnePiece:
    """A single piece that holds all rows."""

    def __init__(self, block: _QueriedBlock):
        self.block = block

    def map_reduce(self, observe: Callable[[Any], Any]) -> Any:
        """What is observed of the block, whose methods are queries."""
        return observe(self.block)

    def apply(self, make: Callable[[Any], Any]) -> Any:
        """Refuse: rows are not changed in a database."""
        raise self.block.rows.refusal()

    def gather(self) -> Any:
        """Refuse: rows stay in the database."""
        raise self.block.rows.refusal()


class _QueriedBlock:
    """Loss, gradient and Hessian of all rows; coefficients are [k, p], intercepts [k]."""

    def __init__(self, rows: Any, design: Design, present: np.ndarray, class_weight: np.ndarray, total: float, k: int):
        self.rows, self.present, self.class_weight, self.total, self.k = rows, present, class_weight, total, k
        self.sums = rows.feature_sums(design.layout, design.centre, design.scale)

    def __getattr__(self, name: str) -> Any:
        raise self.rows.refusal()

    def loss_gradient(self, coefficient: np.ndarray, intercept: np.ndarray) -> LossGradient:
        """Loss and gradient."""
        return self._derivatives(np.column_stack([coefficient, intercept]), with_hessian=False)

    def hessian(self, coefficient: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Hessian of the mean loss. [k * q, k * q]"""
        hessian = self.slope_and_curvature(np.column_stack([coefficient, intercept])).hessian
        assert hessian is not None
        return hessian

    def slope_and_curvature(self, theta: np.ndarray) -> LossGradient:
        """Loss, gradient and Hessian."""
        return self._derivatives(theta, with_hessian=True)

    def largest_score(self, theta: np.ndarray) -> float:
        """Largest |score| of any row."""
        return max(self.sums.total(lambda row, c=c: row.score(theta[c]).abs(), "max") for c in range(self.k))

    def _derivatives(self, theta: np.ndarray, with_hessian: bool) -> LossGradient:
        scores = [f"s{c}" for c in range(self.k)]
        pairs = [(c, d) for c in range(self.k) for d in range(c, self.k)] if with_hessian else []

        def stage(row: Any) -> Mapping[str, Any]:
            weight = self.rows.class_factor(row.label, self.class_weight) * row.weight
            return {name: row.score(theta[c]) for c, name in enumerate(scores)} | {"w": weight, "y": row.label}

        def weigh(staged: Any) -> Mapping[str, Any]:
            probability, loss = self._probabilities(staged, scores)
            codes = self.present[1:] if self.k == 1 else self.present
            hits = [self.rows.is_class(staged.y, int(code)) for code in codes]
            sums = {"loss": staged.w * loss}
            for c, (p, hit) in enumerate(zip(probability, hits, strict=True)):
                sums["loss"] = sums["loss"] - staged.w * hit * staged[scores[c]]
                sums[f"r{c}"] = staged.w * (p - hit)
            for c, d in pairs:
                sums[f"h{c}_{d}"] = staged.w * probability[c] * ((1.0 if c == d else 0.0) - probability[d])
            return sums

        names = [f"h{c}_{d}" for c, d in pairs]
        (found,) = self.sums.sums(stage, weigh, ["loss"], [f"r{c}" for c in range(self.k)], names)
        gradient = np.array([found.linear[f"r{c}"] for c in range(self.k)]) / self.total
        loss = found.totals["loss"] / self.total
        return LossGradient(loss, gradient, self._hessian(found.quadratic) if with_hessian else None)

    def _hessian(self, blocks: Mapping[str, np.ndarray]) -> np.ndarray:
        q = len(next(iter(blocks.values())))
        hessian = np.zeros((self.k * q, self.k * q))
        for name, block in blocks.items():
            c, d = map(int, name[1:].split("_"))
            hessian[c * q : (c + 1) * q, d * q : (d + 1) * q] = block / self.total
            hessian[d * q : (d + 1) * q, c * q : (c + 1) * q] = block.T / self.total
        return hessian

    def _probabilities(self, staged: Any, scores: Sequence[str]) -> tuple[list[Any], Any]:
        """Probability of each score's class, and log Σ exp(score)."""
        return self.rows.probabilities([staged[name] for name in scores], _MAX_SCORE)
