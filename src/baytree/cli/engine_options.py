"""Options for large tables (`--engine`, `--address`, `--memory`): fitting on disk, Dask or Spark, with progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from baytree._typing import FrameLike
    from baytree.data.files.options import ReadOptions
    from baytree.estimators.base import Estimator
    from baytree.streaming.fit import FitRequest

_OPTIONS = (
    click.option(
        "--engine", type=click.Choice(["local", "dask", "spark"]), help="Engine that holds the rows of a large table."
    ),
    click.option("--address", metavar="URL", help="Cluster address: tcp://…, spark://… or sc://… (default: this machine)."),
    click.option("--memory", metavar="SIZE", help="Memory limit for the rows of a large table, such as 2GB."),
)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for large tables to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def uses_engine(table: str, options: Mapping[str, Any]) -> bool:
    """Return whether the table is read out of core: an engine option is given, or the table is a pattern of files."""
    from baytree.cli.databases import is_url

    if is_url(table):
        return True
    is_pattern = any(character in table for character in "*?[") and not Path(table).exists()
    return is_pattern or any(options[name] is not None for name in ("engine", "address", "memory"))


def fit_on_engine(
    candidates: Mapping[str, Estimator], table: str, request: FitRequest, options: Mapping[str, Any], how: ReadOptions
) -> Estimator:
    """Return the estimator fitted to rows on an engine; if there are two offers, the first target values decide."""
    from baytree.engine.dispatch import remote_source
    from baytree.engine.progress import report_progress
    from baytree.model_selection.problem import task_of

    with _rows(table, options, how) as rows, _ProgressLine() as progress, report_progress(progress):
        source = remote_source(rows)
        if source is None or request.target not in source.columns:
            raise click.UsageError(f"there is no column {request.target!r} in {table}")
        task = next(iter(candidates)) if len(candidates) == 1 else task_of(source.first(request.target), request.target)
        estimator = candidates[task]
        declared = estimator.schema if isinstance(estimator.schema, Mapping) else {}  # the options cannot declare a `Schema`
        estimator.set_params(schema={**declared, **dict.fromkeys(request.drop, "drop")} or None)
        return estimator.fit(rows, request.target, sample_weight=request.weight)


@contextmanager
def _rows(table: str, options: Mapping[str, Any], how: ReadOptions) -> Iterator[FrameLike]:
    from baytree.cli import databases

    engine, address = options["engine"] or "local", options["address"]
    if databases.is_url(table):
        yield databases.rows_of_url(table)
        return
    if engine == "local":
        if address is not None:
            raise click.UsageError("--address needs --engine dask or --engine spark")
        from baytree.engine.scan import Scan, paths_of
        from baytree.parallel.system import parse_memory_size

        yield Scan(paths_of(table), parse_memory_size(options["memory"] or "2GB"), how)
        return
    _refuse_ignored_options(engine, options)
    from baytree.cli import clusters

    with (clusters.dask if engine == "dask" else clusters.spark)(table, address) as frame:
        yield frame


def _refuse_ignored_options(engine: str, options: Mapping[str, Any]) -> None:
    """Raise UsageError for options of baytree's own reader, which a cluster would silently ignore."""
    ignored = [name for name in ("decimal", "missing", "encoding", "sheet", "header", "memory") if options.get(name)]
    if ignored:
        option_names = ", ".join(f"--{name}" for name in ignored)
        raise click.UsageError(
            f"{option_names}: not supported by --engine {engine}, which reads files itself; omit the option, or the engine"
        )


class _ProgressLine:
    """Shows on standard error how far the current pass is, and an estimate of the remaining time."""

    def __init__(self) -> None:
        self.started, self.pass_number, self.last, self.before = time.monotonic(), 0, 0.0, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.last:
            click.echo("\r\x1b[K", nl=False, err=True)  # clear the line

    def __call__(self, pass_number: int, done: int, n_blocks: int | None) -> None:
        elapsed = time.monotonic() - self.started
        if pass_number != self.pass_number:
            self.before = elapsed if self.pass_number else 0.0
            self.pass_number, self.started, elapsed = pass_number, time.monotonic(), 0.0
        if not sys.stderr.isatty() or (time.monotonic() - self.last < 0.5 and done not in (0, n_blocks)):
            return
        self.last = time.monotonic()
        click.echo(f"\rpass {pass_number}{progress_text(done, n_blocks, elapsed, self.before)}\x1b[K", nl=False, err=True)


def progress_text(done: int, n_blocks: int | None, passed: float, before: float) -> str:
    """Return the progress of a pass: blocks done, and the seconds left by the speed so far or by the previous pass.

    >>> progress_text(2, 8, 3.0, 0.0)
    ': 2 of 8, about 9 s left'
    >>> progress_text(0, 1, 0.0, 6.2)
    ', about 6 s left'
    """
    count = f": {done}" + (f" of {n_blocks}" if n_blocks else "") if done else ""
    remaining = passed / done * (n_blocks - done) if done and n_blocks else before - passed
    return count + (f", about {remaining:.0f} s left" if remaining > 0 or (done and n_blocks) else "")
