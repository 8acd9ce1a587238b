"""Digests of everything the library computes, to show that a refactoring changed no answer.

`python reliability/digests.py FILE [FOLDER]` fits every estimator on every bundled table, and on the tables of FOLDER
(`<name>.csv` with the target in the last column), and writes one digest per model file, summary, export and page. Write
one file before a change and one after it, and compare them:

    python reliability/digests.py before.json
    python reliability/digests.py after.json
    diff before.json after.json
"""

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import baytree as bt
from baytree import datasets

LARGE = 3_000  # rows: larger tables are cut to this many, so that a run takes minutes
REGRESSORS = [
    "CARTRegressor",
    "CHAIDRegressor",
    "DecisionTreeRegressor",
    "LinearRegression",
    "LinearRegressionCV",
    "MARSRegressor",
]
CLASSIFIERS = [
    name
    for name in sorted(bt.__all__)
    if name.endswith(("Classifier", "NB", "CV", "Regression", "Analysis", "Distribution")) and name not in REGRESSORS
]
TARGETS = ["python", "javascript", "c", "sql", "onnx", "pmml", "json"]


def tables(folder: Path | None) -> Iterator[tuple[str, pl.DataFrame, str]]:
    for name in datasets.names():
        yield name, datasets.load(name, as_="polars")[:LARGE], datasets.describe(name).target
    for path in sorted(folder.glob("*.csv")) if folder else ():
        frame = bt.read(path)
        yield path.stem, frame[:LARGE], frame.columns[-1]


def digest(value: object) -> str:
    content = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else repr(value).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def model_digests(name: str, frame: pl.DataFrame, target: str) -> Iterator[tuple[str, str]]:
    """Model file, text, exports and page; where something is refused, the type of the error stands for it."""
    try:
        model = getattr(bt, name)().fit(frame, target)
    except Exception as error:
        yield "fit", type(error).__name__
        return
    makers = {"file": lambda: model.dumps() if hasattr(model, "dumps") else _saved(model)}
    makers["summary"] = lambda: str(model.summary())
    makers["predictions"] = lambda: model.predict(frame.drop(target)).tolist()
    makers |= {goal: lambda goal=goal: bt.export(model, goal) for goal in TARGETS}
    for part, make in makers.items():
        try:
            yield part, digest(make())
        except Exception as error:
            yield part, type(error).__name__


def _saved(model: object) -> bytes:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.baytree"
        bt.save(model, path)
        return path.read_bytes()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    output, *folder = sys.argv[1:]
    digests = {}
    for table, frame, target in tables(Path(folder[0]) if folder else None):
        is_number = frame[target].dtype.is_numeric() and frame[target].n_unique() > 20
        for name in REGRESSORS if is_number else CLASSIFIERS:
            digests |= {f"{table} {name} {part}": value for part, value in model_digests(name, frame, target)}
        print(table, len(digests), flush=True)
    Path(output).write_text(json.dumps(digests, indent=0))
