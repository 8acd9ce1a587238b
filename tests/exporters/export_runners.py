"""Where exports run: each runner takes a source and raw rows, and gives the predictions and the probabilities."""

from __future__ import annotations

import ctypes
import json
import math
import subprocess
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

Answers = tuple[list, np.ndarray | None]

NODE = """const m = require("./model.js"), fs = require("fs");
const rows = JSON.parse(fs.readFileSync("rows.json", "utf8"));
fs.writeFileSync("out.json", JSON.stringify(rows.map((r) => [m.predict(r), m.predictProba ? m.predictProba(r) : null])));
"""


def javascript(source: str, rows: Sequence[dict], classes: list[str] | None, folder: Path) -> Answers:
    """By node, from a file."""
    (folder / "model.js").write_text(source, encoding="ascii")
    (folder / "run.js").write_text(NODE)
    (folder / "rows.json").write_text(json.dumps(rows, default=datetime.isoformat))
    subprocess.run(["node", "run.js"], cwd=folder, check=True, capture_output=True)
    answers = json.loads((folder / "out.json").read_text("utf-8"))
    predicted = [chosen for chosen, _ in answers]
    return predicted, None if classes is None else np.array([[p[c] for c in classes] for _, p in answers])


class Cell(ctypes.Structure):
    """A value of a row in C."""

    _fields_ = (("number", ctypes.c_double), ("text", ctypes.c_char_p))


def cells(row: dict, columns: list[str]) -> ctypes.Array:
    return (Cell * max(len(columns), 1))(*(cell(row.get(name)) for name in columns))


def cell(value: object) -> Cell:
    """A date in microseconds, as frames keep it."""
    if isinstance(value, datetime):
        return Cell(float((value - datetime(1970, 1, 1)) // timedelta(microseconds=1)), None)
    if value is None or isinstance(value, float):
        return Cell(math.nan if value is None else value, None)
    return Cell(float(value) if isinstance(value, int) else math.nan, str(value).encode("utf-8", "surrogatepass"))


def compiled(source: str, folder: Path) -> ctypes.CDLL:
    (folder / "model.c").write_text(source, encoding="ascii")
    flags = ["-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "model.c", "-o", "model.so", "-lm"], cwd=folder, check=True, capture_output=True)
    return ctypes.CDLL(str(folder / "model.so"))


def c(source: str, rows: Sequence[dict], classes: list[str] | None, folder: Path) -> Answers:
    """By the compiler of the machine, without a warning."""
    library = compiled(source, folder)
    n = ctypes.c_int.in_dll(library, "model_n_columns").value
    columns = [name.decode("utf-8", "surrogatepass") for name in (ctypes.c_char_p * n).in_dll(library, "model_columns")]
    given = [cells(row, columns) for row in rows]
    if classes is None:
        library.model_predict.restype = ctypes.c_double
        return [library.model_predict(row) for row in given], None
    named = (ctypes.c_char_p * len(classes)).in_dll(library, "model_classes")
    assert [name.decode("utf-8", "surrogatepass") for name in named] == classes
    out, answers = (ctypes.c_double * len(classes))(), []
    for row in given:
        library.model_predict_proba(row, out)
        answers.append(list(out))
    return [classes[k] if (k := library.model_predict(row)) >= 0 else None for row in given], np.array(answers)


def plain(value: object) -> object:
    """A value as graphs get it: numbers as doubles, dates in microseconds, all else as text."""
    if isinstance(value, datetime):
        return float((value - datetime(1970, 1, 1)) // timedelta(microseconds=1))
    return value if value is None or isinstance(value, float) else str(value)


def is_time(rows: Sequence[dict], name: str) -> bool:
    return any(isinstance(row[name], datetime) for row in rows)


def stored(value: object) -> object:
    """A value as databases get it: dates as they are."""
    return str(value) if isinstance(value, datetime) else plain(value)


def is_number(rows: Sequence[dict], name: str) -> bool:
    return all(isinstance(plain(row[name]), float | None) for row in rows)


def onnx(source: bytes, rows: Sequence[dict], classes: list[str] | None, _: Path) -> Answers:
    """By onnxruntime."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(source, providers=["CPUExecutionProvider"])
    feed = {}
    for given in session.get_inputs():
        values = [plain(row[given.name]) for row in rows]
        if given.type == "tensor(double)":
            feed[given.name] = np.array([math.nan if v is None else float(v) for v in values]).reshape(-1, 1)
        else:
            feed[given.name] = np.array([["" if v is None else v] for v in values], object)
    if classes is None:
        return list(session.run(["prediction"], feed)[0]), None
    predicted, probability = session.run(["prediction", "probabilities"], feed)
    return list(predicted), probability


def sql(source: str, rows: Sequence[dict], classes: list[str] | None, _: Path) -> Answers:
    """By DuckDB, in which the table is called t."""
    duckdb = pytest.importorskip("duckdb")
    table = pa.table({"row_id": range(len(rows))} | {name: _arrow(rows, name) for name in rows[0]})
    connection = duckdb.connect()
    connection.register("t", table)
    found = connection.execute(f"SELECT * FROM ({source}) ORDER BY row_id").fetchall()
    n = 0 if classes is None else len(classes)
    predicted = [row[len(row) - n - 1] for row in found]
    return predicted, None if classes is None else np.array([row[len(row) - n :] for row in found], float)


def _arrow(rows: Sequence[dict], name: str) -> pa.Array:
    if is_time(rows, name):
        return pa.array([row[name] for row in rows], pa.timestamp("us"))
    values = [plain(row[name]) for row in rows]
    return pa.array(values, pa.float64() if is_number(rows, name) else pa.string())


def pmml(source: str, rows: Sequence[dict], classes: list[str] | None, _: Path) -> Answers:
    """By pypmml, on Java."""
    model = pytest.importorskip("pypmml").Model.fromString(source)
    outputs = list(model.outputNames)
    found = model.predict([[plain(row[name]) for name in model.inputNames] for row in rows])
    predicted = [row[outputs.index("prediction")] for row in found]
    if classes is None:
        return predicted, None
    places = [outputs.index(f"P({name})") for name in classes]
    return predicted, np.array([[row[place] for place in places] for row in found], float)


RUNNERS: dict[str, Callable[[str, Sequence[dict], list[str] | None, Path], Answers]] = {
    "javascript": javascript,
    "c": c,
    "sql": sql,
    "onnx": onnx,
    "pmml": pmml,
}
NEEDS = {"javascript": "node", "c": "cc", "pmml": "java"}
