"""What many commands take: a table, a model, where to write."""

from __future__ import annotations

from pathlib import Path

import click

TABLE = click.argument("table", metavar="TABLE")
MODEL = click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
TARGET = click.option("-t", "--target", required=True, metavar="COLUMN", help="The column to predict.")
STRICT = click.option("--strict", is_flag=True, help="Stop at a cell that cannot be read, or a level that is new.")
OUTPUT = click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where to write it.")
REJECT = click.option(
    "--reject", type=click.FloatRange(0, 1), metavar="P", help="No prediction where its class has a smaller probability."
)
