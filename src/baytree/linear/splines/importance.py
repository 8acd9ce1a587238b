"""What features are worth: in how many of the subsets of pruning they occur, and what those subsets gain."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.coefficients import FeatureTable
from baytree.linear.splines.basis import Term
from baytree.linear.splines.prune import Pruned
from baytree.show.terminal import aligned


class Importance(msgspec.Struct, frozen=True):
    """A feature by three measures; `gcv` and `rss` are roots of what was gained, the greatest 100."""

    feature: str
    column: str
    nsubsets: int
    gcv: float
    rss: float
    is_used: bool


class ImportanceTable(FeatureTable, frozen=True):
    """The features by what they are worth, the most important first; prints as a table."""

    def __str__(self) -> str:
        rows = [[r.feature, r.nsubsets, f"{r.gcv:.1f}", f"{r.rss:.1f}", "" if r.is_used else "not used"] for r in self.rows]
        return aligned(["feature", "nsubsets", "gcv", "rss", ""], rows)


def worth_of(terms: list[Term], pruned: Pruned, n_features: int) -> np.ndarray:
    """The subsets, from two terms to the one chosen, in which each feature occurs, and their gains. [n_features, 3]"""
    worth = np.zeros((n_features, 3))
    for size in range(2, pruned.size + 1):
        own = sorted({hinge.feature for k in pruned.subsets[size - 1] for hinge in terms[k]})
        gcv, rss = (values[size - 2] - values[size - 1] for values in (pruned.gcv, pruned.rss))
        worth[own] += (1.0, gcv if np.isfinite(gcv) else 0.0, rss)
    return worth


def importance_table(worth: np.ndarray, names: list[str], columns: list[str], used: set[int]) -> ImportanceTable:
    """The features by the number of subsets, then by GCV, then as they came."""
    order = sorted(range(len(worth)), key=lambda f: (-worth[f, 0], -worth[f, 1], f))
    share = np.sign(worth) * 100 * np.sqrt(np.abs(worth) / np.maximum(np.abs(worth).max(axis=0, initial=0.0), 1e-300))
    return ImportanceTable(
        tuple(
            Importance(names[f], columns[f], int(worth[f, 0]), float(share[f, 1]), float(share[f, 2]), f in used)
            for f in order
        )
    )
