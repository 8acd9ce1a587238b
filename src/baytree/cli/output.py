"""Layout of terminal output, as wide as a terminal: missing values, shortened models, colours and lists of models.

`command` builds the `fit` command that reproduces a model of a comparison.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from baytree.display.terminal import TERMINAL_WIDTH

if TYPE_CHECKING:
    from baytree.model_selection.model_registry import ModelFamily
    from baytree.model_selection.problem import SupervisedProblem

MAX_MODEL_LINES = 40  # lines of a printed model below a leaderboard, which should stay visible

MAX_NAMED_COLUMNS = 6  # columns with missing values that are listed, those with most


def describe_rows(problem: SupervisedProblem) -> str:
    """Return the number of rows, and the columns with most missing values."""
    proportions = sorted(((proportion, name) for name, proportion in problem.missing.items() if proportion), reverse=True)
    if not proportions:
        return f"{len(problem):,} rows, no missing values"
    columns = [f"{name} {_percent(proportion)}" for proportion, name in proportions[:MAX_NAMED_COLUMNS]]
    more = f" and {len(proportions) - MAX_NAMED_COLUMNS} more columns" if len(proportions) > MAX_NAMED_COLUMNS else ""
    return fill(f"{len(problem):,} rows; missing: {', '.join(columns)}{more}", TERMINAL_WIDTH)


def first_lines(model: str) -> str:
    """Return the first lines of a printed model, truncated to the width, and the number of omitted lines."""
    lines = model.split("\n")
    shown = [line if len(line) <= TERMINAL_WIDTH else f"{line[: TERMINAL_WIDTH - 1]}…" for line in lines[:MAX_MODEL_LINES]]
    more = [f"… and {len(lines) - MAX_MODEL_LINES:,} more lines"] if len(lines) > MAX_MODEL_LINES else []
    return "\n".join([*shown, *more])


def coloured(leaderboard: str) -> str:
    """Colour models as good as the best green, and make the recommendation bold; `click.echo` drops both in files."""
    return "\n\n".join(_painted(part) for part in leaderboard.split("\n\n"))


def listed_models(by_task: Mapping[str, Mapping[str, ModelFamily]]) -> str:
    """List the short names of models by task: those that take part by default, then the others."""
    return "\n".join(_listed(f"Models for {task}: ", families) for task, families in by_task.items())


def file_name(table: str) -> str:
    """Return a file name derived from the name of a table.

    >>> file_name("data/my people.csv"), file_name("-")
    ('my-people', 'table')
    """
    return re.sub(r"[^\w.-]+", "-", Path(table).stem).strip("-.") or "table"


def duration(seconds: float) -> str:
    """Format seconds; as minutes from two minutes on.

    >>> duration(9.6), duration(200)
    ('10 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _listed(head: str, families: Mapping[str, ModelFamily]) -> str:
    usual = ", ".join(short for short, family in families.items() if family.competes)
    by_name = ", ".join(short for short, family in families.items() if not family.competes)
    return fill(f"{head}{usual}; if named, also {by_name}", TERMINAL_WIDTH - 2, subsequent_indent=" " * len(head))


def _painted(part: str) -> str:
    if part.startswith("Recommended: "):
        return click.style(part, bold=True)
    return "\n".join(click.style(line, fg="green") if line.startswith("*  ") else line for line in part.split("\n"))


def _percent(proportion: float) -> str:
    return "100 %" if proportion == 1 else f"{min(max(100 * proportion, 1), 99):.0f} %"


OWN = ("target", "output")  # differ between the commands; all other shared options say how the table is read


def command(context: click.Context, short: str) -> str:
    """Return the `fit` command for a model of a comparison, with every given option that both commands have."""
    known = {parameter.name for parameter in _fit(context).params}.intersection(context.params).difference(OWN)
    words = ["baytree", "fit", context.params["table"], "--target", context.params["target"], "--model", short]
    for option in context.command.params:
        if isinstance(option, click.Option) and option.name in known and _was_given(context, option):
            words += _typed(option, context.params[option.name])
    return shlex.join([*words, "-o", "m.baytree"])


def _fit(context: click.Context) -> click.Command:
    commands = context.find_root().command
    return commands.commands["fit"] if isinstance(commands, click.Group) else commands


def _was_given(context: click.Context, option: click.Option) -> bool:
    return context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE


def _typed(option: click.Option, value: object) -> Iterator[str]:
    name = max(option.opts, key=len)
    for each in value if isinstance(value, tuple) else (value,):
        yield from (name,) if option.is_flag else (name, str(each))
