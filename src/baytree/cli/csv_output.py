"""Tables written as CSV that a spreadsheet may open: text that looks like a formula is made inert, numbers stay."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from baytree.data import files
from baytree.display.terminal import escaped, is_number
from baytree.file_io.atomic import open_output

Write = Callable[[Mapping[str, Sequence[Any]]], Any]


@contextmanager
def written(path: Path | None) -> Generator[Write]:
    """What to call with columns, batch after batch: they go to the file, which appears at the end, or to standard output."""
    if path is None:
        yield _columns_to(sys.stdout.write, _escaped_inert if sys.stdout.isatty() else inert)
        return
    with open_output(path) as stream:
        yield _columns_to(lambda text: stream.write(text.encode()), inert)


def inert(text: str) -> str:
    """The text as a spreadsheet may safely open it: what looks like a formula gets a quote mark in front.

    Text that begins with that mark gets another, so taking one mark away always gives the text back. Numbers stay.

    >>> inert("=1+1"), inert("-1"), inert("'tis")
    ("'=1+1", '-1', "''tis")
    """
    return "'" + text if text.startswith(_LIVE) and not is_number(text) else text


_LIVE = tuple("=+-@\t\r\n\0'＝＋－＠")


def _escaped_inert(text: str) -> str:
    return escaped(inert(text))


def _columns_to(write_text: Callable[[str], Any], shown: Callable[[str], str]) -> Write:
    is_begun = False

    def write(columns: Mapping[str, Sequence[Any]]) -> None:
        nonlocal is_begun
        names = {shown(name): values for name, values in columns.items()}
        write_text(files.to_csv(names, shown, has_header=not is_begun))
        is_begun = True

    return write
