"""Options and arguments that several commands share: how a table is read, kinds of columns, TABLE, MODEL, --target, -o."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baytree.cli import completion

if TYPE_CHECKING:
    from baytree.data.files.options import ReadOptions

_OPTIONS = (
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of numbers."),
    click.option("--missing", multiple=True, metavar="WORDS", help="Additional missing-value tokens, such as n/a,-999."),
    click.option("--sheet", metavar="NAME", help="Sheet of a workbook, or file in a zip."),
    click.option("--encoding", metavar="NAME", help="Text encoding, such as latin-1."),
    click.option("--header", type=click.IntRange(0), metavar="N", help="Line number of the header; 0 if there is none."),
)

_KINDS = (
    click.option("--numeric", multiple=True, metavar="COLUMN", help="Treat a column as numbers."),
    click.option("--nominal", multiple=True, metavar="COLUMN", help="Treat a numeric column as categories."),
    click.option("--ordinal", multiple=True, metavar="COLUMN=A<B<C", help="Treat a column as ordered categories."),
    click.option("--text", multiple=True, metavar="COLUMN", help="Treat a column as free text (bag of words)."),
    click.option("--date", multiple=True, metavar="COLUMN[=mdy]", help="Parse dates; =year,month,weekday adds these parts."),
    click.option(
        "--keep", multiple=True, metavar="COLUMN", help="Keep these columns although they look like row identifiers."
    ),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Ignore these columns."),
)


def read_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for reading a file to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def kind_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for kinds of columns to a command."""
    for option in reversed(_KINDS):
        command = option(command)
    return command


def structure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name the columns of groups and times to a command."""
    command = click.option("--time", metavar="COLUMN", help="Column of dates or times.", shell_complete=completion.columns)(
        command
    )
    about = "Column of groups whose rows belong together."
    return click.option("--groups", metavar="COLUMN", help=about, shell_complete=completion.columns)(command)


def read_options_of(
    options: Mapping[str, Any], kinds: Mapping[str, Any] | None = None, **more: Iterable[str]
) -> ReadOptions:
    """Convert options to `ReadOptions`; `kinds` is the result of `declared`, `more` are further fields."""
    from baytree.data.files.options import ReadOptions

    kinds = kinds or {}
    later = {name for name, kind in kinds.items() if kind in ("numeric", "date", "dmy", "mdy", "keep") or is_parts(kind)}
    return ReadOptions(
        text=frozenset(more.get("text", ())) | {name for name in kinds if name not in later},
        numbers=frozenset(more.get("numbers", ())),
        words=frozenset(more.get("words", ())) | {name for name in later if kinds[name] != "keep"},
        decimal=options.get("decimal") or "",
        missing=tuple(word.strip() for words in options.get("missing") or () for word in words.split(",")),
        sheet=options.get("sheet"),
        encoding=options.get("encoding"),
        header=options.get("header"),
        keep=frozenset(names(options.get("keep") or ())),
        drop=frozenset(names(options.get("drop") or ())),
        needed=frozenset(more["needed"]) if "needed" in more else None,
    )


def declared(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema that the options declare.

    >>> declared({"nominal": ["zip"], "ordinal": ["size=S<M<L"], "date": ["day=mdy"], "keep": ["id,name"]})
    {'zip': 'nominal', 'size': ['S', 'M', 'L'], 'day': 'mdy', 'id': 'keep', 'name': 'keep'}
    """
    kinds: dict[str, Any] = dict.fromkeys(names(options.get("numeric", ())), "numeric")
    kinds |= dict.fromkeys(options.get("nominal", ()), "nominal")
    for order in options.get("ordinal", ()):
        name, given, levels = order.partition("=")
        if not given or "<" not in levels:
            raise click.UsageError(f'--ordinal {order!r}: name the levels in order, as in --ordinal "size=S<M<L"')
        kinds[name.strip()] = [level.strip() for level in levels.split("<")]
    kinds |= dict.fromkeys(options.get("text", ()), "text")
    kinds |= dict(_date(given) for given in options.get("date", ()))
    return kinds | {name: "keep" for name in names(options.get("keep", ())) if name not in kinds}


def names(given: Iterable[str]) -> list[str]:
    """Split column names at commas."""
    return [name.strip() for each in given for name in each.split(",") if name.strip()]


def is_parts(kind: Any) -> bool:
    """Return whether a declaration is a tuple of date parts."""
    return isinstance(kind, tuple)


def _date(given: str) -> tuple[str, Any]:
    name, _, how = given.partition("=")
    if how in ("", "dmy", "mdy"):
        return name.strip(), how or "date"
    parts = tuple(part.strip() for part in how.split(","))
    if set(parts) <= {"year", "month", "weekday"}:
        return name.strip(), parts
    raise click.UsageError(f"--date {given!r}: give dmy, mdy, or year, month and weekday, as in --date day=year,month")


TABLE = click.argument("table", metavar="TABLE", shell_complete=completion.tables)

MODEL = click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")

TARGET = click.option(
    "-t", "--target", required=True, metavar="COLUMN", help="Column to predict.", shell_complete=completion.columns
)

COSTS = click.option(
    "--costs",
    metavar="JSON",
    help='Misclassification costs by true and predicted class, such as {"yes": {"no": 5}, "no": {"yes": 1}}.',
)

GAP = click.option("--gap", type=float, metavar="N", help="Days (dates) or units of --time between training and test rows.")

STRICT = click.option("--strict", is_flag=True, help="Fail on unreadable cells and unknown levels.")

OUTPUT = click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write.")

REJECT = click.option(
    "--reject", type=click.FloatRange(0, 1), metavar="P", help="Leave the prediction empty if its probability is below P."
)
