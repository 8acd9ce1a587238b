"""scikit-learn's arrays of a decision tree as a tree of this library."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.given import EstimatorLike
from baytree.sklearn.conversion.features import VALUE, Features
from baytree.tree.model.build import build
from baytree.tree.model.places import LEAF
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import with_complexity


def tree_of(model: EstimatorLike, features: Features) -> Tree:
    """The same tests and leaves; `model` is a fitted tree of one output."""
    if model.n_outputs_ != 1:
        raise ValueError(f"the tree has {model.n_outputs_} outputs; models of one target can be taken over")
    theirs, is_class = model.tree_, hasattr(model, "classes_")
    order, first = _side_by_side(theirs.children_left, theirs.children_right)
    inner = theirs.children_left[order] >= 0
    feature = np.where(inner, theirs.feature[order], 0)
    column = np.array([features.made[f].column for f in feature], np.int32)
    level = np.array([features.made[f].level for f in feature], np.int32)
    is_level = inner & (level != VALUE)
    levels = np.where(is_level, [len(features.columns[j].levels) for j in column], 0).astype(np.int32)
    weight, shares = theirs.weighted_n_node_samples[order], theirs.value[order][:, 0, :]
    impurity, counts = theirs.impurity[order], shares * weight[:, None] if is_class else np.zeros((len(order), 0))
    below = np.where(inner, impurity[first] * weight[first] + impurity[first + inner] * weight[first + inner], 0.0)
    risk = (1 - shares.max(axis=1)) * weight if is_class else impurity * weight
    tree = build(
        column=np.where(inner, column, LEAF).astype(np.int32),
        first=np.where(inner, first, 0).astype(np.int32),
        branches=np.where(inner, 2, 0).astype(np.int32),
        cut=np.where(inner & ~is_level, _of_doubles(theirs.threshold[order]), np.nan),
        levels=levels,
        branch_of=_branches(level[is_level], levels[is_level]),
        missing=_missing(theirs, order, inner, is_level),
        rows=theirs.n_node_samples[order].astype(np.int64),
        weight=weight.astype(np.float64),
        counts=np.ascontiguousarray(counts),
        value=np.ascontiguousarray(shares, np.float64),
        prediction=(shares.argmax(axis=1) if is_class else np.zeros(len(order))).astype(np.int32),
        impurity=impurity.astype(np.float64),
        risk=risk,
        gain=np.where(inner, np.maximum(impurity * weight - below, 0.0), 0.0),
    )
    return with_complexity(tree)


def _side_by_side(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nodes in an order in which the two children of a node are neighbours, and where the first of them is."""
    order, first = [0], []
    for node in order:  # grows while it is read
        first.append(len(order) if left[node] >= 0 else 0)
        if left[node] >= 0:
            order += [int(left[node]), int(right[node])]
    return np.array(order), np.array(first)


def _of_doubles(threshold: np.ndarray) -> np.ndarray:
    """The cuts of doubles that are those of scikit-learn, which rounds a value to float32 before it compares.

    Rounding never changes an order, so x goes left up to the last double that is rounded to at most the threshold.
    """
    below = threshold.astype(np.float32)
    below = np.where(below > threshold, np.nextafter(below, np.float32(-np.inf)), below)
    above = np.nextafter(below, np.float32(np.inf)).astype(np.float64)
    middle = below.astype(np.float64) / 2 + above / 2
    with np.errstate(over="ignore"):
        return np.where(middle.astype(np.float32) <= below, middle, np.nextafter(middle, -np.inf))


def _branches(level: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """For each test of a level, the branch of every level: the second for that level, the first for the others."""
    tests = [np.arange(n) == own for own, n in zip(level, levels, strict=True)]
    return np.concatenate([*tests, np.zeros(0, bool)]).astype(np.int32)


def _missing(theirs: Any, order: np.ndarray, inner: np.ndarray, is_level: np.ndarray) -> np.ndarray:
    """The branch of rows without a value; one without any level has not the level that is asked for."""
    goes_left = np.asarray(theirs.missing_go_to_left)[order].astype(bool) | is_level
    return np.where(inner, np.where(goes_left, 0, 1), -1).astype(np.int32)
