"""One fixture for every engine: the same table in memory, on disk, on Dask and on Spark, in as many pieces as asked for."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

from baytree.engine.remote import RemotePartitions
from remote_tables import mixed_table, on_dask, on_disk, on_spark

Place = Callable[..., Any]


@pytest.fixture(
    params=["memory", "scan", pytest.param("dask", marks=pytest.mark.dask), pytest.param("spark", marks=pytest.mark.spark)]
)
def place(request, tmp_path) -> Place:
    """place(frame, pieces=3): the table on the engine; one of seven pieces or more is empty."""
    if request.param == "memory":
        return lambda frame, pieces=3: frame  # noqa: ARG005
    if request.param == "scan":
        return lambda frame, pieces=3: on_disk(frame, tmp_path, pieces)
    if request.param == "dask":
        return lambda frame, pieces=3: on_dask(frame, tmp_path, pieces)
    session = request.getfixturevalue("spark_session")
    return lambda frame, pieces=3: on_spark(session, frame, tmp_path, pieces)


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """Spark on two threads of this machine."""
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    builder = sql.SparkSession.builder.master("local[2]")
    for key, value in quiet.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of Dask: two workers of this machine."""
    distributed = pytest.importorskip("dask.distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@pytest.fixture(scope="session")
def table() -> pl.DataFrame:
    """The table of `remote_tables`."""
    return mixed_table()


@pytest.fixture
def no_gathering(monkeypatch):
    """Refuses to bring all rows here."""

    def refuse(*_):
        raise AssertionError("rows are brought here")

    monkeypatch.setattr(RemotePartitions, "gather", refuse)
