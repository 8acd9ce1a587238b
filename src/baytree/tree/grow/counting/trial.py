"""What a column could do at a node: groups of its codes, and how significant they are."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from baytree.tree.grow.counting.coding import Coding
from baytree.tree.view.split_tests import p_values


class Trial(msgspec.Struct, frozen=True, dict=True):
    """What became of a column at a node: its groups of codes and how significant they are, in natural logarithms."""

    node: int
    column: int
    n_codes: int
    is_ordered: bool
    present: np.ndarray  # the codes that occur, −1 first where values are missing
    seen: np.ndarray  # float64 [n_present, n_sums], what each of them holds
    group: np.ndarray  # int32 [n_present]
    n_groups: int
    log_p: float
    log_multiplier: float  # Bonferroni's
    log_adjusted: float  # not cut at p = 1

    @property
    def floating(self) -> int:
        """The group of missing values, −1 where the node has none."""
        return int(self.group[0]) if len(self.present) and self.present[0] < 0 else -1

    @cached_property
    def group_of(self) -> np.ndarray:
        """The group of every code: int32 [n_codes]."""
        is_known = self.present >= 0
        known, group_of = self.present[is_known], np.full(self.n_codes, -1, np.int32)
        group_of[known] = self.group[is_known]
        return _with_absent(group_of, known, self.is_ordered)

    @property
    def sums(self) -> np.ndarray:
        """What each group holds: float64 [n_groups, n_sums]."""
        sums = np.zeros((self.n_groups, self.seen.shape[1]))
        np.add.at(sums, self.group, self.seen)
        return sums


def in_words(trial: Trial, coding: Coding) -> dict[str, Any]:
    """A trial in the words of the table: its groups, p, Bonferroni's multiplier and the adjusted p."""
    return {
        "node": trial.node,
        "column": coding.schema.columns[trial.column].name,
        "groups": coding.groups(trial.column, trial.group_of, trial.n_groups),
        "missing": trial.floating if trial.floating >= 0 else None,
        **p_values(trial.log_p, trial.log_multiplier, trial.log_adjusted),
    }


def _with_absent(group_of: np.ndarray, known: np.ndarray, is_ordered: bool) -> np.ndarray:
    """Levels without rows differ from nothing: they join the level before them, or, without order, the first group."""
    if len(known) in (0, len(group_of)):
        return group_of
    if not is_ordered:
        return np.where(group_of < 0, 0, group_of).astype(np.int32)
    before = np.maximum(np.searchsorted(known, np.arange(len(group_of)), side="right") - 1, 0)
    return group_of[known[before]]
