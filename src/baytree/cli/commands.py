"""The commands, each a few lines between what was typed and what is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from baytree.choose import models
from baytree.cli import arguments, choosing, exporting, showing
from baytree.cli.console import Commands, in_options, progress, say, tell, unknown
from baytree.cli.table_options import asked, declared, kind_options, names, read_options
from baytree.show.terminal import aligned, escaped
from baytree.version import __version__

EXPLAINED = 3  # rows, where none is asked for

_Model = click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
_Table = click.argument("table", metavar="TABLE")
_Strict = click.option("--strict", is_flag=True, help="Stop at a cell that cannot be read, or a level that is new.")
_Output = click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where to write it.")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="baytree")
def main() -> None:
    """Classifiers that a person can read.

    TABLE is a CSV, TSV, Parquet, JSON, NDJSON or Excel file, also in a zip, - for CSV on standard input, or the name of a
    bundled table (see baytree datasets). It is read as a person would read it; notes say what was done and which option
    changes it.

    \b
    Examples:
      baytree fit titanic --target survived -o m.baytree
      baytree show m.baytree
      baytree predict m.baytree new.csv --proba -o answers.csv
      baytree explain m.baytree new.csv --row 3
      baytree export m.baytree --to python -o model.py
    """


@main.command(short_help="Learn to predict a column of a table.")
@_Table
@click.option("-t", "--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option("-m", "--model", default="nb", show_default=True, metavar="NAME", help=", ".join(models.names()) + ".")
@click.option("-p", "--param", multiple=True, metavar="NAME=VALUE", help="A parameter of the model.")
@click.option("--weight", metavar="COLUMN", help="How much each row counts.")
@kind_options
@read_options
@click.option("--task", type=click.Choice(list(models.FAMILIES)), help="What the target is: classes, or a number.")
@_Output
def fit(table: str, target: str, model: str, param: tuple[str, ...], output: Path | None, **options: Any) -> None:
    """Learn to predict a column of TABLE.

    Without -o the model is printed; with it the model is saved, and the schema is printed to be checked.

    Models are called as in baytree compare, and have the same settings. Parameters are those of the Python class, as
    name=value: numbers, true, false, none, words or JSON. A name or a value that is not known is answered with those
    that are.

    \b
    Examples:
      baytree fit play-tennis --target PlayTennis
      baytree fit people.csv --target income --nominal zip -o m.baytree
      baytree fit shirts.csv -t bought --ordinal "size=S<M<L" --param alpha=0.5
      baytree fit titanic -t survived -m cart -p pruning=min -p max_depth=4
      baytree fit titanic -t survived -m cart -p 'priors={"no": 0.5, "yes": 0.5}'
    """
    from baytree import streams
    from baytree.storage import save

    schema = declared(options)
    offers = arguments.offers(model, param, schema, options["task"])
    lesson = streams.Lesson(target, options["weight"], tuple(names(options["drop"])), options["task"])
    weights = [lesson.weight] if lesson.weight else []
    source = arguments.source(table, asked(options, schema, numbers=weights))
    arguments.columns([target, *schema, *weights, *lesson.drop], source)
    with progress(source.size, "learning") as done:
        learnt = streams.learn(offers, source, lesson, done)
    tell(learnt.schema_.notes)
    if output is None:
        click.echo(escaped(str(learnt), keep="\n"))
        return
    save(learnt, output)
    say(f"{learnt.schema_.table()}\n\nsaved to {output}")


@main.command(short_help="Predict each row of a table.")
@_Model
@_Table
@click.option("--proba", is_flag=True, help="Also the probability of each class.")
@click.option("--keep", multiple=True, metavar="COLUMNS", help="Columns of TABLE to copy, as in id,name.")
@_Strict
@read_options
@_Output
def predict(model: Path, table: str, proba: bool, keep: tuple[str, ...], output: Path | None, **options: Any) -> None:
    """Predict each row of TABLE, as CSV on standard output or in a file.

    A cell that cannot be read, and a level that was not there in training, is taken as missing, with a note; --strict stops
    there instead. Columns that the model does not use may be absent.

    \b
    Examples:
      baytree predict m.baytree new.csv
      baytree predict m.baytree new.csv --proba -o answers.csv
      baytree predict m.baytree new.csv --keep id,name -o answers.csv
      cat new.csv | baytree predict m.baytree -
    """
    from baytree import streams
    from baytree.cli import spreadsheet

    predictor, kept = arguments.predictor(model, options["strict"]), names(keep)
    if proba and streams.target_of(predictor).classes is None:
        raise click.UsageError(f"{model} predicts a number: it has no classes and no probabilities")
    source = arguments.source_for(predictor, table, options, kept)
    with spreadsheet.written(output) as write, progress(source.size, "predicting") as done:
        for columns in streams.answers(predictor, source, proba, done, kept):
            write(columns)
    if output:
        say(f"saved to {output}")


@main.command(short_help="Print a model in words, or draw its tree.")
@_Model
@click.option("--schema", is_flag=True, help="Only the columns, their kinds and levels.")
@_Output
def show(model: Path, schema: bool, output: Path | None) -> None:
    """Print a model in words; with -o draw its tree as SVG.

    \b
    Examples:
      baytree show m.baytree
      baytree show m.baytree --schema
      baytree show m.baytree -o tree.svg
    """
    predictor = arguments.predictor(model)
    if output is not None:
        showing.draw(predictor, model, output)
        say(f"saved to {output}")
        return
    click.echo(escaped(in_options(str(predictor.schema)) if schema else predictor.describe(), keep="\n"))


@main.command(short_help="Say why rows get their answers.")
@_Model
@_Table
@click.option("--row", type=click.IntRange(1), multiple=True, metavar="N", help="Which row; the first is 1.")
@_Strict
@read_options
def explain(model: Path, table: str, row: tuple[int, ...], **options: Any) -> None:
    """Say why rows of TABLE get their answers: what each column adds for and against.

    \b
    Examples:
      baytree explain m.baytree new.csv
      baytree explain m.baytree new.csv --row 3 --row 17
    """
    from baytree import streams

    predictor = arguments.predictor(model, options["strict"])
    found = streams.rows(arguments.source_for(predictor, table, options), row or range(1, EXPLAINED + 1))
    absent = sorted(set(row) - set(found))
    if absent:
        raise click.UsageError(f"{table} has no row {absent[0]:,}")
    for at in sorted(found):
        why = str(predictor.explain(found[at])[0])
        click.echo(click.style(f"row {at:,}: ", bold=True) + escaped(why, keep="\n") + "\n")


@main.command(short_help="Say how well a model predicts a table.")
@_Model
@_Table
@_Strict
@read_options
def evaluate(model: Path, table: str, **options: Any) -> None:
    """Say how well a model predicts TABLE, which must hold its target column.

    Rows that the model has learnt from make it look better than it is: give others. Of classes it prints accuracy
    with an interval, balanced accuracy, F1, Matthews' correlation, log loss, a line per class and the confusions; of
    numbers R² and the errors.

    \b
    Examples:
      baytree evaluate m.baytree held-out.csv
      cat held-out.csv | baytree evaluate m.baytree -
    """
    from baytree import streams
    from baytree.cli import verdicts

    predictor = arguments.predictor(model, options["strict"])
    target = streams.target_of(predictor)
    source = arguments.source_for(predictor, table, options)
    arguments.columns([target.name], source)
    with progress(source.size, "evaluating") as done:
        count = streams.residuals if target.classes is None else streams.confusion
        counted = count(predictor, source, done)
    if not counted.n_rows:
        raise click.ClickException(f"{source.name}: no row has a value in the target column {target.name!r}")
    click.echo(verdicts.of(counted, [str(name) for name in target.classes or ()]))


@main.command(short_help="Join models that learnt from different rows.")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="MODEL MODEL...")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The new model.")
def merge(paths: tuple[Path, ...], output: Path) -> None:
    """Join additive models: the result is as if one had seen the rows of all.

    \b
    Example:
      baytree merge north.baytree south.baytree -o all.baytree
    """
    if len(paths) < 2:
        raise click.UsageError("name at least two models")
    from baytree.estimators.additive import AdditiveEstimator
    from baytree.storage import save

    first, *others = [arguments.learnt(path) for path in paths]
    if not isinstance(first, AdditiveEstimator):
        raise click.UsageError(f"{paths[0]}: {type(first).__name__} keeps no statistics, so it cannot be merged")
    for path, other in zip(paths[1:], others, strict=True):
        if type(other) is not type(first):
            raise click.UsageError(f"{path} holds a {type(other).__name__}, not a {type(first).__name__}")
        first = first.merge(other)
    save(first, output)
    say(f"saved to {output}")


@main.command(short_help="List, describe or write the bundled tables.")
@click.argument("name", required=False)
@_Output
def datasets(name: str | None, output: Path | None) -> None:
    """List the bundled tables, or describe one; with -o write it as CSV.

    \b
    Examples:
      baytree datasets
      baytree datasets titanic -o titanic.csv
    """
    from baytree import datasets as bundled

    if name is None:
        tables = [bundled.describe(each) for each in bundled.names()]
        rows = [[each.name, each.rows, len(each.columns), each.target, each.terms] for each in tables]
        click.echo(aligned(["name", "rows", "columns", "target", "terms"], rows))
        return
    if name.lower().replace("_", "-") not in bundled.names():
        raise click.UsageError(unknown("data set", name, bundled.names()))
    if output is None:
        click.echo(str(bundled.describe(name)))
        return
    from baytree.cli import spreadsheet

    with spreadsheet.written(output) as write:
        write(bundled.load(name, as_="dict"))
    say(f"saved to {output}")


main.add_command(choosing.compare)
main.add_command(choosing.rank)
main.add_command(showing.report)
main.add_command(showing.play)
main.add_command(exporting.write_model)
