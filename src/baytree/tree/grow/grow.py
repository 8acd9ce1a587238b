"""Rows and a policy in, a tree out: hands a table to the growing machine of the core and reads its arrays back."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.threads import count
from baytree.table.table import Table
from baytree.tree.grow.policy import Policy
from baytree.tree.model.routing import columns, level_counts
from baytree.tree.model.structure import Surrogates, Tree

TRIED_LEVELS = 12  # with three or more classes, up to here every way to group levels is tried
CART_TRIED_LEVELS = 25  # rpart tries them all: every level more doubles the time


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What classes weigh: their scale in the search, their scale in the risk, and the loss of each mistake."""

    scale: np.ndarray  # [n_classes]
    risk_scale: np.ndarray  # [n_classes]
    loss: np.ndarray  # [n_classes (true), n_classes (predicted)]


class Conventions(msgspec.Struct, frozen=True, kw_only=True):
    """How the machine breaks ties and treats rows without a value; the defaults are baytree's own."""

    is_cart: bool = False  # rpart's arithmetic
    counts_rows: bool = False  # sizes are rows, whatever their weights
    most_levels: int = TRIED_LEVELS
    max_surrogates: int = 0
    use_surrogate: int = 2
    surrogate_style: int = 0
    min_risk: float = 0.0


OWN = Conventions()


def grow(table: Table, policy: Policy, costs: Costs, conventions: Conventions = OWN, threads: int | None = None) -> Tree:
    """The tree that a policy grows on a table."""
    grown = grow_arrays(table, policy, costs, conventions, threads)
    return tree_of(grown, costs, uses_surrogates=conventions.use_surrogate > 0)


def grow_arrays(
    table: Table, policy: Policy, costs: Costs, conventions: Conventions = OWN, threads: int | None = None
) -> dict[str, Any]:
    """The same as the core's arrays, one entry per node."""
    label = table.label
    is_class = table.n_classes > 0
    return _core.grow(
        columns(table),
        level_counts(table.schema),
        np.ascontiguousarray(label, np.int32) if is_class else None,
        None if is_class else np.ascontiguousarray(label, np.float64),
        None if table.is_unweighted else np.ascontiguousarray(table.weight, np.float64),
        np.ascontiguousarray(costs.scale, np.float64),
        _settings(table, policy, costs, conventions),
        count(threads),
    )


def equal_costs(n_classes: int) -> Costs:
    """No class weighs more than another, and every mistake costs 1."""
    return Costs(scale=np.ones(n_classes), risk_scale=np.ones(n_classes), loss=1.0 - np.eye(n_classes))


def altered_costs(counts: np.ndarray, priors: np.ndarray | None, loss: np.ndarray | None) -> Costs:
    """Class scales for priors and losses: the altered priors of Breiman et al. (1984, 4.4).

    The sums run in rpart's order (one over all products, one per class), because its ties hang on their last bit.
    """
    n = len(counts)
    loss = 1.0 - np.eye(n) if loss is None else np.asarray(loss, float)
    share = counts / counts.sum()
    priors = share if priors is None else np.asarray(priors, float)
    whole, altered = 0.0, np.zeros(n)
    for i in range(n):
        for j in range(n):
            whole += loss[i, j] * priors[i]
            altered[i] += loss[i, j] * priors[i]
    occurs = share > 0
    scale, risk_scale = np.zeros(n), np.zeros(n)
    scale[occurs] = altered[occurs] / (whole * share[occurs]) if whole > 0 else 1.0
    risk_scale[occurs] = priors[occurs] / share[occurs]
    return Costs(scale=scale, risk_scale=risk_scale, loss=loss)


def tree_of(grown: dict[str, Any], costs: Costs, uses_surrogates: bool = True) -> Tree:
    """The tree of the core's arrays."""
    counts, mean = grown["counts"], grown.pop("mean")
    grown.pop("depth")
    substitutes = _with_bools(grown.pop("surrogates"), "strict", "flipped")
    value = _probabilities(counts, costs) if counts.shape[1] else mean[:, None].copy()
    return Tree(
        **_with_bools(grown, "strict", "mirrored"),
        share=_shares(grown),
        value=value,
        complexity=np.zeros(len(mean)),
        surrogates=Surrogates(**substitutes),
        uses_surrogates=uses_surrogates,
    )


def _settings(table: Table, policy: Policy, costs: Costs, conventions: Conventions) -> dict[str, Any]:
    stop = policy.stopping
    return {
        "criterion": policy.criterion.value,
        "missing": policy.missing.value,
        "min_split": float(stop.min_split),
        "min_leaf": float(stop.min_leaf),
        "max_depth": 2**31 - 1 if stop.max_depth is None else int(stop.max_depth),
        "min_impurity": float(stop.min_impurity),
        "min_gain": float(stop.min_gain) * float(table.weight.sum()),
        "critical": _critical(stop.alpha, table.n_classes),
        "risk_scale": costs.risk_scale.tolist(),
        "loss": costs.loss.ravel().tolist(),
        "is_counted": _is_counted(table, costs),
        **msgspec.structs.asdict(conventions),
    }


def _is_counted(table: Table, costs: Costs) -> bool:
    """Masses are whole numbers, so that ties can be told from near ties."""
    if not np.all(costs.scale == 1.0):
        return False
    return table.is_unweighted or bool(np.all(table.weight == np.floor(table.weight)) and table.weight.max() < 2**31)


def _critical(alpha: float | None, n_classes: int) -> list[float]:
    if alpha is None:
        return []
    from scipy.stats import chi2  # only growing needs it: predicting stays free of scipy

    return [0.0, *chi2.isf(alpha, np.arange(1, max(2, 2 * n_classes))).tolist()]


def _probabilities(counts: np.ndarray, costs: Costs) -> np.ndarray:
    scaled = counts * costs.risk_scale
    total = scaled.sum(axis=1, keepdims=True)
    even = np.full_like(scaled, 1.0 / scaled.shape[1])
    return np.divide(scaled, total, out=even, where=total > 0)


def _shares(grown: dict[str, Any]) -> np.ndarray:
    """Each node's share of the weight that its parent sent on; rows that stopped at the parent do not count."""
    inner = np.flatnonzero(grown["column"] >= 0)
    count = grown["branches"][inner].astype(np.int64)
    parent = np.repeat(inner, count)
    child = np.repeat(grown["first"][inner] - np.cumsum(count) + count, count) + np.arange(len(parent))
    sent = np.bincount(parent, grown["weight"][child], len(grown["column"]))[parent]
    share = np.ones(len(grown["column"]))
    share[child] = np.divide(grown["weight"][child], sent, out=np.zeros(len(child)), where=sent > 0)
    return share


def _with_bools(arrays: dict[str, Any], *names: str) -> dict[str, Any]:
    return arrays | {name: arrays[name].view(np.bool_) for name in names}
