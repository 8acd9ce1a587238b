"""The commands, each a few lines between what was typed and what is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from baytree._warnings import did_you_mean
from baytree.cli import arguments, compare_commands, engine_options, model_commands, predict_commands, report_commands
from baytree.cli.console import Commands, echo_notes, echo_status, in_options, progress
from baytree.cli.options import MODEL, OUTPUT, TABLE, TARGET, asked, declared, kind_options, names, read_options
from baytree.display.terminal import aligned, escaped
from baytree.model_selection import model_registry
from baytree.version import __version__


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
@TABLE
@TARGET
@click.option("-m", "--model", default="nb", show_default=True, metavar="NAME", help=", ".join(model_registry.names()) + ".")
@click.option("-p", "--param", multiple=True, metavar="NAME=VALUE", help="A parameter of the model.")
@click.option("--weight", metavar="COLUMN", help="How much each row counts.")
@kind_options
@read_options
@click.option("--task", type=click.Choice(list(model_registry.FAMILIES)), help="What the target is: classes, or a number.")
@engine_options.engine_options
@OUTPUT
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
      baytree fit 'big/*.parquet' -t y -m tree --memory 2GB -o m.baytree
      baytree fit 'big/*.parquet' -t y --engine spark -o m.baytree
    """
    from baytree.storage import save
    from baytree.streaming.fit import FitRequest, learn

    arguments.refuse_input_as_output(output, table)
    schema = declared(options)
    offers = arguments.candidate_estimators(model, param, schema, options["task"])
    lesson = FitRequest(target, options["weight"], tuple(names(options["drop"])), options["task"])
    weights = [lesson.weight] if lesson.weight else []
    how = asked(options, schema, numbers=weights)
    if engine_options.uses_engine(table, options):
        learnt = engine_options.learnt(offers, table, lesson, options, how)
    else:
        source = arguments.source(table, how, target)
        arguments.columns([target, *schema, *weights, *lesson.drop], source)
        with progress(source.size, "learning") as done:
            learnt = learn(offers, source, lesson, done)
    echo_notes(learnt.schema_.notes)
    if output is None:
        click.echo(escaped(str(learnt), keep="\n"))
        return
    save(learnt, output)
    echo_status(f"{learnt.schema_.table()}\n\nsaved to {output}")


@main.command(short_help="Print a model in words, or draw its tree.")
@MODEL
@click.option("--schema", is_flag=True, help="Only the columns, their kinds and levels.")
@OUTPUT
def show(model: Path, schema: bool, output: Path | None) -> None:
    """Print a model in words; with -o draw its tree as SVG.

    \b
    Examples:
      baytree show m.baytree
      baytree show m.baytree --schema
      baytree show m.baytree -o tree.svg
    """
    arguments.refuse_input_as_output(output, model)
    predictor = arguments.predictor(model)
    if output is not None:
        report_commands.draw(predictor, model, output)
        echo_status(f"saved to {output}")
        return
    click.echo(escaped(in_options(str(predictor.schema)) if schema else predictor.describe(), keep="\n"))


@main.command(short_help="Join models that learnt from different rows.")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="MODEL MODEL...")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The new model.")
def merge(paths: tuple[Path, ...], output: Path) -> None:
    """Join additive models: the result is as if one had seen the rows of all. Streaming trees keep the larger subtrees.

    \b
    Example:
      baytree merge north.baytree south.baytree -o all.baytree
    """
    if len(paths) < 2:
        raise click.UsageError("name at least two models")
    arguments.refuse_input_as_output(output, *paths)
    from baytree.estimators.incremental import IncrementalEstimator
    from baytree.storage import save

    first, *others = [arguments.learnt(path) for path in paths]
    if not isinstance(first, IncrementalEstimator):
        raise click.UsageError(f"{paths[0]}: {type(first).__name__} keeps no statistics, so it cannot be merged")
    for path, other in zip(paths[1:], others, strict=True):
        if type(other) is not type(first):
            raise click.UsageError(f"{path} holds a {type(other).__name__}, not a {type(first).__name__}")
        first = first.merge(other)
    save(first, output)
    echo_status(f"saved to {output}")


@main.command(short_help="List, describe or write the bundled tables.")
@click.argument("name", required=False)
@OUTPUT
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
        raise click.UsageError(did_you_mean("data set", name, bundled.names()))
    if output is None:
        click.echo(str(bundled.describe(name)))
        return
    from baytree.cli import csv_output

    with csv_output.written(output) as write:
        write(bundled.load(name, as_="dict"))
    echo_status(f"saved to {output}")


main.add_command(predict_commands.predict)

main.add_command(predict_commands.explain)

main.add_command(predict_commands.evaluate)

main.add_command(compare_commands.compare)

main.add_command(compare_commands.rank)

main.add_command(report_commands.report)

main.add_command(report_commands.play)

main.add_command(model_commands.write_model)

main.add_command(model_commands.drift)

main.add_command(model_commands.diff)

main.add_command(model_commands.serve)
