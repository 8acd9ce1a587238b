"""How results are laid out on a terminal of eighty columns: what is shown of a long model, and in which colour.

The call that learns a compared model again, from the table as it was read.
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

if TYPE_CHECKING:
    from baytree.model_selection.model_registry import ModelFamily
    from baytree.model_selection.problem import SupervisedProblem

WIDTH = 80

MOST_LINES = 40  # of a model, so that the leaderboard stays in sight

MOST_NAMED = 6  # columns with missing values


def of_rows(problem: SupervisedProblem) -> str:
    """How many rows there are, and where values are missing."""
    shares = sorted(((share, name) for name, share in problem.missing.items() if share), reverse=True)
    if not shares:
        return f"{len(problem):,} rows, no value missing"
    named = [f"{name} {_percent(share)}" for share, name in shares[:MOST_NAMED]]
    more = f" and {len(shares) - MOST_NAMED} more columns" if len(shares) > MOST_NAMED else ""
    return fill(f"{len(problem):,} rows; missing: {', '.join(named)}{more}", WIDTH)


def first_lines(model: str) -> str:
    """The first lines of a model in words, as far as they fit, and how many there are more."""
    lines = model.split("\n")
    shown = [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines[:MOST_LINES]]
    more = [f"… and {len(lines) - MOST_LINES:,} lines more"] if len(lines) > MOST_LINES else []
    return "\n".join([*shown, *more])


def coloured(leaderboard: str) -> str:
    """Green for models that are as good as the best, bold for the recommendation; `click.echo` drops both in files."""
    return "\n\n".join(_painted(part) for part in leaderboard.split("\n\n"))


def listed_models(by_task: Mapping[str, Mapping[str, ModelFamily]]) -> str:
    """The short names of the models by what they predict: those that compete, then those that must be named."""
    return "\n".join(_listed(f"Models for {task}: ", families) for task, families in by_task.items())


def file_name(table: str) -> str:
    """A name for what belongs to a table.

    >>> file_name("data/my people.csv"), file_name("-")
    ('my-people', 'table')
    """
    return re.sub(r"[^\w.-]+", "-", Path(table).stem).strip("-.") or "table"


def duration(seconds: float) -> str:
    """Seconds, or minutes from two on.

    >>> duration(9.6), duration(200)
    ('10 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _listed(head: str, families: Mapping[str, ModelFamily]) -> str:
    usual = ", ".join(short for short, family in families.items() if family.competes)
    named = ", ".join(short for short, family in families.items() if not family.competes)
    return fill(f"{head}{usual}; if named also {named}", WIDTH - 2, subsequent_indent=" " * len(head))


def _painted(part: str) -> str:
    if part.startswith("Recommended: "):
        return click.style(part, bold=True)
    return "\n".join(click.style(line, fg="green") if line.startswith("*  ") else line for line in part.split("\n"))


def _percent(share: float) -> str:
    return "100 %" if share == 1 else f"{min(max(100 * share, 1), 99):.0f} %"


OWN = ("target", "output")  # of each command; all other options that both have say how the table is read


def command(context: click.Context, short: str) -> str:
    """The call of `fit` for a model of a comparison: with every option that was given and that both commands have."""
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
