"""The command that says what sets two models apart."""

from __future__ import annotations

from pathlib import Path

import click

from baytree.cli import arguments
from baytree.cli.console import progress, say
from baytree.cli.table_options import read_options
from baytree.show.terminal import escaped


@click.command(short_help="Say what has changed from one model to another.")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.argument("table", required=False, metavar="[TABLE]")
@click.option("--json", "as_json", is_flag=True, help="As JSON instead of tables.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="As a page, FILE.")
@read_options
def diff(old: Path, new: Path, table: str | None, as_json: bool, output: Path | None, **options: object) -> None:
    """Say what has changed from the model in OLD to that in NEW.

    Tells columns, levels and classes that are not the same; then rules, distributions or coefficients; and with TABLE, which
    needs no target, the rows that are answered otherwise, and through which column. The exit code is 0 whether or not
    something has changed.

    \b
    Examples:
      baytree diff monday.baytree tuesday.baytree
      baytree diff monday.baytree tuesday.baytree rows.csv --json
      baytree diff monday.baytree tuesday.baytree rows.csv -o page.html
    """
    import msgspec

    from baytree.diffs import diff as compared
    from baytree.streams.batch_answers import flips_of

    arguments.refuse_input_as_output(output, old, new, table)
    before, after = arguments.predictor(old), arguments.predictor(new)
    found = compared(before, after)
    if table is not None:
        source = arguments.source_for_both(before, after, table, options)
        with progress(source.size, "comparing") as done:
            found = msgspec.structs.replace(found, rows=flips_of(before, after, source, done))
    if output is not None:
        found.report(output)
        say(f"saved to {output}")
        return
    click.echo(msgspec.json.encode(found.to_dict()).decode() if as_json else escaped(str(found), keep="\n"))
