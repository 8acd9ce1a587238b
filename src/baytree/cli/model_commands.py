"""Commands on fitted models: `diff`, `drift`, `export` and `serve`.

They compare two models, compare new rows with the training rows, write a model in another language, and predict over HTTP.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from baytree._warnings import did_you_mean
from baytree.cli import arguments
from baytree.cli.completion import names_from
from baytree.cli.console import FOUND, echo_status, progress
from baytree.cli.json_output import JSON, echo_json
from baytree.cli.options import MODEL, OUTPUT, REJECT, TABLE, read_options
from baytree.display.terminal import escaped
from baytree.exporters import EXPORTERS, export


@click.command(short_help="Compare two models.")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.argument("table", required=False, metavar="[TABLE]")
@JSON
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write an HTML page.")
@read_options
def diff(old: Path, new: Path, table: str | None, as_json: bool, output: Path | None, **options: object) -> None:
    """Show the differences between the models OLD and NEW.

    Lists changed columns, levels and classes; then changed rules, distributions or coefficients; and, with TABLE (no
    target needed), the rows that are predicted differently and the columns that cause it. The exit code is 0 with or
    without differences.

    \b
    Examples:
      baytree diff monday.baytree tuesday.baytree
      baytree diff monday.baytree tuesday.baytree rows.csv --json
      baytree diff monday.baytree tuesday.baytree rows.csv -o page.html
    """
    import msgspec

    from baytree.model_diff import diff as compared
    from baytree.streaming.predict import flips_of

    arguments.refuse_input_as_output(output, old, new, table)
    before, after = arguments.predictor(old), arguments.predictor(new)
    result = compared(before, after)
    if table is not None:
        source = arguments.source_for_both(before, after, table, options)
        with progress(source.size, "comparing") as done:
            result = msgspec.structs.replace(result, rows=flips_of(before, after, source, done))
    if output is not None:
        result.report(output)
        echo_status(f"saved to {output}")
    if as_json:
        echo_json(result.to_dict())
    elif output is None:
        click.echo(escaped(str(result), keep="\n"))


@click.command(short_help="Compare new rows with the training rows.")
@MODEL
@TABLE
@JSON
@click.option("--fail", "is_strict", is_flag=True, help="Exit with code 3 if a column has changed significantly.")
@OUTPUT
@read_options
def drift(
    model: Path, table: str, as_json: bool, is_strict: bool, output: Path | None, **options: object
) -> None:
    """Compare the rows of TABLE with the rows that MODEL was trained on.

    Shows for each column the distance between the two distributions, whether it is significant (corrected for the
    number of columns), missing values and new levels, and the effect on the predictions. TABLE needs no target, is read
    in batches, and may lack columns. The exit code is 0 with or without drift, unless --fail is given.

    \b
    Examples:
      baytree drift m.baytree today.csv
      baytree drift m.baytree today.csv --json --fail
      baytree drift m.baytree today.csv -o drift.html
    """
    from baytree.drift_detection.drift import Drift
    from baytree.streaming.predict import drift_of

    predictor = arguments.predictor(model)
    source = arguments.some_columns(predictor, table, options)
    with progress(source.size, "reading") as done:
        result = Drift(predictor, drift_of(predictor, source, done))
    if as_json:
        echo_json(result.to_dict())
    else:
        click.echo(escaped(str(result), keep="\n"))
    if output is not None:
        echo_status(f"saved to {result.report(output)}")
    if is_strict and result.alarms:
        click.get_current_context().exit(FOUND)


SUFFIXES = {"onnx": "model.onnx", "pmml": "model.pmml", "xlsx": "model.xlsx"}  # file names for the hint about -o


@click.command("export", short_help="Export a model to another language.")
@MODEL
@click.option(
    "--to",
    "target",
    required=True,
    metavar="TARGET",
    help=", ".join(EXPORTERS) + ".",
    shell_complete=names_from(lambda: EXPORTERS),
)
@click.option(
    "--dialect", metavar="NAME", help="SQL only: duckdb, sqlite, postgres, mysql, spark, bigquery, snowflake or tsql."
)
@click.option("--table", metavar="NAME", help="SQL only: name of the table to score.")
@click.option("--view", metavar="NAME", help="SQL only: create a view of this name instead of a query.")
@click.option("--effects", is_flag=True, default=None, help="SQL only: also output the contribution of each column.")
@REJECT
@OUTPUT
def write_model(model: Path, target: str, output: Path | None, reject: float | None, **options: str | bool | None) -> None:
    """Export a model as a program, a query or a document that predicts without baytree.

    \b
    Examples:
      baytree export m.baytree --to sql --dialect postgres --table people -o model.sql
      baytree export m.baytree --to c -o model.c
      baytree export m.baytree --to onnx -o model.onnx
    """
    arguments.refuse_input_as_output(output, model)
    if target not in EXPORTERS:
        raise click.UsageError(did_you_mean("target", target, EXPORTERS))
    given = {name: value for name, value in options.items() if value is not None}
    if given and target != "sql":
        raise click.UsageError(f"--{next(iter(given))} is for SQL only, not for {target}")
    printed = export(arguments.predictor(model), target, output, reject=reject, **given)
    if output is not None:
        echo_status(f"saved to {output}")
    elif isinstance(printed, bytes):
        raise click.UsageError(f"{target} is binary: name a file, as in -o {SUFFIXES[target]}")
    else:
        click.echo(escaped(printed, keep="\n") if sys.stdout.isatty() else printed)


@click.command(short_help="Serve models over HTTP.")
@click.argument("models", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="MODEL...")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Any address but loopback requires --token-file.",
)
@click.option("--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 selects a free one.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File with the bearer token that clients must send.",
)
@REJECT
def serve(models: tuple[Path, ...], host: str, port: int, token_file: Path | None, reject: float | None) -> None:
    """Serve models over HTTP, each MODEL under its file name.

    A changed file is reloaded, and all files on SIGHUP; if a file cannot be read, the old model stays. Each request is
    logged as a line of JSON on standard error, without values of rows. SIGTERM finishes pending requests and exits.

    \b
    Examples:
      baytree serve m.baytree
      curl --json '{"rows": [{"age": 30}]}' localhost:8080/models/m/predict
      baytree serve m.baytree --reject 0.8
      baytree serve a.baytree b.baytree --host 0.0.0.0 --token-file token
    """
    try:
        from baytree.serve import server
        from baytree.serve.app import is_loopback
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise click.UsageError(f"serving needs {error.name}: pip install 'baytree[serve]'") from None
    token = None if token_file is None else server.read_token(token_file)
    if token is None and not is_loopback(host):
        raise click.UsageError(f"--host {host} is reachable from other machines and requires a --token-file")
    paths = [arguments.model_file(path) for path in models]
    server.run(paths, host, port, token, click.echo, reject)
