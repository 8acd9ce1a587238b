"""CSV output that is safe to open in a spreadsheet: text that looks like a formula is quoted, numbers stay as they are."""

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
    """Yield a function that writes columns in batches to a file (replaced atomically at the end) or standard output."""
    if path is None:
        yield _columns_to(sys.stdout.write, _escaped_inert if sys.stdout.isatty() else inert)
        return
    with open_output(path) as stream:
        yield _columns_to(lambda text: stream.write(text.encode()), inert)


def inert(text: str) -> str:
    """Prefix text that a spreadsheet would run as a formula with a quote mark.

    Text that starts with a quote mark gets another one, so removing one mark always restores the text. Numbers stay.

    >>> inert("=1+1"), inert("-1"), inert("'tis")
    ("'=1+1", '-1', "''tis")
    """
    return "'" + text if text.startswith(_FORMULA_STARTS) and not is_number(text) else text


_FORMULA_STARTS = tuple("=+-@\t\r\n\0'＝＋－＠")


def _escaped_inert(text: str) -> str:
    return escaped(inert(text))


def _columns_to(write_text: Callable[[str], Any], shown: Callable[[str], str]) -> Write:
    has_header = False

    def write(columns: Mapping[str, Sequence[Any]]) -> None:
        nonlocal has_header
        names = {shown(name): values for name, values in columns.items()}
        write_text(files.to_csv(names, shown, has_header=not has_header))
        has_header = True

    return write
