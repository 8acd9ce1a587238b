"""Spark in its local mode on two threads: models of MLlib and of baytree from the same cached frame of 20 numbers.

Both are timed in one session, best of two fits; accuracy on rows that neither has seen is in the note. SPARK_ROWS sets the
number of rows. Without pyspark and Java nothing is measured.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

import baytree as bt
from harness import Row, best

GOAL, PENALTY = 3.0, 0.01
NAMES = [f"x{j}" for j in range(20)]


def rows_of(seed: int, n: int) -> pl.DataFrame:
    """Numbers, and a class that follows from some of them."""
    r = np.random.default_rng(seed)
    X = r.normal(size=(n, 20))
    score = X[:, :6] @ [1.2, -1.0, 0.8, 0.6, -0.4, 0.3] + 0.8 * X[:, 6] * (X[:, 7] > 0) + r.logistic(0, 0.7, n)
    return pl.DataFrame(X, schema=NAMES).with_columns(y=pl.Series((score > 0).astype(np.int64)))


def beside_mllib() -> Iterator[Row]:
    """A tree of depth 8, Gaussian naive Bayes and logistic regression at the same penalty."""
    try:
        from pyspark.ml import classification as ml
    except ImportError:
        return
    n_rows = int(os.environ.get("SPARK_ROWS", "2000000"))
    with tempfile.TemporaryDirectory() as folder:
        for k in range(8):
            rows_of(k, n_rows // 8).write_parquet(f"{folder}/part-{k}.parquet")
        session = _session()
        cached, held = _cached(session, folder), rows_of(99, 100_000)
        models: list[tuple[str, Any, Callable[[], Any]]] = [
            ("Gaussian naive Bayes", ml.NaiveBayes(modelType="gaussian"), bt.GaussianNB),
            ("logistic regression", ml.LogisticRegression(regParam=PENALTY), lambda: bt.LogisticRegression(lambda_=PENALTY)),
            (
                "tree of depth 8",
                ml.DecisionTreeClassifier(maxDepth=8, maxBins=64),
                lambda: bt.DecisionTreeClassifier(max_depth=8),
            ),
        ]
        for name, peer, make in models:
            yield _compared(f"Spark, {n_rows:,} × 20: {name}", cached, held, peer, make)
        session.stop()


def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g").config("spark.log.level", "OFF")
    return builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()


def _cached(session: Any, folder: str) -> Any:
    from pyspark.ml.feature import VectorAssembler

    rows = VectorAssembler(inputCols=NAMES, outputCol="features").transform(session.read.parquet(folder))
    cached = rows.selectExpr(*NAMES, "y", "features", "double(y) AS label").cache()
    cached.count()
    return cached


def _compared(name: str, cached: Any, held: pl.DataFrame, peer: Any, make: Callable[[], Any]) -> Row:
    fitted: dict[str, Any] = {}
    theirs = best(lambda: fitted.update(peer=peer.fit(cached.select("features", "label"))), 2)
    ours = best(lambda: fitted.update(own=make().fit(cached.select(*NAMES, "y"), "y")), 2)
    own, other = fitted["own"].score(held, "y"), _accuracy(fitted["peer"], held, cached.sparkSession)
    return Row(name, "MLlib", theirs, ours, GOAL, f"accuracy {own:.4f} and {other:.4f}")


def _accuracy(model: Any, held: pl.DataFrame, session: Any) -> float:
    from pyspark.ml.feature import VectorAssembler

    rows = VectorAssembler(inputCols=NAMES, outputCol="features").transform(session.createDataFrame(held.to_pandas()))
    found = np.array([row[0] for row in model.transform(rows).select("prediction").collect()])
    return float(np.mean(found == held["y"].to_numpy()))


WORKLOADS = [beside_mllib]
