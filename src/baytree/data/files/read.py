"""The public function `baytree.read`: read a table on disk into a polars frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from baytree import _warnings
from baytree.data.files import open_table, open_table_with, read_all
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
    """Read a table on disk into a polars frame, as the command line does.

    Numbers with marks, units and currency signs become numbers, dates and times in common notations become dates and times,
    missing tokens become missing values; every conversion is reported as a warning.

    Parameters
    ----------
    path : str or path-like
        CSV, TSV and similar text (also gzipped), Parquet, JSON, NDJSON or Excel, or a zip archive of one of them.
    decimal : {'.', ','}, optional
        Decimal mark of numbers; inferred from the table by default.
    missing : str or sequence of str, optional
        Further words or numbers that stand for a missing value; a string may list several, separated by commas.
    sheet : str, optional
        Sheet of a workbook, or file in an archive; by default the first that is not empty.
    encoding : str, optional
        Encoding of a text file; by default UTF-8, UTF-16 or Windows-1252 is detected.
    target : str, optional
        Column that must exist; rows without a value in it are left out.
    header : int, optional
        Line of the header, counted from 1; 0 for a file without header.
    text : iterable of str, default=()
        Columns to read as strings.
    numbers : iterable of str, default=()
        Columns to read as plain numbers.

    Returns
    -------
    polars.DataFrame
        All columns of the table.

    Examples
    --------
    >>> import baytree as bt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "prices.csv")
    >>> _ = path.write_text("size;price;day\\n1,5;1.234,50;13.02.2024\\n2,5;99,00;01.03.2024\\n")
    >>> bt.read(path).to_dicts()[0]
    {'size': 1.5, 'price': 1234.5, 'day': datetime.date(2024, 2, 13)}
    """
    words, text = _words(missing), frozenset(text)
    options = ReadOptions(text, frozenset(numbers), frozenset(), decimal or "", words, sheet, encoding, header)
    source = open_table(path, options) if target is None else open_table_with(path, options, target)
    frame, notes = infer_and_convert(read_all(source), decimal or "", text)
    for note in (*source.notes, *notes):
        _warnings.warn(str(note))
    if target is None:
        return frame
    if target not in frame.columns:
        columns = ", ".join(map(repr, frame.columns))
        hint = "; if its first row is not a header, read with header=0" if may_be_values(frame.columns) else ""
        raise ValueError(f"{source.name}: there is no column {target!r}; the columns are {columns}{hint}")
    return frame.filter(frame[target].is_not_null())


def _words(missing: str | Sequence[str] | None) -> tuple[str, ...]:
    given = missing.split(",") if isinstance(missing, str) else map(str, missing or ())
    return tuple(word.strip() for word in given)
