"""Choice of the engine for rows that are not in memory, by the module of their type."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from baytree._typing import FrameLike

if TYPE_CHECKING:
    from baytree.engine.remote import RemoteSource

ENGINES = {  # module prefix of the type of the rows -> module of the engine
    "baytree.engine.scan": "scan",
    "dask.dataframe": "dask",
    "pyspark.sql": "spark",
    "baytree.engine.sql.rows": "sql",
    "duckdb": "sql",
    "_duckdb": "sql",
    "ibis.expr.types": "sql",
    "narwhals": "sql",
}


def remote_source(rows: FrameLike) -> RemoteSource | None:
    """Rows as a remote source, or None if they are in memory."""
    module = type(rows).__module__
    engine = next((name for start, name in ENGINES.items() if module == start or module.startswith(f"{start}.")), None)
    return None if engine is None else import_module(f"baytree.engine.{engine}").source_of(rows)


def snapshot(rows: Any) -> AbstractContextManager[Any]:
    """Context in which all reads of the rows see the same state, for engines that have such a thing."""
    return (
        rows.snapshot()
        if hasattr(rows, "snapshot") and type(rows).__module__.startswith("baytree.engine.")
        else nullcontext()
    )
