"""The sorted search: binary splits with exact thresholds; the core scans each presorted numeric column once per level.

Levels of nominal columns are divided into the best two groups. Used by CART and by binary trees of our own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.parallel import threads
from baytree.tree.model.builder import build
from baytree.tree.model.routing import columns, level_counts
from baytree.tree.model.tree import Surrogates, Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.policy.policy import Missing, Policy, ReferenceProgram

MAX_EXHAUSTIVE_LEVELS = 12  # with three or more classes, all groupings of up to so many levels are tried

CART_EXACT_LEVELS = 25  # CART finds the best groups of so many levels, as rpart does


def grow_sorted(table: Table, policy: Policy, costs: ClassCosts, n_jobs: int | None = None, min_risk: float = 0.0) -> Tree:
    """Grow the tree of a policy, without pruning; a node whose risk is below `min_risk` is not split."""
    growth = grow_arrays(table, policy, costs, n_jobs, min_risk)
    return tree_of_arrays(growth, costs, uses_surrogates=policy.surrogates.use > 0)


def grow_arrays(
    table: Table, policy: Policy, costs: ClassCosts, n_jobs: int | None = None, min_risk: float = 0.0
) -> dict[str, Any]:
    """Grow the tree and return the core's arrays, one entry per node."""
    how = settings(table, policy, costs, min_risk)
    return _core.grow(*grow_arguments(table, costs), how, threads.count(n_jobs))


GrowArguments = tuple[list[np.ndarray], np.ndarray, np.ndarray | None, np.ndarray | None, np.ndarray | None, np.ndarray]


def grow_arguments(table: Table, costs: ClassCosts) -> GrowArguments:
    """Arguments of the core for a table and its class costs."""
    label, is_class = table.label, table.n_classes > 0
    return (
        columns(table),
        level_counts(table.schema),
        np.ascontiguousarray(label, np.int32) if is_class else None,
        None if is_class else np.ascontiguousarray(label, np.float64),
        None if table.is_unweighted else np.ascontiguousarray(table.weight, np.float64),
        np.ascontiguousarray(costs.scale, np.float64),
    )


def settings(
    table: Table, policy: Policy, costs: ClassCosts, min_risk: float = 0.0, weight: np.ndarray | None = None
) -> dict[str, Any]:
    """Settings of the core for a policy, for all rows of a table or for some rows with these weights."""
    weight = table.weight if weight is None else weight
    how = {**_settings(table, policy), **_constraints(table, policy), **_weights(table, weight, costs)}
    return {**how, "min_gain": float(policy.stopping.min_gain) * float(weight.sum()), "min_risk": min_risk}


def _settings(table: Table, policy: Policy) -> dict[str, Any]:
    stop, is_cart = policy.stopping, policy.arithmetic is ReferenceProgram.RPART
    return {
        "criterion": policy.criterion.value,
        "missing": policy.missing.value,
        "min_split": float(stop.min_split),
        "min_leaf": float(stop.min_leaf),
        "max_depth": 2**31 - 1 if stop.max_depth is None else int(stop.max_depth),
        "min_impurity": float(stop.min_impurity),
        "critical": _critical(stop.alpha, table.n_classes),
        "counts_rows": stop.counts_rows,
        "is_cart": is_cart,
        "max_levels": CART_EXACT_LEVELS if is_cart else MAX_EXHAUSTIVE_LEVELS,
        "max_exhaustive_levels": MAX_EXHAUSTIVE_LEVELS,
        "max_surrogates": policy.surrogates.most if policy.missing is Missing.SURROGATE else 0,
        "use_surrogate": policy.surrogates.use,
        "surrogate_style": policy.surrogates.style,
        "takes_no_gain": stop.takes_no_gain,
        "columns_per_node": policy.columns_per_node or 0,
        "seed": policy.seed,
    }


def _constraints(table: Table, policy: Policy) -> dict[str, Any]:
    """Constraints are looked up by name, because a table may hold only some of the columns."""
    names, direction = table.schema.names, dict(policy.monotone)
    return {
        "first_column": names.index(policy.first_split) if policy.first_split in names else -1,
        "directions": [direction.get(name, 0) for name in names] if direction else [],
    }


def _weights(table: Table, weight: np.ndarray, costs: ClassCosts) -> dict[str, Any]:
    return {
        "risk_scale": costs.risk_scale.tolist(),
        "loss": [] if costs.loss is None else costs.loss.ravel().tolist(),
        "is_counted": _is_counted(table, weight, costs),
    }


def _is_counted(table: Table, weight: np.ndarray, costs: ClassCosts) -> bool:
    """Whether masses are integers, so that ties are exact."""
    if not np.all(costs.scale == 1.0):
        return False
    return table.is_unweighted or bool(np.all(weight == np.floor(weight)) and weight.max() < 2**31)


def _critical(alpha: float | None, n_classes: int) -> list[float]:
    if alpha is None:
        return []
    from scipy.stats import chi2  # imported on demand: predicting does not need scipy

    return [0.0, *chi2.isf(alpha, np.arange(1, max(2, 2 * n_classes))).tolist()]


def tree_of_arrays(growth: dict[str, Any], costs: ClassCosts, uses_surrogates: bool) -> Tree:
    """Tree of the core's arrays."""
    counts, mean = growth["counts"], growth.pop("mean")
    growth.pop("depth")
    surrogate_arrays = growth.pop("surrogates", None)
    has_none = surrogate_arrays is None or not len(surrogate_arrays["node"])
    surrogates = Surrogates.none() if has_none else Surrogates(**_with_bools(surrogate_arrays, "strict", "flipped"))
    value = _probabilities(counts, costs) if counts.shape[1] else mean[:, None].copy()
    nodes = _with_bools(growth, "strict", "mirrored")
    return build(**nodes, value=value, surrogates=surrogates, uses_surrogates=uses_surrogates)


def _probabilities(counts: np.ndarray, costs: ClassCosts) -> np.ndarray:
    scaled = counts if np.all(costs.risk_scale == 1.0) else counts * costs.risk_scale
    total = scaled.sum(axis=1, keepdims=True)
    value = scaled / np.where(total > 0, total, 1.0)
    value[~(total[:, 0] > 0)] = 1.0 / scaled.shape[1]
    return value


def _with_bools(arrays: dict[str, Any], *names: str) -> dict[str, Any]:
    return arrays | {name: arrays[name].view(np.bool_) for name in names}
