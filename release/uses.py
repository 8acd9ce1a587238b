"""What each extra is for, done once: python release/uses.py EXTRA, in an environment that has this extra alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import baytree as bt

ROWS = bt.datasets.load("titanic", as_="dict")
FOLDER = Path(tempfile.mkdtemp())


def library() -> None:
    for model in (bt.CARTClassifier(), bt.NaiveBayesClassifier(), bt.LogisticRegression(), bt.C50Classifier(rules=True)):
        fitted = model.fit(ROWS, "survived")
        assert 0.7 < fitted.score(ROWS, ROWS["survived"]) < 0.85
        bt.save(fitted, FOLDER / "m.baytree")
        assert (bt.load(FOLDER / "m.baytree").predict_proba(ROWS) == fitted.predict_proba(ROWS)).all()
        assert fitted.export("python")


def cli() -> None:
    saved, answers = FOLDER / "m.baytree", FOLDER / "answers.csv"
    _baytree("fit", "titanic", "--target", "survived", "-o", saved)
    _baytree("predict", saved, "titanic", "-o", answers)
    assert "sex" in _baytree("show", saved)
    assert len(answers.read_text().splitlines()) == 2202


def _baytree(*words: object) -> str:
    command = [sys.executable, "-c", "from baytree.cli import main; main()", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def plot() -> None:
    import matplotlib

    matplotlib.use("Agg")
    bt.CARTClassifier().fit(ROWS, "survived").plot().figure.savefig(FOLDER / "tree.png")


def report() -> None:
    bt.CARTClassifier().fit(ROWS, "survived").report(path=FOLDER / "page.html")
    assert "<html" in (FOLDER / "page.html").read_text(encoding="utf-8")


def export() -> None:
    model = bt.CARTClassifier().fit(ROWS, "survived")
    assert "CASE" in model.export("sql", dialect="postgres")
    bt.export(model, "onnx", FOLDER / "m.onnx")
    assert (FOLDER / "m.onnx").stat().st_size


def serve() -> None:
    bt.save(bt.CARTClassifier().fit(ROWS, "survived"), FOLDER / "m.baytree")
    words = ["serve", str(FOLDER / "m.baytree"), "--port", "0"]
    command = [sys.executable, "-c", "from baytree.cli import main; main()", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            said = server.stdout.readline() if server.stdout else ""
            address = re.findall(r"http://[\d.]+:\d+", said)[0]
            assert urllib.request.urlopen(f"{address}/health").status == 200
        finally:
            server.terminate()


def mlflow() -> None:
    import baytree.mlflow

    model = bt.CARTClassifier().fit(ROWS, "survived")
    baytree.mlflow.save_model(model, FOLDER / "mlflow")
    assert type(baytree.mlflow.load_model(FOLDER / "mlflow")) is type(model)


def dask() -> None:
    import dask.dataframe as dd
    import pandas as pd

    rows = dd.from_pandas(pd.DataFrame(ROWS), npartitions=3)
    assert bt.NaiveBayesClassifier().fit(rows, "survived").n_features_in_ == 3


def spark() -> None:
    import pandas as pd
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers would take the python of the path, which has no baytree
    session = SparkSession.builder.master("local[1]").getOrCreate()
    rows = session.createDataFrame(pd.DataFrame(ROWS))
    assert bt.NaiveBayesClassifier().fit(rows, "survived").n_features_in_ == 3
    session.stop()


if __name__ == "__main__":
    {use.__name__: use for use in (library, cli, plot, report, export, serve, mlflow, dask, spark)}[sys.argv[1]]()
    print(f"{sys.argv[1]}: baytree {bt.__version__} on Python {sys.version.split()[0]}")
