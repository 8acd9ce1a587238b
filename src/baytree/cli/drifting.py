"""The command that says what is new in a table beside what a model was trained on."""

from __future__ import annotations

from pathlib import Path

import click

from baytree.cli import arguments
from baytree.cli.command_parameters import MODEL, TABLE
from baytree.cli.console import progress
from baytree.cli.table_options import read_options
from baytree.show.terminal import escaped


@click.command(short_help="Say what is new beside the rows of training.")
@MODEL
@TABLE
@click.option("--json", "as_json", is_flag=True, help="As JSON instead of a table.")
@read_options
def drift(model: Path, table: str, as_json: bool, **options: object) -> None:
    """Say what is new in TABLE beside the rows that MODEL was trained on.

    Tells for each column how far its distribution is from that of training, whether that is more than chance (with all
    columns taken into account), missing values and new levels, and by how much the answers change. TABLE needs no target, is
    read in batches, and may lack columns. The exit code is 0 whether or not something has changed.

    \b
    Examples:
      baytree drift m.baytree today.csv
      baytree drift m.baytree today.csv --json
    """
    import msgspec

    from baytree.drifts import Drift
    from baytree.streams.batch_answers import drift_of

    predictor = arguments.predictor(model)
    source = arguments.some_columns(predictor, table, options)
    with progress(source.size, "reading") as done:
        found = Drift(predictor, drift_of(predictor, source, done))
    click.echo(msgspec.json.encode(found.to_dict()).decode() if as_json else escaped(str(found), keep="\n"))
