"""The command that writes a model in another language."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from baytree.cli import arguments
from baytree.cli.command_parameters import MODEL, OUTPUT, REJECT
from baytree.cli.console import say, unknown
from baytree.exports import EXPORTS, export
from baytree.show.terminal import escaped

SUFFIXES = {"onnx": "model.onnx", "pmml": "model.pmml"}  # names of files in what the command says


@click.command("export", short_help="Write a model in another language.")
@MODEL
@click.option("--to", "target", required=True, metavar="TARGET", help=", ".join(EXPORTS) + ".")
@click.option("--dialect", metavar="NAME", help="Of SQL: duckdb, sqlite, postgres, mysql, spark, bigquery, snowflake, tsql.")
@click.option("--table", metavar="NAME", help="Of SQL: the table that is scored.")
@click.option("--view", metavar="NAME", help="Of SQL: the view that is made, instead of a query.")
@click.option("--effects", is_flag=True, default=None, help="Of SQL: also what each column adds to the scores.")
@REJECT
@OUTPUT
def write_model(model: Path, target: str, output: Path | None, reject: float | None, **options: str | bool | None) -> None:
    """Write a model in another language: a program, a query or a document that answers without baytree.

    \b
    Examples:
      baytree export m.baytree --to sql --dialect postgres --table people -o model.sql
      baytree export m.baytree --to c -o model.c
      baytree export m.baytree --to onnx -o model.onnx
    """
    arguments.refuse_input_as_output(output, model)
    if target not in EXPORTS:
        raise click.UsageError(unknown("target", target, EXPORTS))
    given = {name: value for name, value in options.items() if value is not None}
    if given and target != "sql":
        raise click.UsageError(f"--{next(iter(given))} is of SQL only, not of {target}")
    printed = export(arguments.predictor(model), target, output, reject=reject, **given)
    if output is not None:
        say(f"saved to {output}")
    elif isinstance(printed, bytes):
        raise click.UsageError(f"{target} is no text: name a file, as in -o {SUFFIXES[target]}")
    else:
        click.echo(escaped(printed, keep="\n") if sys.stdout.isatty() else printed)
