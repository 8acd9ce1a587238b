"""Spark Connect, where there are no RDDs: a server on this machine and a client that knows the DataFrame API alone."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.spark
CLIENT = """
from pyspark.sql import SparkSession
import baytree as bt
from baytree.storage import dumps
session = SparkSession.builder.remote("local[2]").getOrCreate()
frame = bt.datasets.load("titanic")
frame[::2].to_parquet({folder!r} + "/a.parquet")
frame[1::2].to_parquet({folder!r} + "/b.parquet")
rows = session.read.parquet({folder!r})
assert type(rows).__module__ == "pyspark.sql.connect.dataframe"
for make in (bt.NaiveBayesClassifier, lambda: bt.DecisionTreeClassifier(max_depth=3)):
    model = make().fit(rows, "survived")
    print(dumps(model) == dumps(make().fit(frame, "survived")))
print(model.score(rows, "survived") == model.score(frame, "survived"))
print(model.predict(rows).filter("prediction = 'yes'").count() == (model.predict(frame) == "yes").sum())
session.stop()
"""


def test_a_model_is_learnt_and_answers_over_spark_connect(tmp_path):
    for module in ("pyspark", "grpc", "grpc_status", "zstandard"):
        pytest.importorskip(module)
    known = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    call = [sys.executable, "-W", "ignore", "-c", CLIENT.format(folder=str(tmp_path))]
    done = subprocess.run(call, capture_output=True, text=True, timeout=400, env=known)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line in ("True", "False")] == ["True"] * 4
