"""Rows of this process: the core finds the optimum on them in one call (`src/core/linear/logistic`).

The core uses Newton's method for every penalty. With a smooth penalty, conjugate gradients find its steps, so several
classes need no Hessian of all coefficients. With an L1 penalty, only the coefficients that matter take part. Dense and
sparse rows go the same way.

Rows on other machines or on disk are left to `newton.py`: there, every product with the Hessian would be a pass. So are many
dense rows of two classes, whose Hessian BLAS and threads compute faster, and fits without a penalty, whose Hessian may be
singular.
"""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.partitions import LocalPartitionValues
from baytree.linear.logistic.build_rows import Rows
from baytree.linear.logistic.dense_block import DenseBlock
from baytree.linear.logistic.objective import Penalty, Solution, Start, Tolerance
from baytree.linear.logistic.rows import DenseRows
from baytree.linear.logistic.sparse_block import SparseBlock

_MAX_HESSIAN_WORK = 1 << 21  # multiplications of one Hessian of two classes; above it BLAS and threads are faster


class CoreRows(msgspec.Struct, frozen=True):
    """Rows that the core holds."""

    rows: _core.LogisticRows

    @classmethod
    def of(cls, rows: Rows) -> Self | None:
        """These rows, or None if the core should not solve them: see the text of this module."""
        if not isinstance(rows.pieces, LocalPartitionValues):
            return None
        if not isinstance(rows, DenseRows):
            return cls.of_sparse(rows.gathered())
        if rows.k == 1 and rows.n_rows * rows.q**2 > _MAX_HESSIAN_WORK:
            return None
        block = DenseBlock.joined(rows.pieces.gather())
        x = np.ascontiguousarray((block.x - rows.centre) / rows.scale)
        return cls(_core.LogisticRows.dense(x, block.label, block.weight, block.k))

    @classmethod
    def of_sparse(cls, block: SparseBlock) -> Self:
        """Rows of one sparse block."""
        x = block.x
        return cls(_core.LogisticRows.compressed(x.start, x.code, x.value, block.q, block.label, block.weight, block.k))

    def optimum(self, penalty: Penalty, start: Start, aim: Tolerance) -> Solution | None:
        """Optimum, or None if the core finds none."""
        result = self.rows.optimum(
            penalty.ridge,
            penalty.lasso,
            np.stack([start.theta, *start.others]),
            aim.tol,
            aim.target_tol,
            aim.max_iter,
            start.preconditioner,
        )
        return Solution(*result) if result else None

    def preconditioner(self, penalty: Penalty, theta: np.ndarray) -> _core.Preconditioner | None:
        """Preconditioner at these coefficients for problems nearby; None with an L1 penalty, which has no use for it."""
        if not penalty.is_smooth:
            return None
        return self.rows.preconditioner(penalty.ridge, penalty.lasso, np.ascontiguousarray(theta))

    def loss(self, theta: np.ndarray) -> float:
        """Mean loss at these coefficients."""
        return self.rows.loss(np.ascontiguousarray(theta))
