"""The tree that a stream has grown, as an ordinary tree: codes are those of the schema again."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.tree.grow.impurity import impurity_of
from baytree.tree.grow.policy import Criterion
from baytree.tree.model.build import build
from baytree.tree.model.places import LEAF, STOP
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import with_complexity


def grown_tree(found: dict[str, Any], criterion: Criterion) -> Tree:
    """The tree of the core's nodes. A node counts what the leaves below it have counted."""
    column, is_leaf = found["column"], found["column"] < 0
    first = np.where(is_leaf, 0, found["first"]).astype(np.int32)
    counts = at_codes(found["counts"], found["classes"])
    weight, prediction = counts.sum(axis=1), counts.argmax(axis=1)
    impurity = impurity_of(counts, criterion)
    entries = _branches(found)
    tree = build(
        column=np.where(is_leaf, LEAF, column).astype(np.int32),
        first=first,
        branches=np.where(is_leaf, 0, 2).astype(np.int32),
        cut=found["cut"],
        strict=np.isfinite(found["cut"]),
        levels=np.array([len(entry) for entry in entries], np.int32),
        branch_of=np.concatenate([np.zeros(0, np.int32), *entries]),
        missing=np.where(is_leaf, STOP, found["missing"]).astype(np.int32),
        rows=np.rint(np.minimum(weight, 2.0**62)).astype(np.int64),
        weight=weight,
        counts=counts,
        value=counts / weight[:, None],
        prediction=prediction.astype(np.int32),
        impurity=impurity,
        risk=weight - counts[np.arange(len(counts)), prediction],
        gain=_gains(first, is_leaf, impurity * weight),
    )
    return with_complexity(tree)


def at_codes(values: np.ndarray, place: np.ndarray, of_strangers: np.ndarray | float = 0.0) -> np.ndarray:
    """float64 [n_rows, n_codes]: columns by code instead of by arrival; [n_rows] or one number for those that never came."""
    padded = np.column_stack([values, np.broadcast_to(of_strangers, len(values))])
    return np.ascontiguousarray(padded[:, place])  # −1 is the last


def _branches(found: dict[str, Any]) -> list[np.ndarray]:
    """For each node int32 [n_levels], the branch of each level by its code; none where its test is a cut."""
    ends, starts = np.cumsum(found["n_codes"]), np.cumsum(found["n_codes"]) - found["n_codes"]
    entries, at, none = [], 0, np.zeros(0, np.int32)
    for column, size in zip(found["column"].tolist(), found["n_branch_of"].tolist(), strict=True):
        if not size:
            entries.append(none)
            continue
        place = found["levels"][starts[column] : ends[column]]
        known = found["branch_of"][at : at + size]
        entries.append(np.where((place >= 0) & (place < size), known[np.clip(place, 0, size - 1)], -1).astype(np.int32))
        at += size
    return entries


def _gains(first: np.ndarray, is_leaf: np.ndarray, impurity: np.ndarray) -> np.ndarray:
    """float64 [n_nodes]: what each split takes of the impurity of its node; 0 at a leaf."""
    return np.where(
        is_leaf, 0.0, np.maximum(impurity - impurity[first] - impurity[np.minimum(first + 1, len(first) - 1)], 0.0)
    )
