"""Which engine has rows that are not in memory: one line for each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from baytree._typing import FrameLike

if TYPE_CHECKING:
    from baytree.engine.remote import RemoteSource

ENGINES = {  # by the beginning of the module in which the type of the rows is defined
    "baytree.engine.scan": "scan",
    "dask.dataframe": "dask",
    "pyspark.sql": "spark",
}


def remote_source(rows: FrameLike) -> RemoteSource | None:
    """The rows as a source of pieces where they are not in memory; None where they are."""
    module = type(rows).__module__
    engine = next((name for start, name in ENGINES.items() if module == start or module.startswith(f"{start}.")), None)
    return None if engine is None else import_module(f"baytree.engine.{engine}").source_of(rows)
