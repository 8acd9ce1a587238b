"""Commands `report` (a model as an HTML page) and `play` (twenty questions in the terminal), and the SVG of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baytree._warnings import did_you_mean
from baytree.cli import arguments
from baytree.cli.console import echo_status
from baytree.cli.options import MODEL, read_options
from baytree.display.terminal import MAX_CLASS_COLUMNS, escaped
from baytree.file_io.atomic import write_file

if TYPE_CHECKING:
    from baytree.base.predictor import Predictor
    from baytree.interview.interview import Interview, Question

MAX_BAR_CHARACTERS = 30  # length of the bar of probability 1


@click.command(short_help="Write an HTML page about a model.")
@MODEL
@click.argument("table", required=False, metavar="[TABLE]")
@click.option("--rows", type=click.IntRange(1), metavar="N", help="Also show the N worst and N least certain predictions.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), default="page.html", show_default=True)
@read_options
def report(model: Path, table: str | None, rows: int | None, output: Path, **options: object) -> None:
    """Write a self-contained HTML page that shows MODEL, with what-if predictions and twenty questions.

    With TABLE, which must contain the target column, the page also evaluates the model on its rows and describes their
    columns. The page contains aggregates only; --rows adds some rows.

    \b
    Examples:
      baytree report m.baytree
      baytree report m.baytree titanic -o page.html
      baytree report m.baytree held-out.csv --rows 5 -o page.html
    """
    from baytree.data import files
    from baytree.reporting import report as written

    arguments.refuse_input_as_output(output, model, table)
    predictor = arguments.predictor(model)
    frame = None
    if table is not None:
        source = arguments.source_for(predictor, table, options)
        arguments.columns([predictor.schema.target.name], source)
        frame = files.read_all(source)
    elif rows is not None:
        raise click.UsageError("--rows needs a TABLE")
    written(predictor, frame, output, rows=rows)
    echo_status(f"saved to {output}")


@click.command(short_help="Play twenty questions with a model.")
@MODEL
@click.option(
    "--sure",
    default=0.99,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="Probability at which to stop.",
)
@click.option("--cost", multiple=True, metavar="COLUMN=N", help="Cost of asking for a column (default: 1).")
@click.option("--table", metavar="TABLE", help="Labelled rows, for a model that was saved without a profile.")
@read_options
def interview(model: Path, sure: float, cost: tuple[str, ...], table: str | None, **options: object) -> None:
    """Think of a row; MODEL asks for the most informative columns until it is sure of the class.

    If columns have costs, it asks for the column with the most information per cost.

    Answer with a level, a number, the number of a choice such as 2), a range such as 10..20, ? if unknown, undo, or
    quit.

    \b
    Examples:
      baytree fit mushroom --target class -o mushroom.baytree
      baytree play mushroom.baytree
      baytree play mushroom.baytree --cost odor=5 --cost spore_print_color=20
    """
    from baytree.data import files
    from baytree.interview.interview import interview

    predictor = arguments.predictor(model)
    frame = None if table is None else files.read_all(arguments.source_for(predictor, table, options))
    state = interview(predictor, frame, sure, _costs(cost, predictor.schema.names))
    click.echo(f"Think of a row; I will guess its {escaped(predictor.schema.target.name)}.\n")
    if state.unasked:
        click.echo(f"Text columns are not asked for: {', '.join(map(escaped, state.unasked))}.\n")
    n_questions = 0
    while (question := state.next()) is not None:
        n_questions += 1
        click.echo(f"{n_questions}. {_question_text(question)}")
        if not _prompt_answer(state, question):
            return
        click.echo(probability_bars(state.belief) + "\n")
    n = len(state.answers)
    spent = f", at a cost of {state.spent:g}" if cost else ""
    click.echo(f"My guess after {n} question{'s' * (n != 1)}{spent}: {escaped(str(state.prediction))}")


def draw(predictor: Predictor, model: Path, output: Path) -> None:
    """Write the tree of a model as an SVG file."""
    from baytree.base.predictor import shown_by_costs
    from baytree.rendering.tree_drawing import to_svg
    from baytree.summary.tree import BayesTreeSummary, TreeSummary

    summary = predictor.summary()
    if not isinstance(summary, TreeSummary | BayesTreeSummary):
        raise click.UsageError(f"{model} contains a {predictor.name}, which is not a tree; baytree report shows any model")
    from baytree.tree.inspection.node_records import draw as drawing

    tree = predictor.model.tree if isinstance(summary, BayesTreeSummary) else predictor.model
    write_file(output, to_svg(drawing(shown_by_costs(tree, predictor.costs), predictor.schema)).encode())


def probability_bars(probabilities: dict[Any, float]) -> str:
    """Return the probabilities as a bar chart, largest first.

    >>> print(probability_bars({"yes": 0.75, "no": 0.25}))
      yes   75 % ██████████████████████
      no    25 % ████████
    """
    order = sorted(probabilities, key=lambda label: -probabilities[label])[:MAX_CLASS_COLUMNS]
    width = max(len(escaped(str(label))) for label in order)
    lines = [
        f"  {escaped(str(c)):<{width}} {100 * p:4.0f} % {'█' * round(MAX_BAR_CHARACTERS * p)}".rstrip()
        for c, p in ((c, probabilities[c]) for c in order)
    ]
    return "\n".join(lines)


def _costs(given: tuple[str, ...], columns: Sequence[str]) -> dict[str, float]:
    """Parse costs given as COLUMN=N; the name may contain equals signs."""
    costs = {}
    for each in given:
        name, _, cost = each.rpartition("=")
        if name not in columns:
            raise click.UsageError(f"--cost {each!r}: {did_you_mean('column', name, columns)}")
        try:
            costs[name] = float(cost)
        except ValueError:
            raise click.UsageError(f"--cost {each!r}: {cost!r} is not a number") from None
    return costs


def _question_text(question: Question) -> str:
    cost = "" if question.cost is None else f" for a cost of {question.cost:g}"
    head = f"What is {escaped(question.column)}?  ({question.gain:.2f} bits{cost})"
    return "\n".join([head, *(f"   {k}) {_choice(choice, question.unit)}" for k, choice in enumerate(question.choices, 1))])


def _choice(choice: Any, unit: str | None) -> str:
    from baytree.rendering.tree_text import shown

    if not isinstance(choice, tuple):
        return escaped(str(choice))
    low, high = (None if side is None else shown(side, unit) for side in choice)
    if low is None:
        return "any" if high is None else f"up to {high}"
    return f"above {low}" if high is None else f"{low} to {high}"


def _prompt_answer(talk: Interview, question: Question) -> bool:
    """Prompt until there is a valid answer; return False if the user quits."""
    while True:
        word = click.prompt("  ", prompt_suffix="> ", default="?", show_default=False).strip()
        if word == "quit":
            return False
        try:
            if word == "undo":
                talk.undo()
            else:
                talk.answer(_read(word, question))
        except ValueError as error:
            click.echo(f"  {escaped(str(error))}")
            continue
        return True


def _read(word: str, question: Question) -> Any:
    """Parse an answer: a level, the number of a choice, a number, a range, or unknown."""
    if word in ("", "?"):
        return None
    is_number = question.kind == "numeric"
    index = word.removesuffix(")")
    is_index = index.isdigit() and 1 <= int(index) <= len(question.choices)
    if is_index and (word != index or not (is_number or word in map(str, question.choices))):
        return question.choices[int(index) - 1]
    if is_number and ".." in word:
        low, _, high = word.partition("..")
        return (low.strip() or None, high.strip() or None)
    return word
