"""How results are laid out on a terminal of eighty columns: what is shown of a long model, and in which colour."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from baytree.choose.models import Family
    from baytree.choose.problem import Problem

WIDTH = 80
MOST_LINES = 40  # of a model, so that the leaderboard stays in sight
MOST_NAMED = 6  # columns with missing values


def of_rows(problem: Problem) -> str:
    """How many rows there are, and where values are missing."""
    shares = sorted(((share, name) for name, share in problem.missing.items() if share), reverse=True)
    if not shares:
        return f"{len(problem):,} rows, no value missing"
    named = [f"{name} {_percent(share)}" for share, name in shares[:MOST_NAMED]]
    more = f" and {len(shares) - MOST_NAMED} more columns" if len(shares) > MOST_NAMED else ""
    return fill(f"{len(problem):,} rows; missing: {', '.join(named)}{more}", WIDTH)


def beginning(model: str) -> str:
    """The first lines of a model in words, as far as they fit, and how many there are more."""
    lines = model.split("\n")
    shown = [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines[:MOST_LINES]]
    more = [f"… and {len(lines) - MOST_LINES:,} lines more"] if len(lines) > MOST_LINES else []
    return "\n".join([*shown, *more])


def coloured(leaderboard: str) -> str:
    """Green for models that are as good as the best, bold for the recommendation; `click.echo` drops both in files."""
    return "\n\n".join(_painted(part) for part in leaderboard.split("\n\n"))


def listed_models(by_task: Mapping[str, Mapping[str, Family]]) -> str:
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


def _listed(head: str, families: Mapping[str, Family]) -> str:
    usual = ", ".join(short for short, family in families.items() if family.competes)
    named = ", ".join(short for short, family in families.items() if not family.competes)
    return fill(f"{head}{usual}; if named also {named}", WIDTH - 2, subsequent_indent=" " * len(head))


def _painted(part: str) -> str:
    if part.startswith("Recommended: "):
        return click.style(part, bold=True)
    return "\n".join(click.style(line, fg="green") if line.startswith("*  ") else line for line in part.split("\n"))


def _percent(share: float) -> str:
    return "100 %" if share == 1 else f"{min(max(100 * share, 1), 99):.0f} %"
