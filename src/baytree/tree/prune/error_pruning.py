"""Pruning by error: collapse, Quinlan's pessimistic estimate with or without subtree raising, and held-out rows."""

from __future__ import annotations

from statistics import NormalDist

import msgspec
import numpy as np

from baytree import _core
from baytree.tree.grow.fractional import PROGRAMS, Growth, Rows
from baytree.tree.grow.policy import Arithmetic, Collapse, ErrorBased, Policy, ReducedError

# Quinlan's normal deviates by confidence; between two of them the deviate is interpolated.
Z_TABLE = (
    (0.0, 4.0), (0.001, 3.09), (0.005, 2.58), (0.01, 2.33), (0.05, 1.65),
    (0.10, 1.28), (0.20, 0.84), (0.40, 0.25), (1.0, 0.0),
)  # fmt: skip


class Pessimism(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The upper confidence limit of a node's errors.

    z is the normal deviate of the confidence, `top_share` the share of the right cases that is feared to be wrong
    where nearly all are wrong already.
    """

    confidence: float
    z: float
    top_share: float

    def __call__(self, n: float, errors: float) -> float:
        """Errors to expect from n new cases, after this many were seen.

        >>> round(pessimism("c4.5", 0.25)(6, 0), 4)
        1.2378
        """
        return errors + _core.extra_errors(n, errors, self.confidence, self.z, self.top_share)


def pessimism(arithmetic: str, confidence: float) -> Pessimism:
    """The estimate of C4.5 release 8 and C5.0 (interpolated deviates) or of J48 (exact deviates)."""
    if arithmetic in (Arithmetic.C45, Arithmetic.C50):
        at, deviate = zip(*Z_TABLE, strict=True)
        return Pessimism(confidence, float(np.interp(confidence, at, deviate)), 0.67)
    return Pessimism(confidence, NormalDist().inv_cdf(1 - confidence), 1.0)


def prune_nodes(growth: Growth, policy: Policy, rows: Rows, held_out: Rows | None) -> None:
    """The pruning of a policy, one step after the other; `rows` are those that the nodes were grown from."""
    for step in policy.pruning:
        if isinstance(step, Collapse):
            collapse(growth)
        elif isinstance(step, ErrorBased):
            prune_by_estimate(growth, policy.arithmetic, step, rows)
        elif isinstance(step, ReducedError) and held_out is not None:
            prune_on_held_out(growth, held_out)


def collapse(growth: Growth) -> None:
    """Makes a leaf of every node whose subtree is no better on its training rows than a leaf."""
    _core.collapse(growth.nodes, growth.single)


def prune_by_estimate(growth: Growth, arithmetic: Arithmetic, step: ErrorBased, rows: Rows | None) -> None:
    """Error-based pruning. With the training rows a node may also give its place to its heaviest branch."""
    estimate = pessimism(arithmetic, step.confidence)
    how = (estimate.confidence, estimate.z, estimate.top_share)
    if rows is None or not step.raising:
        _core.error_prune(growth.nodes, *how, growth.single)
        return
    _core.error_prune_raising(growth.nodes, *_given(rows), *how, PROGRAMS[arithmetic].tolerance, growth.single)


def prune_on_held_out(growth: Growth, held_out: Rows) -> None:
    """Reduced-error pruning: a subtree stays only if it beats a leaf on rows that it was not grown from."""
    _core.reduce_errors(growth.nodes, *_given(held_out), 1e-6)


def _given(rows: Rows) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return rows.columns, rows.levels, rows.label, rows.weight, rows.chosen
