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


RUNNERS: dict[str, Callable[[str, Sequence[dict], list[str] | None, Path], Answers]] = {"javascript": javascript, "c": c}
NEEDS = {"javascript": "node", "c": "cc"}
