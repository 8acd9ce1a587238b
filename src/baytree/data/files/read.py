"""A table on disk as a frame: what `baytree.read` gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from baytree import _warnings
from baytree.data.files import open_table, opened_with, read_all
from baytree.data.files.convert import infer_and_convert
from baytree.data.files.header import may_be_values
from baytree.data.files.options import ReadOptions

if TYPE_CHECKING:
    import polars as pl


def read(
    path: str | Path,
    decimal: str | None = None,
    missing: str | Sequence[str] | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    target: str | None = None,
    *,
    header: int | None = None,
    text: Iterable[str] = (),
    numbers: Iterable[str] = (),
) -> pl.DataFrame:
    """A table on disk as a polars frame, read as the command line reads it.

    Numbers with marks, units and signs of money become numbers, dates and times in any form become dates and times, words
    for no value become missing values; what was done is warned of.

    Parameters
    ----------
    path : str or path-like
        A file: CSV and its kin, Parquet, JSON, NDJSON, Excel, any of them in a zip, text also with gzip.
    decimal : {'.', ','}, optional
        The decimal mark of numbers; by default what the table itself tells.
    missing : str or sequence of str, optional
        Further words, or numbers, that stand for a missing value; a string may name several between commas.
    sheet : str, optional
        The sheet of a workbook, or the file in an archive; by default the first that holds something.
    encoding : str, optional
        The encoding of a text; by default UTF-8, UTF-16 or Windows-1252, whichever it is.
    target : str, optional
        A column that must be there; rows without a value in it are left out.
    header : int, optional
        The line of the header, the first being 1; 0 where there is none.
    text : iterable of str, default=()
        Columns that are taken as words.
    numbers : iterable of str, default=()
        Columns that are taken as plain numbers.

    Returns
    -------
    polars.DataFrame
        With every column of the table.

    Examples
    --------
    >>> import baytree as bt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "prices.csv")
    >>> _ = path.write_text("size;price;day\\n1,5;1.234,50;13.02.2024\\n2,5;99,00;01.03.2024\\n")
    >>> bt.read(path).to_dicts()[0]
    {'size': 1.5, 'price': 1234.5, 'day': datetime.date(2024, 2, 13)}
    """
    words, text = _words(missing), frozenset(text)
    given = (text, frozenset(numbers), frozenset(), decimal or "", words, sheet, encoding, header)
    found = open_table(path, ReadOptions(*given)) if target is None else opened_with(path, ReadOptions(*given), target)
    frame, notes = infer_and_convert(read_all(found), decimal or "", text)
    for note in (*found.notes, *notes):
        _warnings.warn(str(note))
    if target is None:
        return frame
    if target not in frame.columns:
        columns = ", ".join(map(repr, frame.columns))
        hint = "; if its first row is no header, read with header=0" if may_be_values(frame.columns) else ""
        raise ValueError(f"{found.name}: there is no column {target!r}; the columns are {columns}{hint}")
    return frame.filter(frame[target].is_not_null())


def _words(missing: str | Sequence[str] | None) -> tuple[str, ...]:
    given = missing.split(",") if isinstance(missing, str) else map(str, missing or ())
    return tuple(word.strip() for word in given)
