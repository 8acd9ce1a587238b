"""Frames on clusters: a Dask or Spark that runs already, or one on this machine for as long as the command takes."""

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
    """The files as a Dask frame."""
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
    """The files as a Spark frame."""
    reader = _reader(table, {".parquet": "parquet", ".csv": "csv", ".ndjson": "json"})
    with _without_what_starting_says():
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
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers on this machine must know this library
    builder = SparkSession.builder.appName("baytree").config("spark.ui.showConsoleProgress", "false")
    is_remote = address is not None and address.startswith("sc://")
    builder = builder.remote(str(address)) if is_remote else builder.master(address or "local[*]")
    session = builder.getOrCreate()
    if not is_remote:
        session.sparkContext.setLogLevel("ERROR")  # its warnings are of its own ways, and hide what is said here
    return session


@contextmanager
def _without_what_starting_says() -> Iterator[None]:
    """While it lasts, processes that are started have a file for their standard error, which is shown where they fail.

    Java and Spark greet with a dozen lines of their own set-up, before any setting of theirs is heeded.
    """
    shown = os.dup(2)
    with tempfile.TemporaryFile() as kept, warnings.catch_warnings(record=True):
        os.dup2(kept.fileno(), 2)
        try:
            yield
        except BaseException:
            kept.seek(0)
            os.write(shown, kept.read())
            raise
        finally:
            os.dup2(shown, 2)
            os.close(shown)


def _reader(table: str, readers: Mapping[str, str]) -> str:
    kind = Path(table).suffix.lower()
    if kind not in readers:
        raise click.UsageError(f"{table}: a cluster reads {', '.join(readers)}; for other files leave out --engine")
    return readers[kind]
