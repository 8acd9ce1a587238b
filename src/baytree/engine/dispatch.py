"""Choice of the engine for rows that are not in memory, by the module of their type."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from baytree._typing import FrameLike

if TYPE_CHECKING:
    from baytree.engine.remote import RemoteSource

ENGINES = {  # module prefix of the type of the rows -> module of the engine
    "baytree.engine.scan": "scan",
    "dask.dataframe": "dask",
    "pyspark.sql": "spark",
}


def remote_source(rows: FrameLike) -> RemoteSource | None:
    """Rows as a remote source, or None if they are in memory."""
    module = type(rows).__module__
    engine = next((name for start, name in ENGINES.items() if module == start or module.startswith(f"{start}.")), None)
    return None if engine is None else import_module(f"baytree.engine.{engine}").source_of(rows)
