"""Commands on a table with a target: `compare` (cross-validate all models), `audit` (what may mislead) and `rank`."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, replace
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baytree._warnings import did_you_mean
from baytree.cli import arguments
from baytree.cli import output as terminal_output
from baytree.cli.console import FOUND, Interrupted, echo_notes, echo_status, exit_now, in_options
from baytree.cli.json_output import JSON, echo_json
from baytree.cli.options import (
    COSTS,
    GAP,
    TABLE,
    TARGET,
    declared,
    kind_options,
    names,
    read_options,
    read_options_of,
    structure_options,
)
from baytree.display.terminal import escaped
from baytree.file_io.atomic import write_file
from baytree.model_selection import model_registry as families

if TYPE_CHECKING:
    import polars as pl

    from baytree.auditing.result import Audit
    from baytree.comparison.fold_tasks import Progress
    from baytree.comparison.leaderboard import Comparison
    from baytree.model_selection.problem import SupervisedProblem

_Task = click.option("--task", type=click.Choice(list(families.FAMILIES)), help="Type of the target (default: inferred).")


@click.command(short_help="Cross-validate all models on a table and recommend one.")
@TABLE
@TARGET
@click.option("--cv", default=10, show_default=True, type=click.IntRange(2), help="Number of cross-validation folds.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    help="Number of cross-validation repeats (default: 3 below 200 rows, 2 below 500, else 1).",
)
@click.option("--by", type=click.Choice(families.judges()), help="Score that ranks the models.")
@COSTS
@click.option("-m", "--models", metavar="NAMES", help="Models to compare, such as c45,cart,nb (default: all).")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Output directory.")
@structure_options
@GAP
@click.option("--test-size", type=float, metavar="N", help="Rows, or proportion, in each test block of --time.")
@click.option("--no-save", is_flag=True, help="Do not write any file.")
@JSON
@kind_options
@read_options
@_Task
def compare(
    table: str, target: str, models: str | None, output: Path | None, no_save: bool, as_json: bool, **options: Any
) -> None:
    """Cross-validate all models on the same folds of TABLE and recommend the simplest one that is as good as the best.

    As good as the best means within one standard error of its score, and at most 0.01 lower in accuracy.

    A target of strings, booleans or up to 20 distinct whole numbers is classified; any other numeric target gets the
    regression models. Use --task to override. Models tune their settings inside each fold.

    Models are ranked by the Brier score (the mean squared error of their probabilities), by expected cost if --costs
    is given, or by squared error for a numeric target. Use --by to override. Cross-validation is repeated three times below
    200 rows and twice below 500; use --repeats to override.

    With --groups, rows of one group stay in one fold. With --time, models are tested on rows after their training rows.

    The recommended model (model.baytree), all models (models/NAME.baytree), all results (results.json) and a page with
    them (report.html) are saved in DIR (default: a directory named after the table).
    Ctrl-C keeps the models that are finished and exits with code 130.

    \b
    MODELS

    \b
    Examples:
      baytree compare titanic --target survived
      baytree compare people.csv --target income --models c45,cart,nb -o chosen
      baytree compare loans.csv -t bad --costs '{"yes": {"no": 5}, "no": {"yes": 1}}'
      baytree compare wine.csv --target quality --task regression
      baytree compare loans.csv -t bad --time date --gap 30 --groups customer
      baytree compare titanic -t survived --no-save --json
    """
    from baytree.model_selection.problem import SupervisedProblem

    directory = output or Path(f"{terminal_output.file_name(table)}-compared")
    for name in ("model.baytree", "results.json", "report.html"):
        arguments.refuse_input_as_output(None if no_save else directory / name, table)
    frame, schema = _frame(table, target, options)
    structure = {name: options[name] for name in ("groups", "time", "gap", "test_size")}
    problem = SupervisedProblem.of(frame, target, options["task"], schema or None, **structure)
    if not (as_json or click.get_current_context().meta.get("quiet")):
        click.echo(escaped(f"{problem.schema.table()}\n\n{terminal_output.describe_rows(problem)}\n", keep="\n"))
    echo_notes(problem.schema.notes)
    costs = arguments.json_of("--costs", options["costs"])
    given = {name: options[name] for name in ("cv", "repeats", "by")} | {"costs": costs}
    with _progress() as watch:
        result = _compared(problem, models, **given, progress=watch)
    if as_json:
        echo_json(result.to_dict())
    else:
        _print(result)
    if not no_save:
        _save(result, directory, is_asked_for=output is not None)
    if result.is_interrupted:
        exit_now(Interrupted.exit_code)


def _print(result: Comparison) -> None:
    """Print the leaderboard, the recommended model, and the command that fits it again."""
    shown = result if result.audit is None else replace(result, audit=_with_options(result.audit))
    click.echo(terminal_output.coloured(escaped(str(shown), keep="\n")))
    click.echo("\n" + escaped(terminal_output.first_lines(str(result.recommended)), keep="\n"))
    again = terminal_output.command(click.get_current_context(), result.recommendation.short)
    click.echo(f"\nto fit it again:\n  {escaped(again)}")


compare.help = cleandoc(compare.help or "").replace("MODELS", terminal_output.listed_models(families.FAMILIES))


@click.command(short_help="Examine a table for what makes models look better than they are.")
@TABLE
@TARGET
@JSON
@click.option("--fail", "is_strict", is_flag=True, help="Exit with code 3 if anything is found.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write an HTML page.")
@structure_options
@kind_options
@read_options
@_Task
def audit(table: str, target: str, as_json: bool, is_strict: bool, output: Path | None, **options: Any) -> None:
    """Examine TABLE for leaks of the target, duplicates, groups, an order in time, and columns that need care.

    Each finding has a figure and a remedy. The exit code is 0 with or without findings, unless --fail is given.

    \b
    Examples:
      baytree audit titanic -t survived
      baytree audit loans.csv -t bad --time date --groups customer
      baytree audit loans.csv -t bad --json --fail
    """
    from baytree.auditing.audit import audit_problem
    from baytree.model_selection.problem import SupervisedProblem

    arguments.refuse_input_as_output(output, table)
    frame, schema = _frame(table, target, options)
    structure = {"groups": options["groups"], "time": options["time"]}
    problem = SupervisedProblem.of(frame, target, options["task"], schema or None, **structure)
    result = audit_problem(problem)
    if output is not None:
        result.report(output)
        echo_status(f"saved to {output}")
    if as_json:
        echo_json(result.to_dict())
    elif output is None:
        click.echo(escaped(str(_with_options(result)), keep="\n"))
    if is_strict and result.findings:
        click.get_current_context().exit(FOUND)


def _with_options(audited: Audit) -> Audit:
    """Return the audit with remedies in options of the command line."""
    import msgspec

    findings = [msgspec.structs.replace(each, remedy=in_options(each.remedy)) for each in audited.findings]
    return replace(audited, findings=findings)


def _save(result: Comparison, directory: Path, is_asked_for: bool) -> None:
    """Save everything in a directory. If no directory was asked for, a failure is only a note."""
    from baytree.storage import save

    try:
        (directory / "models").mkdir(parents=True, exist_ok=True)
        save(result.recommended, directory / "model.baytree")
        for short, model in result.models.items():
            save(model, directory / "models" / f"{short}.baytree")
        write_file(directory / "results.json", result.to_json().encode() + b"\n")
        result.report(directory / "report.html")
    except OSError as error:
        if is_asked_for:
            raise
        echo_status(f"\nnot saved: {directory}: {error.strerror}; choose a directory with -o")
        return
    echo_status(f"\nsaved in {directory}: model.baytree (print it with baytree show), models, results.json")
    echo_status(f"saved {directory / 'report.html'}: an HTML page with these results")


@click.command(short_help="Rank the columns of a table by their association with the target.")
@TABLE
@TARGET
@click.option("--by", default="information_gain", show_default=True, metavar="MEASURE", help="Measure of association.")
@click.option(
    "--cuts",
    type=click.Choice(["auto", "best", "mdl", "quantiles"]),
    default="auto",
    help="Method for binning numeric columns.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Also write the ranking as CSV.")
@JSON
@kind_options
@read_options
@_Task
def rank(table: str, target: str, by: str, cuts: str, output: Path | None, as_json: bool, **options: Any) -> None:
    """Rank the columns of TABLE by their association with the target.

    \b
    Measures (--by):
      information_gain       mutual information with the class, in bits
      gain_ratio             information gain divided by the entropy of the column
      symmetric_uncertainty  information gain, normalized to 0..1
      chi2                   chi-squared test of independence, with p-values
      correlation            Pearson, Spearman, point-biserial, Cramér's V or
                             η, depending on the kinds of column and target
      spearman               the same, with rank correlation for numbers
      anova                  F test, with p-values
      mrmr                   relevance minus redundancy with higher-ranked columns
      importance             importance in a CART tree fitted to all rows
      lasso                  position at which the column enters the lasso path

    Numeric columns are binned at the single best threshold for the measures in bits, and into ten quantiles for chi2
    and mrmr; use --cuts to override. p-values are also shown corrected for the number of columns (Bonferroni, false
    discovery rate).

    \b
    Examples:
      baytree rank titanic --target survived
      baytree rank people.csv --target income --by chi2 --cuts mdl
      baytree rank houses.csv --target price --by correlation -o ranking.csv
    """
    from baytree.feature_selection.column_scores import MEASURES
    from baytree.feature_selection.filters import rank_features

    if by not in MEASURES:
        raise click.UsageError(did_you_mean("measure", by, MEASURES))
    arguments.refuse_input_as_output(output, table)
    frame, schema = _frame(table, target, options)
    ranking = rank_features(frame, target, by, cuts=cuts, task=options["task"], schema=schema or None)
    if as_json:
        echo_json({"by": ranking.by, "target": ranking.target, "columns": list(map(asdict, ranking.ranks))})
    else:
        click.echo(escaped(str(ranking), keep="\n"))
    if output is not None:
        from baytree.cli import csv_output

        with csv_output.written(output) as write:
            write(ranking.to_dict())
        echo_status(f"saved to {output}")


def _frame(table: str, target: str, options: dict[str, Any]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read the whole table without dropped columns; also return the declared kinds."""
    from baytree.data import files

    schema, dropped = declared(options), names(options["drop"])
    source = arguments.source(table, read_options_of(options, schema), target)
    arguments.columns([target, *schema, *dropped], source)
    return files.read_all(source).drop(dropped), schema


def _compared(problem: SupervisedProblem, models: str | None, **options: Any) -> Comparison:
    from baytree.comparison.compare import run_comparison

    try:
        return run_comparison(problem, models, **options)
    except ValueError as error:
        if "there is no model" in str(error):
            raise click.UsageError(str(error)) from None
        raise


@contextmanager
def _progress() -> Generator[Any]:
    """Yield a function that shows a `Progress` on one line of standard error, or None if it is no terminal."""
    if not sys.stderr.isatty() or click.get_current_context().meta.get("quiet"):
        yield None
        return

    def tell(progress: Progress) -> None:
        left = f", about {terminal_output.duration(progress.seconds_left)} left" if progress.done else ""
        line = f"{progress.done}/{progress.total}  {progress.name}{left}"
        click.echo(f"\r\x1b[2K{escaped(line)}", nl=False, err=True)

    yield tell
    click.echo("\r\x1b[2K", nl=False, err=True)
