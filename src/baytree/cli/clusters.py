"""Frames on Dask and Spark: on a running cluster, or on a local one that lives as long as the command."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click


@contextmanager
def dask(table: str, address: str | None) -> Iterator[Any]:
    """Read the files as a Dask frame."""
    try:
        import dask.dataframe as dd
        from dask.distributed import Client, LocalCluster
    except ImportError:
        raise click.UsageError("--engine dask needs Dask: pip install 'baytree[dask]'") from None
    reader = _reader(table, {".parquet": "read_parquet", ".csv": "read_csv", ".ndjson": "read_json"})
    if address is not None:
        with Client(address):
            yield getattr(dd, reader)(table)
        return
    with LocalCluster(dashboard_address=None, silence_logs=50) as cluster, Client(cluster):
        yield getattr(dd, reader)(table)


@contextmanager
def spark(table: str, address: str | None) -> Iterator[Any]:
    """Read the files as a Spark frame."""
    reader = _reader(table, {".parquet": "parquet", ".csv": "csv", ".ndjson": "json"})
    with _quiet_startup():
        session = _session(address)
    try:
        yield getattr(session.read.option("header", "true").option("inferSchema", "true"), reader)(table)
    finally:
        session.stop()


def _session(address: str | None) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise click.UsageError("--engine spark needs Spark and Java: pip install 'baytree[spark]'") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # local workers must use this interpreter
    builder = SparkSession.builder.appName("baytree").config("spark.ui.showConsoleProgress", "false")
    is_remote = address is not None and address.startswith("sc://")
    builder = builder.remote(str(address)) if is_remote else builder.master(address or "local[*]")
    session = builder.getOrCreate()
    if not is_remote:
        session.sparkContext.setLogLevel("ERROR")  # Spark's warnings are about its own internals and hide baytree's messages
    return session


@contextmanager
def _quiet_startup() -> Iterator[None]:
    """Redirect the standard error of processes started inside to a file, which is shown if they fail.

    Java and Spark print a dozen lines at startup, before any of their own settings can silence them.
    """
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as captured, warnings.catch_warnings(record=True):
        os.dup2(captured.fileno(), 2)
        try:
            yield
        except BaseException:
            captured.seek(0)
            os.write(stderr, captured.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


def _reader(table: str, readers: Mapping[str, str]) -> str:
    kind = Path(table).suffix.lower()
    if kind not in readers:
        raise click.UsageError(f"{table}: a cluster reads {', '.join(readers)}; omit --engine for other files")
    return readers[kind]
