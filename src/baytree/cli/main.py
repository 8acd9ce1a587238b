"""Entry point `baytree`, with the commands `fit`, `show`, `merge` and `datasets`; other modules hold the others."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from baytree._warnings import did_you_mean
from baytree.cli import (
    arguments,
    compare_commands,
    databases,
    engine_options,
    model_commands,
    predict_commands,
    report_commands,
)
from baytree.cli.completion import completion, names_from
from baytree.cli.console import Commands, echo_notes, echo_status, in_options, progress
from baytree.cli.json_output import JSON, echo_json, shown
from baytree.cli.options import (
    COSTS,
    GAP,
    MODEL,
    OUTPUT,
    TABLE,
    TARGET,
    declared,
    kind_options,
    names,
    read_options,
    read_options_of,
    structure_options,
)
from baytree.display.terminal import TERMINAL_WIDTH, aligned, escaped
from baytree.model_selection import model_registry
from baytree.version import __version__


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": TERMINAL_WIDTH})
@click.version_option(__version__, prog_name="baytree")
def main() -> None:
    """Classifiers that a person can read.

    TABLE is a CSV, TSV, Parquet, JSON, NDJSON or Excel file, also in a zip; "-" for CSV on standard input; or the name of a
    bundled table (see baytree datasets). Column types are inferred; notes report conversions and the option that changes
    them.

    \b
    Examples:
      baytree fit titanic --target survived -o m.baytree
      baytree show m.baytree
      baytree predict m.baytree new.csv --proba -o answers.csv
      baytree explain m.baytree new.csv --row 3
      baytree export m.baytree --to python -o model.py
    """


@main.command(short_help="Fit a model to a table.")
@TABLE
@TARGET
@click.option(
    "-m",
    "--model",
    default="nb",
    show_default=True,
    metavar="NAME",
    help=", ".join(model_registry.names()) + ".",
    shell_complete=names_from(model_registry.names),
)
@click.option("-p", "--param", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the model.")
@click.option("--weight", metavar="COLUMN", help="Column of sample weights.")
@COSTS
@structure_options
@GAP
@kind_options
@read_options
@click.option("--task", type=click.Choice(list(model_registry.FAMILIES)), help="Type of the target (default: inferred).")
@engine_options.engine_options
@databases.EXPLAIN
@OUTPUT
def fit(
    table: str, target: str, model: str, param: tuple[str, ...], costs: str | None, output: Path | None, **options: Any
) -> None:
    """Fit a model that predicts a column of TABLE.

    Without -o, print the model; with -o, save it and print the schema for review.

    The columns of --groups and --time are no features. Models that choose a penalty or prune by cross-validation keep the
    rows of a group in one fold, and test each fold on rows after its training rows.

    Model names and default settings are those of baytree compare. Parameters are those of the Python class, as
    name=value, where the value is a number, true, false, none, a string or JSON. For an unknown name or value the
    error lists the valid ones.

    \b
    Examples:
      baytree fit play-tennis --target PlayTennis
      baytree fit people.csv --target income --nominal zip -o m.baytree
      baytree fit shirts.csv -t bought --ordinal "size=S<M<L" --param alpha=0.5
      baytree fit titanic -t survived -m cart -p pruning=min -p max_depth=4
      baytree fit titanic -t survived -m cart -p 'priors={"no": 0.5, "yes": 0.5}'
      baytree fit loans.csv -t bad --costs '{"yes": {"no": 5}, "no": {"yes": 1}}'
      baytree fit loans.csv -t bad -m logistic --time date --gap 30
      baytree fit 'big/*.parquet' -t y -m tree --memory 2GB -o m.baytree
      baytree fit 'big/*.parquet' -t y --engine spark -o m.baytree
    """
    from baytree.storage import save
    from baytree.streaming.fit import FitRequest, learn

    arguments.refuse_input_as_output(output, table)
    schema = declared(options)
    param = param if arguments.json_of("--costs", costs) is None else (*param, f"costs={costs}")
    offers = arguments.candidate_estimators(model, param, schema, options["task"])
    structure = {name: options[name] for name in ("groups", "time", "gap") if options[name] is not None}
    if options["gap"] is not None and options["time"] is None:
        raise click.UsageError("--gap needs --time, the column that orders the rows")
    request = FitRequest(target, options["weight"], tuple(names(options["drop"])), options["task"], structure)
    weights = [request.weight] if request.weight else []
    how = read_options_of(options, schema, numbers=weights)
    if engine_options.uses_engine(table, options):
        if structure:
            raise click.UsageError(f"--{next(iter(structure))} needs all rows in memory; omit --engine and --memory")
        fitted = engine_options.fit_on_engine(offers, table, request, options, how)
        databases.explain_queries(fitted, options["explain"])
    else:
        source = arguments.source(table, how, target)
        arguments.columns([target, *schema, *weights, *request.drop, *request.structure_columns], source)
        with progress(source.size, "fitting") as done:
            fitted = learn(offers, source, request, done)
    echo_notes(fitted.schema_.notes)
    if output is None:
        click.echo(escaped(str(fitted), keep="\n"))
        return
    save(fitted, output)
    echo_status(f"{fitted.schema_.table()}\n\nsaved to {output}")


@main.command(short_help="Print a model, or draw its tree.")
@MODEL
@click.option("--schema", is_flag=True, help="Print only the columns, their kinds and levels.")
@JSON
@OUTPUT
def show(model: Path, schema: bool, as_json: bool, output: Path | None) -> None:
    """Print a model as text; with -o, draw its tree as SVG.

    \b
    Examples:
      baytree show m.baytree
      baytree show m.baytree --schema
      baytree show m.baytree --json
      baytree show m.baytree -o tree.svg
    """
    arguments.refuse_input_as_output(output, model)
    predictor = arguments.predictor(model)
    if output is not None:
        report_commands.draw(predictor, model, output)
        echo_status(f"saved to {output}")
    if as_json:
        echo_json(shown(predictor, with_summary=not schema))
    elif output is None:
        click.echo(escaped(in_options(str(predictor.schema)) if schema else predictor.describe(), keep="\n"))


@main.command(short_help="Merge models that were fitted to different rows.")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="MODEL MODEL...")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="File to write.")
def merge(paths: tuple[Path, ...], output: Path) -> None:
    """Merge models into one.

    The result equals a model fitted to the rows of all; for streaming trees it is approximate and keeps the larger subtrees.

    \b
    Example:
      baytree merge north.baytree south.baytree -o all.baytree
    """
    if len(paths) < 2:
        raise click.UsageError("give at least two models")
    arguments.refuse_input_as_output(output, *paths)
    from baytree.estimators.incremental import IncrementalEstimator
    from baytree.storage import save

    first, *others = [arguments.load_estimator(path) for path in paths]
    if not isinstance(first, IncrementalEstimator):
        raise click.UsageError(f"{paths[0]}: {type(first).__name__} keeps no statistics, so it cannot be merged")
    for path, other in zip(paths[1:], others, strict=True):
        if type(other) is not type(first):
            raise click.UsageError(f"{path} contains a {type(other).__name__}, not a {type(first).__name__}")
        first = first.merge(other)
    save(first, output)
    echo_status(f"saved to {output}")


def _bundled_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from baytree import datasets as bundled

    return [name for name in bundled.names() if name.startswith(incomplete)]


@main.command(short_help="List, describe or export the bundled tables.")
@click.argument("name", required=False, shell_complete=_bundled_names)
@JSON
@OUTPUT
def datasets(name: str | None, as_json: bool, output: Path | None) -> None:
    """List the bundled tables, or describe one; with -o, write it as CSV.

    \b
    Examples:
      baytree datasets
      baytree datasets titanic -o titanic.csv
      baytree datasets --json
    """
    from baytree import datasets as bundled

    if name is not None and name.lower().replace("_", "-") not in bundled.names():
        raise click.UsageError(did_you_mean("data set", name, bundled.names()))
    if as_json:
        echo_json({"tables": [asdict(bundled.describe(each)) for each in ([name] if name else bundled.names())]})
    if name is None:
        if as_json:
            return
        tables = [bundled.describe(each) for each in bundled.names()]
        rows = [[each.name, each.rows, len(each.columns), each.target, each.terms] for each in tables]
        click.echo(aligned(["name", "rows", "columns", "target", "terms"], rows))
        return
    if output is None:
        if not as_json:
            click.echo(str(bundled.describe(name)))
        return
    from baytree.cli import csv_output

    with csv_output.written(output) as write:
        write(bundled.load(name, as_="dict"))
    echo_status(f"saved to {output}")


main.add_command(predict_commands.predict)

main.add_command(predict_commands.explain)

main.add_command(predict_commands.evaluate)

main.add_command(compare_commands.audit)

main.add_command(compare_commands.compare)

main.add_command(compare_commands.rank)

main.add_command(report_commands.report)

main.add_command(report_commands.interview)
_play = copy(report_commands.interview)  # its older name
_play.hidden = True
main.add_command(_play, "play")

main.add_command(model_commands.write_model)

main.add_command(model_commands.drift)

main.add_command(model_commands.diff)

main.add_command(model_commands.serve)

main.add_command(completion)
