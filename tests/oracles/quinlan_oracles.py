"""Trees of the reference programs of Quinlan's family, compared node by node."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from reference import columns_and_labels


def table(name: str, classes: list[str]) -> tuple[pd.DataFrame, pd.Series]:
    """The columns with their declared levels, and the labels in the declared order of classes: ties hang on it."""
    columns, labels = columns_and_labels(name)
    return columns, pd.Series(pd.Categorical(labels, categories=classes, ordered=True))


def differences(model: Any, tree: dict[str, Any], classes: list[str], tolerance: float, cut_tolerance: float) -> list[tuple]:
    """The topmost nodes that differ, as (weight, what we have, what the reference has); empty where the trees are equal."""
    place = [classes.index(label) for label in model.classes_]
    ours = {node["id"]: node for node in model.nodes()}
    found, waiting = [], [(0, tree)]
    while waiting:
        node, theirs = waiting.pop()
        mine = ours[node]
        difference = _difference(mine, theirs, place, tolerance, cut_tolerance)
        if difference:
            found.append((round(theirs["n"], 4), *difference))
        else:
            waiting += [(child, branch["node"]) for child, branch in zip(mine["children"], _branches(theirs), strict=True)]
    return found


def _difference(
    mine: dict[str, Any], theirs: dict[str, Any], place: list[int], tolerance: float, cut_tolerance: float
) -> tuple | None:
    room = tolerance * max(1.0, theirs["n"])
    if abs(mine["weight"] - theirs["n"]) > room:
        return mine["weight"], theirs["n"]
    if theirs["n"] > 0 and np.abs(np.array(mine["counts"]) - np.array(theirs["dist"])[place]).max() > room:
        return tuple(mine["counts"]), tuple(theirs["dist"])
    if mine["column"] != theirs.get("attribute"):
        return mine["column"], theirs.get("attribute")
    if "threshold" in theirs and abs(mine["threshold"] - theirs["threshold"]) > cut_tolerance * abs(theirs["threshold"]):
        return mine["threshold"], theirs["threshold"]
    asked, answered = _asked(mine), _answered(theirs)
    if theirs.get("test") == "equals":
        asked, answered = mine["groups"][0], [theirs["value"]]
    return None if asked == answered else (asked, answered)


def _branches(theirs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (branch for branch in theirs.get("branches", ()) if branch["value"] != [])


def _asked(mine: dict[str, Any]) -> Any:
    """The levels of each branch; of numbers only how many branches there are."""
    return [sorted(group) for group in mine["groups"]] if mine.get("groups") else len(mine["children"])


def _answered(theirs: dict[str, Any]) -> Any:
    values = [branch["value"] for branch in _branches(theirs)]
    if theirs.get("test") == "value":
        return [[value] for value in values]
    return [sorted(value) for value in values] if theirs.get("test") == "subset" else len(values)
