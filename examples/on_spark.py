"""Learns on Spark in its local mode: python examples/on_spark.py, after pip install 'baytree[spark]'; it needs Java."""

import os
import sys
import tempfile

from pyspark.sql import SparkSession

import baytree as bt


def main() -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers must know this library
    folder = tempfile.mkdtemp()
    frame = bt.datasets.load("titanic")
    for k in range(4):
        frame[k::4].to_parquet(f"{folder}/part-{k}.parquet")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.log.level", "ERROR").getOrCreate()
    rows = spark.read.parquet(folder)  # never in memory as a whole
    model = bt.DecisionTreeClassifier(max_depth=3).fit(rows, "survived")
    print(model)
    print(f"accuracy {model.score(rows, 'survived'):.3f}")
    model.predict(rows).show(5)  # the frame with a column `prediction`
    spark.stop()


if __name__ == "__main__":
    main()
