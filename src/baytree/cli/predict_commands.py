"""Commands that apply a model to a table: `predict`, `explain` and `evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baytree._warnings import did_you_mean
from baytree.cli import arguments, databases
from baytree.cli.console import echo_notes, echo_status, progress
from baytree.cli.json_output import JSON, echo_json, lines_written, prediction_lines
from baytree.cli.options import COSTS, MODEL, OUTPUT, REJECT, STRICT, TABLE, names, read_options
from baytree.display.terminal import escaped
from baytree.file_io.atomic import is_written_in_place

if TYPE_CHECKING:
    from baytree.metrics.evaluation import Evaluation
    from baytree.statistics.profile import Profile

DEFAULT_EXPLAINED_ROWS = 3  # first rows that are explained if --row is not given

LEARNT_FROM = "as many rows of each class as in training: if these are the training rows, the results are optimistic"


@click.command(short_help="Predict each row of a table.")
@MODEL
@TABLE
@click.option("--proba", is_flag=True, help="Also print the probability of each class.")
@click.option(
    "--explain",
    "reasons",
    type=click.IntRange(0),
    default=0,
    metavar="K",
    help="Also print the K contributions with the largest effect.",
)
@REJECT
@COSTS
@click.option("--keep", multiple=True, metavar="COLUMNS", help="Columns of TABLE to copy, such as id,name.")
@STRICT
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of CSV, one line per row.")
@databases.into_options
@read_options
@OUTPUT
def predict(
    model: Path,
    table: str,
    proba: bool,
    reasons: int,
    reject: float | None,
    costs: str | None,
    keep: tuple[str, ...],
    as_json: bool,
    output: Path | None,
    **options: Any,
) -> None:
    """Predict each row of TABLE and write CSV to standard output or a file; with --json, a line of JSON for each row.

    Unreadable cells and levels unknown from training are treated as missing, with a note; with --strict they are an
    error. Columns that the model does not use may be absent. --costs replace the model's own costs. Text that a
    spreadsheet would run as a formula gets a leading quote mark.

    \b
    Examples:
      baytree predict m.baytree new.csv
      baytree predict m.baytree new.csv --proba --explain 3 -o answers.csv
      baytree predict m.baytree new.csv --keep id,name -o answers.csv
      baytree predict m.baytree new.csv --reject 0.8 -o answers.csv
      baytree predict m.baytree new.csv --proba --json
      cat new.csv | baytree predict m.baytree -
      baytree predict m.baytree 'duckdb:///bank.db?table=new' --into scores
    """
    from baytree.cli import csv_output
    from baytree.data import files
    from baytree.streaming import predict as batch_predict

    if databases.predict_into(model, table, options):
        return
    arguments.refuse_input_as_output(output, model, table)
    predictor, extra_columns = arguments.predictor(model, options["strict"]), names(keep)
    if (proba or reject is not None) and batch_predict.target_of(predictor).classes is None:
        raise click.UsageError(f"{model} predicts a number: it has no classes and no probabilities")
    predictor = arguments.with_costs(predictor, costs)
    source = arguments.source_once(predictor, table, options, extra_columns)

    classes = (batch_predict.target_of(predictor).classes or ()) if proba else ()

    def write_all(source: files.TableSource) -> None:
        with ExitStack() as open_files, progress(source.size, "predicting") as done:
            write: Callable[[Any], object] = open_files.enter_context(
                lines_written(output) if as_json else csv_output.written(output)
            )
            for columns in batch_predict.answers(predictor, source, proba, done, extra_columns, reasons, reject):
                write(prediction_lines(columns, extra_columns, classes, reasons, reject is not None) if as_json else columns)

    if output and not is_written_in_place(output):  # a file is replaced only at the end, so a second attempt can start over
        files.attempt(source, write_all)
    else:
        write_all(files.settle_types(source))
    if output:
        echo_status(f"saved to {output}")


@click.command(short_help="Explain the predictions of rows.")
@MODEL
@TABLE
@click.option("--row", type=click.IntRange(1), multiple=True, metavar="N", help="Row number, starting at 1 (repeatable).")
@STRICT
@JSON
@read_options
def explain(model: Path, table: str, row: tuple[int, ...], as_json: bool, **options: Any) -> None:
    """Explain the predictions of rows of TABLE: the contribution of each column for and against each class.

    \b
    Examples:
      baytree explain m.baytree new.csv
      baytree explain m.baytree new.csv --row 3 --row 17
      baytree explain m.baytree new.csv --json
    """
    from baytree.streaming import predict as batch_predict

    predictor = arguments.predictor(model, options["strict"])
    rows_by_number = batch_predict.rows(
        arguments.source_for(predictor, table, options), row or range(1, DEFAULT_EXPLAINED_ROWS + 1)
    )
    absent = sorted(set(row) - set(rows_by_number))
    if absent:
        raise click.UsageError(f"{table} has no row {absent[0]:,}")
    if as_json:
        explained = [{"row": n} | predictor.explain(rows_by_number[n])[0].to_dict() for n in sorted(rows_by_number)]
        echo_json({"model": predictor.name, "target": predictor.schema.target.name, "rows": explained})
        return
    for row_number in sorted(rows_by_number):
        explanation = str(predictor.explain(rows_by_number[row_number])[0])
        click.echo(click.style(f"row {row_number:,}: ", bold=True) + escaped(explanation, keep="\n") + "\n")


@click.command(short_help="Evaluate a model on a table.")
@MODEL
@TABLE
@COSTS
@click.option("--curve", metavar="CLASS", help="Also print the decision curve (net benefit) of CLASS.")
@OUTPUT
@STRICT
@JSON
@read_options
def evaluate(
    model: Path, table: str, costs: str | None, curve: str | None, output: Path | None, as_json: bool, **options: Any
) -> None:
    """Evaluate a model on TABLE, which must contain the target column.

    Use rows that the model was not trained on; on training rows the results are optimistic. For classes, prints
    accuracy with a confidence interval, balanced accuracy, F1, Matthews correlation, log loss, Brier score, area under
    the curve, a line per class and the confusion matrix; for numbers, R² and the errors. With --costs, or for a
    model with costs, also the mean cost per row of predicting the class of minimum expected cost, of the predictions as
    they are, and of the best constant prediction.

    \b
    Examples:
      baytree evaluate m.baytree held-out.csv
      cat held-out.csv | baytree evaluate m.baytree -
      baytree evaluate m.baytree held-out.csv --json
      baytree evaluate m.baytree held-out.csv -o evaluation.html
      baytree evaluate m.baytree held-out.csv --curve ill \\
        --costs '{"ill": {"well": 20}, "well": {"ill": 1}}'
    """
    from baytree.metrics.evaluation import Evaluation, costs_of
    from baytree.streaming import predict as batch_predict

    predictor = arguments.predictor(model, options["strict"])
    target = batch_predict.target_of(predictor)
    classes = [str(label) for label in target.classes or ()]
    if curve is not None and curve not in classes:
        raise click.UsageError(f"--curve: {did_you_mean('class', curve, classes)}")
    amounts = costs_of(predictor, arguments.json_of("--costs", costs))
    source = arguments.source_for(predictor, table, options)
    arguments.columns([target.name], source)
    with progress(source.size, "evaluating") as done:
        counted = batch_predict.evaluate_source(predictor, source, done, amounts)
    if counted is None or not counted.n_rows:
        raise click.ClickException(f"{source.name}: no row has a value in the target column {target.name!r}")
    result = Evaluation(predictor.name, target.name, target.classes or (), counted)
    benefit = None if curve is None else result.decision_curve(curve)
    if as_json:
        echo_json({**result.to_dict(), "decision_curve": None if benefit is None else vars(benefit)})
    else:
        click.echo(str(result) if benefit is None else f"{result}\n\n{benefit}")
    if output is not None:
        echo_status(f"saved to {result.report(output)}")
    if _may_be_training_rows(result, predictor.profile):
        echo_notes([LEARNT_FROM])


def _may_be_training_rows(result: Evaluation, profile: Profile | None) -> bool:
    from baytree.interview.interview import class_weights

    if profile is None or not profile.columns or not result.classes:
        return False
    return class_weights(profile).tolist() == result.confusion.sum(axis=1).tolist()
