"""What separates the fields of a text, and its records."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from baytree.table.files import arrangement

MARKS = ",;\t|"
_COMMENT = re.compile(r"\s*(?:#|//|%|!|--|sep=).*")


def separator_of(head: str, path: Path) -> tuple[str, bool]:
    """What separates fields, and whether these are runs of blanks: a tab in `.tsv`, else what cuts rows most evenly."""
    if ".tsv" in path.suffixes:
        return "\t", False
    lines = [line for line in head.splitlines() if line.strip() and not _COMMENT.fullmatch(line)][:200]
    declared = re.match(r"sep=(.)", head.lstrip("\ufeff"))
    if declared and declared[1] in MARKS:
        return declared[1], False
    best = max(MARKS, key=lambda mark: _evenness(lines, mark))
    if _evenness(lines, best)[0] == 0 and _is_cut_by_blanks(lines):
        return "\t", True
    return best, False


def _evenness(lines: Sequence[str], mark: str) -> tuple[float, int]:
    """The share of rows that have as many fields as most, at least two; and how many fields."""
    rows = [row for row in _quietly(csv.reader(io.StringIO("\n".join(lines), newline=""), delimiter=mark)) if row]
    width = arrangement.modal_width(rows)
    if width < 2:
        wide = max(map(len, rows), default=1)
        return (0.0, 0) if wide < 2 or len(rows) > 2 else (0.01, wide)
    return sum(len(row) == width for row in rows) / len(rows), width


def _is_cut_by_blanks(lines: Sequence[str]) -> bool:
    rows = [line.split() for line in lines]
    width = arrangement.modal_width(rows[1:])
    even = len(rows) > 2 and sum(len(row) == width for row in rows[1:]) >= 0.95 * len(rows[1:])
    has_numbers = all(any(map(arrangement.is_amount, row)) for row in rows[1:])
    return width > 1 and even and len(rows[0]) in (width, width - 1) and has_numbers


def records(head: str, mark: str) -> tuple[list[list[str]], list[tuple[int, int]]]:
    """The records of a text, and where each begins and ends; comment lines at the top and empty rows are not among them."""
    at = 1 if head.startswith("\ufeff") else 0
    lines = _lines(head[at:])
    skipped = next((k for k, line in enumerate(lines) if line.strip() and not _COMMENT.fullmatch(line.strip())), 0)
    at += sum(map(len, lines[:skipped]))
    ends = [at]
    for line in lines[skipped:]:
        ends.append(ends[-1] + len(line))
    rows, spans, reader, begins = [], [], csv.reader(lines[skipped:], delimiter=mark), 0
    for row in _quietly(reader):
        if any(cell.strip() for cell in row):
            rows.append(row)
            spans.append((ends[begins], ends[reader.line_num]))
        begins = reader.line_num
    return rows, spans


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _quietly(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The records as far as they can be read: `csv` refuses fields beyond its limit, as a wide row without its separator."""
    while True:
        try:
            yield next(reader)
        except (StopIteration, csv.Error):
            return


def records_of_tail(tail: str, mark: str) -> tuple[list[list[str]], list[int]]:
    lines = _lines(tail)
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    rows, starts, reader, begins = [], [], csv.reader(lines, delimiter=mark), 0
    for row in _quietly(reader):
        rows.append(row)
        starts.append(ends[begins])
        begins = reader.line_num
    return rows, starts
