"""The commands that choose: which model suits a table, and which of its columns tell most."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import baytree as bt
from baytree.cli import arguments
from baytree.cli.console import say
from baytree.terminal import escaped

if TYPE_CHECKING:
    from baytree.comparison.race import Progress

_Table = click.argument("table", metavar="TABLE")
_Target = click.option("-t", "--target", required=True, metavar="COLUMN", help="The column to predict.")
_Nominal = click.option("--nominal", multiple=True, metavar="COLUMN", help="Numbers that are only codes.")
_Ordinal = click.option("--ordinal", multiple=True, metavar="COLUMN=A<B<C", help="Words that have an order.")
_Text = click.option("--text", multiple=True, metavar="COLUMN", help="Free text, taken as words.")
_Drop = click.option("--drop", multiple=True, metavar="COLUMN", help="Columns to leave out.")
_Task = click.option("--task", type=click.Choice(["classification", "regression"]), help="What the target is.")


@click.command(short_help="Try every model on a table and recommend one.")
@_Table
@_Target
@click.option("--cv", default=10, show_default=True, type=click.IntRange(2), help="How many folds.")
@click.option("-m", "--models", metavar="NAMES", help="Which models, such as c45,cart,nb; all by default.")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where to save.")
@_Nominal
@_Ordinal
@_Text
@_Drop
@_Task
def compare(table: str, target: str, cv: int, models: str | None, output: Path | None, **options: Any) -> None:
    """Try every model on the same folds of TABLE, and recommend the simplest that is not significantly worse.

    Ctrl-C keeps the models that are finished. With -o the recommended model (model.baytree) and all results
    (results.json) are saved to a directory.

    \b
    Examples:
      baytree compare titanic --target survived
      baytree compare people.csv --target income --models c45,cart,nb -o chosen
    """
    from baytree.problem import Problem

    frame, schema = _frame(table, target, options)
    problem = Problem.of(frame, target, options["task"], schema or None)
    if not click.get_current_context().meta.get("quiet"):
        click.echo(escaped(f"{problem.schema}\n\n{len(problem):,} rows\n", keep="\n"))
    with _progress() as tell:
        result = _compared(frame, target, models, cv=cv, task=options["task"], schema=schema or None, progress=tell)
    click.echo(escaped(str(result), keep="\n"))
    click.echo(escaped(f"\n{result.recommended}", keep="\n"))
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        bt.save(result.recommended, output / "model.baytree")
        (output / "results.json").write_text(result.to_json() + "\n", encoding="utf-8")
        say(f"\nsaved to {output}: model.baytree, results.json")


@click.command(short_help="Rank the columns of a table by what they tell.")
@_Table
@_Target
@click.option("--by", default="information_gain", show_default=True, metavar="MEASURE", help="How columns are ranked.")
@click.option("--cuts", type=click.Choice(["auto", "best", "mdl", "quantiles"]), default="auto", help="How numbers are cut.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Also write it as CSV.")
@_Nominal
@_Ordinal
@_Text
@_Drop
@_Task
def rank(table: str, target: str, by: str, cuts: str, output: Path | None, **options: Any) -> None:
    """Rank the columns of TABLE by what they tell about the target.

    Measures: information_gain, gain_ratio, symmetric_uncertainty, chi2, correlation, anova, mrmr,
    importance, lasso.

    \b
    Examples:
      baytree rank titanic --target survived
      baytree rank people.csv --target income --by chi2
    """
    from baytree.select.ranking import MEASURES

    if by not in MEASURES:
        from baytree.cli.console import unknown

        raise click.UsageError(unknown("measure", by, MEASURES))
    frame, schema = _frame(table, target, options)
    ranking = bt.rank_features(frame, target, by, cuts=cuts, task=options["task"], schema=schema or None)
    click.echo(escaped(str(ranking), keep="\n"))
    if output is not None:
        from baytree.cli import sheet

        with sheet.written(output) as write:
            write(ranking.to_dict())
        say(f"saved to {output}")


def _frame(table: str, target: str, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The whole table without what is dropped, and the kinds that were declared."""
    import polars as pl

    schema = arguments.declared(options["nominal"], options["ordinal"], options["text"])
    source = arguments.source(table, text=schema)
    arguments.columns([target, *schema, *options["drop"]], source)
    frame = pl.concat(list(source.batches()), how="vertical_relaxed")
    return frame.drop(list(options["drop"])), schema


def _compared(*given: Any, **options: Any) -> Any:
    try:
        return bt.compare(*given, **options)
    except ValueError as error:
        if "there is no model" in str(error):
            raise click.UsageError(str(error)) from None
        raise


@contextmanager
def _progress() -> Generator[Any]:
    """What to call with how far the work is: one line on standard error, rewritten, on a terminal; else None."""
    if not sys.stderr.isatty() or click.get_current_context().meta.get("quiet"):
        yield None
        return

    def tell(progress: Progress) -> None:
        line = f"{progress.done}/{progress.total}  {progress.name}, about {progress.seconds_left:.0f} s left"
        click.echo(f"\r\x1b[2K{escaped(line)}", nl=False, err=True)

    yield tell
    click.echo("\r\x1b[2K", nl=False, err=True)
