"""The tables and results of the reference programs: `reference.zip`, and beside the clone what may not be redistributed.

`reference.zip` holds the tables under CC BY 4.0, CC0 or made of public facts (each table's JSON names its origin and terms)
and what the reference programs answered for them. Tables under the GPL are read from ../shared/oracles where that exists.
"""

import json
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

_HERE = Path(__file__).parent
_BESIDE = _HERE.parents[2] / "shared" / "oracles"


@cache
def _archive() -> ZipFile:
    return ZipFile(_HERE / "reference.zip")


@cache
def _index() -> dict:
    return json.loads(_archive().read("index.json"))


def tables(algorithm: str) -> list[str]:
    """The names of all tables that a reference program was run on."""
    return _index()["tables"][algorithm]


def read(path: str) -> bytes:
    """A file of the reference folder; the test is skipped where its table is not in this clone."""
    if path in _archive().namelist():
        return _archive().read(path)
    if (_BESIDE / path).exists():
        return (_BESIDE / path).read_bytes()
    pytest.skip(f"{path}: the table is under the GPL and not part of this clone")


def expected(algorithm: str, table: str) -> dict:
    """What the reference program answered."""
    return json.loads(read(f"expected/{algorithm}/{table}.json"))


@cache
def frame(table: str) -> tuple[pd.DataFrame, dict]:
    """A table as the reference programs saw it, and its description."""
    from io import BytesIO

    about = json.loads(read(f"data/{table}.json"))
    kinds = {name: column["kind"] for name, column in about["columns"].items()}
    types = {name: "float64" if kind == "numeric" else "str" for name, kind in kinds.items()}
    rows = pd.read_csv(BytesIO(read(f"data/{table}.csv")), keep_default_na=False, na_values=[""], dtype=types)
    for name, column in about["columns"].items():
        if column["kind"] in ("nominal", "ordinal"):
            is_ordered = column["kind"] == "ordinal"
            rows[name] = pd.Categorical(rows[name], categories=column["levels"], ordered=is_ordered)
    return rows, about


def columns_and_labels(table: str, rows: list[int] | None = None) -> tuple[pd.DataFrame, np.ndarray]:
    """The predictors of a table and its labels, as strings or numbers."""
    whole, about = frame(table)
    chosen = whole if rows is None else whole.iloc[rows]
    labels = chosen[about["target"]]
    y = labels.to_numpy() if about["task"] == "regression" else labels.astype(str).to_numpy(dtype=object)
    return chosen.drop(columns=about["target"]), y


def probabilities(stored: dict) -> tuple[slice | np.ndarray, np.ndarray]:
    """Stored probabilities of either encoding as the rows they belong to and a matrix with NaN for null."""
    if "table" in stored:
        entries = [stored["table"][i] for i in stored["index"]]
        return slice(None), np.array([[np.nan if v is None else v for v in entry] for entry in entries], float)
    rows = slice(None) if stored["rows"] == "all" else np.array(stored["rows"])
    entries = [entry if isinstance(entry, list) else [entry] for entry in stored["prob"]]
    return rows, np.array([[np.nan if v is None else v for v in entry] for entry in entries], float)


def in_order(model, X: pd.DataFrame, classes: list[str]) -> np.ndarray:
    """A model's probabilities in the reference's order of classes; 0 for a class it never saw."""
    mine = {str(label): k for k, label in enumerate(model.classes_)}
    answer = model.predict_proba(X)
    return np.column_stack([answer[:, mine[c]] if c in mine else np.zeros(len(X)) for c in classes])
