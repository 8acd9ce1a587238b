"""Exported trees where they run: C beside m2cgen's, ONNX beside skl2onnx's, and a query beside the sum of a column."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import baytree as bt
from harness import Row, in_turn, processor

_DRIVE = """
#include "model.c"
#include "peer.c"
void drive_model(const model_cell *rows, long n, long passes, double *out) {
  while (passes--) for (long i = 0; i < n; i++) model_predict_proba(rows + i * model_n_columns, out + i * model_n_classes);
}
void drive_peer(double *rows, long n, long passes, double *out) {
  while (passes--) for (long i = 0; i < n; i++) score(rows + i * model_n_columns, out + i * model_n_classes);
}
"""
PASSES = 1_000
_FLAGS = ["-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]


def c_source() -> Iterator[Row]:
    """A row at a time, compiled alike: a thousand rows, as each program takes them, over and over."""
    try:
        import m2cgen
    except ModuleNotFoundError:
        return
    for depth in (4, 8, 12):
        X, ours, theirs = _trees(depth)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "model.c").write_text(bt.export(ours, "c"))
            Path(folder, "peer.c").write_text(m2cgen.export_to_c(theirs))
            mine, peer = _compiled(folder, X[:1_000].copy(), len(theirs.classes_))
            note = f"{theirs.tree_.node_count} nodes"
            yield Row(f"C, tree of depth {depth}, 1M rows", "m2cgen's C", *in_turn(peer, mine, 40), 1, note)


def onnx_file() -> Iterator[Row]:
    """The same rows through onnxruntime, one thread."""
    try:
        import onnxruntime
        from skl2onnx import to_onnx
        from skl2onnx.common.data_types import FloatTensorType
    except ModuleNotFoundError:
        return
    X, ours, theirs = _trees(8)
    names = list(ours.feature_names_in_)
    kinds = {"initial_types": [(name, FloatTensorType([None, 1])) for name in names], "options": {"zipmap": False}}
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    together = ColumnTransformer([("all", "passthrough", names)])  # it, too, takes a column at a time
    frame = pd.DataFrame(X, columns=names)
    theirs = make_pipeline(together, clone(theirs)).fit(frame, theirs.predict(X))
    files = (bt.export(ours, "onnx"), to_onnx(theirs, **kinds).SerializeToString())
    mine, peer = (onnxruntime.InferenceSession(file, settings, providers=["CPUExecutionProvider"]) for file in files)
    columns = {name: np.ascontiguousarray(X[:, [j]]) for j, name in enumerate(names)}
    floats = {name: values.astype(np.float32) for name, values in columns.items()}  # its trees take no doubles
    times = processor(lambda: peer.run(None, floats), 7), processor(lambda: mine.run(None, columns), 7)
    yield Row("ONNX, tree of depth 8, 200k rows", "skl2onnx, onnxruntime", *times, 1)


def query() -> Iterator[Row]:
    """10 million rows in DuckDB, one thread: the scores summed up, beside a sum and what no query can do without."""
    import duckdb

    _, model, _ = _trees(8)
    connection = duckdb.connect(config={"threads": 1})
    drawn = ", ".join(f"random() * 6 - 3 AS {name}" for name in model.feature_names_in_)
    connection.execute(f"CREATE TABLE t AS SELECT {drawn} FROM range(10000000)")
    scored = f'SELECT sum("P(1)") FROM ({bt.export(model, "sql", table="t")})'
    column = processor(lambda: connection.execute("SELECT sum(c0) FROM t").fetchall())
    scores = processor(lambda: connection.execute(scored).fetchall())
    name = "SQL, tree of depth 8, 10M rows in DuckDB"
    yield Row(name, "the sum of a column", column, scores, 1 / 3)
    for peer, values in {"sums of the ten columns": "sum({})", "ten comparisons": "sum(({} <= 0.1)::INT)"}.items():
        asked = f"SELECT {', '.join(map(values.format, model.feature_names_in_))} FROM t"
        yield Row(name, peer, processor(partial(_all_rows, connection, asked)), scores, 0)


def _all_rows(connection: Any, query: str) -> list:
    return connection.execute(query).fetchall()


def _trees(depth: int) -> tuple[np.ndarray, bt.DecisionTreeClassifier, DecisionTreeClassifier]:
    """The same tree, learnt twice; it answers all rows alike."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200_000, 10))
    y = (X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * random.normal(size=len(X)) > 0).astype(int)
    names = [f"c{j}" for j in range(X.shape[1])]
    ours = bt.DecisionTreeClassifier(max_depth=depth).fit(dict(zip(names, X.T, strict=True)), y)
    theirs = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y.astype(str))
    return X, ours, theirs


def _compiled(folder: str, X: np.ndarray, n_classes: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """What both programs do with all rows, after their answers were compared."""
    Path(folder, "drive.c").write_text(_DRIVE)
    subprocess.run(["cc", *_FLAGS, "drive.c", "-o", "drive.so", "-lm"], cwd=folder, check=True)
    library = ctypes.CDLL(str(Path(folder, "drive.so")))
    cells = np.zeros((*X.shape, 2))  # a number, and a text that is NULL
    cells[..., 0] = X
    out = np.empty((2, len(X), n_classes))
    drives = library.drive_model, library.drive_peer
    works = [partial(_driven, drive, rows, o) for drive, rows, o in zip(drives, (cells, X), out, strict=True)]
    for work in works:
        work()
    differ = np.abs(out[0] - out[1]).max(axis=1) > 1e-9
    assert differ.mean() < 0.01, f"the trees answer {differ.sum()} rows otherwise"
    return works[0], works[1]


def _driven(drive: Callable[..., object], rows: np.ndarray, out: np.ndarray) -> None:
    given, n, passes = ctypes.c_void_p(rows.ctypes.data), ctypes.c_long(len(rows)), ctypes.c_long(PASSES)
    drive(given, n, passes, ctypes.c_void_p(out.ctypes.data))


WORKLOADS = [c_source, onnx_file, query]
