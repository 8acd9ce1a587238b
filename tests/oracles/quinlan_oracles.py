"""Tables and trees of the reference programs of Quinlan's family, and a comparison node by node."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

_HERE = Path(__file__).parent
_FOLDERS = (_HERE, _HERE.parents[1].parent / "shared" / "oracles", _HERE.parents[2].parent / "shared" / "oracles")
ORACLES = next((folder for folder in _FOLDERS if (folder / "data").is_dir()), None)


def tables(reference: str) -> list[str]:
    """The tables that a reference program was run on; one visible skip where the results are not at hand."""
    if ORACLES is None:
        return [pytest.param("none", marks=pytest.mark.skip(reason="the reference results are not here"))]
    return sorted(path.stem for path in (ORACLES / "expected" / reference).glob("*.json"))


def expected(reference: str, name: str) -> dict[str, Any]:
    return json.loads((ORACLES / "expected" / reference / f"{name}.json").read_text())


def table(name: str, classes: list[str]) -> tuple[pd.DataFrame, pd.Categorical]:
    """The columns with their declared levels, and the labels with their declared classes."""
    meta = json.loads((ORACLES / "data" / f"{name}.json").read_text())
    kinds = {column: about["kind"] for column, about in meta["columns"].items()}
    types = {column: "float64" if kind == "numeric" else "str" for column, kind in kinds.items()}
    frame = pd.read_csv(ORACLES / "data" / f"{name}.csv", keep_default_na=False, na_values=[""], dtype=types)
    for column, about in meta["columns"].items():
        if about["kind"] in ("nominal", "ordinal"):
            is_ordered = about["kind"] == "ordinal"
            frame[column] = pd.Categorical(frame[column], categories=about["levels"], ordered=is_ordered)
    labels = pd.Categorical(frame[meta["target"]].astype(str), categories=classes)
    return frame.drop(columns=meta["target"]), labels


def distributions(stored: dict[str, Any]) -> np.ndarray:
    return np.array([stored["table"][i] for i in stored["index"]], float)


def differences(model: Any, tree: dict[str, Any], tolerance: float, cut_tolerance: float) -> list[tuple]:
    """The topmost nodes that differ, as (weight, what we have, what the reference has); empty where the trees are equal."""
    ours = {node["id"]: node for node in model.nodes()}
    found, waiting = [], [(0, tree)]
    while waiting:
        place, theirs = waiting.pop()
        mine = ours[place]
        difference = _difference(mine, theirs, tolerance, cut_tolerance)
        if difference:
            found.append((round(theirs["n"], 4), *difference))
        else:
            waiting += [(child, branch["node"]) for child, branch in zip(mine["children"], _branches(theirs), strict=True)]
    return found


def _difference(mine: dict[str, Any], theirs: dict[str, Any], tolerance: float, cut_tolerance: float) -> tuple | None:
    room = tolerance * max(1.0, theirs["n"])
    if abs(mine["weight"] - theirs["n"]) > room:
        return mine["weight"], theirs["n"]
    if theirs["n"] > 0 and np.abs(np.array(mine["counts"]) - theirs["dist"]).max() > room:
        return tuple(mine["counts"]), tuple(theirs["dist"])
    if mine["column"] != theirs.get("attribute"):
        return mine["column"], theirs.get("attribute")
    if "threshold" in theirs and abs(mine["threshold"] - theirs["threshold"]) > cut_tolerance * abs(theirs["threshold"]):
        return mine["threshold"], theirs["threshold"]
    asked, answered = _asked(mine), _answered(theirs)
    return None if asked == answered else (asked, answered)


def _branches(theirs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (branch for branch in theirs.get("branches", ()) if branch["value"] != [])


def _asked(mine: dict[str, Any]) -> Any:
    """The levels of each branch."""
    return [sorted(group) for group in mine["groups"]] if mine.get("groups") else len(mine["children"])


def _answered(theirs: dict[str, Any]) -> Any:
    values = [branch["value"] for branch in _branches(theirs)]
    if theirs.get("test") == "value":
        return [[value] for value in values]
    return [sorted(value) for value in values] if theirs.get("test") == "subset" else len(values)
