"""A column's levels at a node before merging and after it, and the rules in between."""

from __future__ import annotations

import msgspec
import numpy as np


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """When levels merge and groups part again."""

    test: str = "pearson"
    alpha_merge: float = 0.05
    alpha_resplit: float | None = None
    exhaustive: bool | str = False
    min_leaf: float = 7
    min_prob: float = 0.01


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A column's levels at a node, before merging."""

    statistics: np.ndarray  # [n_levels, n_statistics] of the levels that occur, in order
    weight: np.ndarray  # [n_levels]
    is_ordered: bool  # only neighbours may merge
    floating: np.ndarray | None = None  # [n_statistics] of the rows without a value, where these join any group
    floating_weight: float = 0.0
    is_mean: bool = False  # the statistics are weight, Σ y, Σ y² and not weights per class


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """A column's levels after merging, and how significant they are."""

    group_of: np.ndarray  # int32 [n_levels]; groups in the order of their first levels
    floating: int  # the group of the rows without a value, −1 where there are none
    n_groups: int
    log_p: float


def least_size(weight: float, rules: Rules) -> float:
    """The weight below which a group must merge: a share of the node's, or `min_leaf` if that is less."""
    return min(np.ceil(rules.min_prob * weight * (1 - 1e-12)), rules.min_leaf)


def totals(candidate: Candidate, group_of: np.ndarray, floating: int) -> np.ndarray:
    """What each group holds, the rows without a value in theirs unless that is −1: [n_groups, n_statistics]."""
    n_groups = int(max(group_of.max(initial=-1), floating)) + 1
    totals = np.zeros((n_groups, candidate.statistics.shape[1]))
    np.add.at(totals, group_of, candidate.statistics)
    if floating >= 0:
        totals[floating] += candidate.floating
    return totals
