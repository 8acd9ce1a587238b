"""The difference of two models as a record; text, HTML and JSON are printers of it.

The page of a difference: what differs, which rows are answered otherwise, and through which column.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from baytree.display.terminal import aligned, counted, shortened
from baytree.file_io.atomic import write_file
from baytree.model_diff.changes import Change, Value, format_value
from baytree.model_diff.flips import Flip, Flips
from baytree.rendering.page.comparison_views import ChangesView, ChangeView, FlipGroupView, FlippedView, FlipsView
from baytree.rendering.page.html_page import Page, Section
from baytree.summary import finite

MOST_CHANGES = 20  # of a table that are printed

MOST_ROWS = 10

_WIDTH = 48  # characters of a cell

TextSection = tuple[str, Sequence[str], list[list[str]], list[str]]  # a caption, a header, rows, and a note below


class Difference(msgspec.Struct, frozen=True):
    """What has changed from one model to another.

    Attributes
    ----------
    names : tuple of two str
        The algorithms, the old one first.
    targets : tuple of two str
        What they predict.
    schema : tuple of Change
        Columns, kinds, levels and classes that are not the same.
    model : tuple of Change
        What the models tell of themselves otherwise, the largest changes first.
    is_untold : bool
        Whether the models differ, but in nothing that they tell of themselves: in weights of rows, words or combinations
        that no summary lists.
    rows : Flips or None
        The rows that are answered otherwise, where rows were given.
    is_empty : bool
        Whether nothing has changed.
    """

    names: tuple[str, str]
    targets: tuple[str, str]
    schema: tuple[Change, ...]
    model: tuple[Change, ...]
    is_untold: bool
    rows: Flips | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing has changed."""
        is_same_in_rows = self.rows is None or not self.rows.flipped
        return not (self.schema or self.model or self.is_untold) and is_same_in_rows

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; numbers that are not finite are texts."""
        found = {"is_empty": self.is_empty, **msgspec.to_builtins(self)}
        plain = finite(found)
        assert isinstance(plain, dict)
        return plain

    def report(self, path: str | os.PathLike = "diff.html") -> Path:
        """One self-contained HTML page: what differs, which rows are answered otherwise, and through which column.

        Parameters
        ----------
        path : path, default="diff.html"
            The file to write.

        Returns
        -------
        pathlib.Path
            The file that was written.
        """
        from baytree.rendering.page.html_page import to_html

        write_file(path, to_html(page_of(self)).encode("utf-8", "backslashreplace"))
        return Path(path)

    def __str__(self) -> str:
        return "\n\n".join([self._head(), *map(_text, self._sections())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from baytree.display.results import stacked, table  # only a notebook asks for it

        return stacked([table(*section) for section in self._sections()], [self._head()])

    def _head(self) -> str:
        old, new = (f"{name} for {target}" for name, target in zip(self.names, self.targets, strict=True))
        told = f"{old} → {new}"
        if self.is_empty:
            return f"{told}: nothing has changed."
        untold = " The models differ in numbers that they do not tell, such as weights of rows." if self.is_untold else ""
        return f"{told}: {self.numbers()}.{untold}"

    def numbers(self) -> str:
        """How many changes there are, in words."""
        parts = (("schema", self.schema), ("model", self.model))
        found = [f"{counted(len(changes), 'change')} of the {part}" for part, changes in parts]
        if self.rows is not None:
            found.append(f"{self.rows.n_flipped:,} of {counted(self.rows.n_rows, 'row')} answered otherwise")
        return ", ".join(found)

    def _sections(self) -> Iterator[TextSection]:
        if self.schema:
            yield _changes("schema", self.schema)
        if self.model:
            yield _changes("model", self.model)
        if self.rows is not None and self.rows.flipped:
            yield _ways(self.rows)
            yield _rows(self.rows)


def _changes(caption: str, changes: Sequence[Change]) -> TextSection:
    has_where = any(change.old_where for change in changes)
    header = ["where" if has_where else "place", "what", "old", "new"]
    rows = [
        [_short(change.old_where or change.place), _short(change.what), _told(change.old), _told(change.new)]
        for change in changes[:MOST_CHANGES]
    ]
    return caption, header, rows, _more(len(changes), MOST_CHANGES)


def _ways(flips: Flips) -> TextSection:
    """How many rows go from which answer to which, through which column; of numbers, through which column."""
    ways = flips.ways()
    rows = [[*map(_short, way), f"{count:,}"] for way, count in ways[:MOST_CHANGES]]
    return "answers", ["old", "new", "through", "rows"], rows, _more(len(ways), MOST_CHANGES)


def _rows(flips: Flips) -> TextSection:
    rows = [
        [
            str(flip.row),
            _told(flip.old),
            _told(flip.new),
            _short(flip.through),
            _told(flip.old_effect),
            _told(flip.new_effect),
        ]
        for flip in flips.flipped[:MOST_ROWS]
    ]
    header = ["row", "old", "new", "through", "effect in the old model", "in the new"]
    return "rows", header, rows, _more(flips.n_flipped, MOST_ROWS)


def _told(value: Value | None) -> str:
    return _short(format_value(value))


def _short(text: str) -> str:
    return shortened(text, _WIDTH)


def _more(n: int, most: int) -> list[str]:
    return [f"… {n - most:,} more"] if n > most else []


def _text(section: TextSection) -> str:
    caption, header, rows, notes = section
    return "\n".join([caption, aligned(header, rows), *notes])


MAX_PAGE_CHANGES = 200

MOST_WAYS = 50

MAX_PAGE_ROWS = 500

_UNTOLD = "The models differ in numbers that they do not tell, such as weights of rows."

_SAME = "Nothing has changed."

_OF_NUMBERS = "How much the column whose effect has changed most adds to the answer."

_OF_CLASSES = (
    "How much the column whose effect has changed most adds for the new answer against the old, in the units of each model."
)


def page_of(difference: Difference) -> Page:
    """What a page shows of a difference: all that its text tells, and more of it."""
    old, new = (f"{name} for {target}" for name, target in zip(difference.names, difference.targets, strict=True))
    sections: list[Section] = [
        changes_view("schema", "Schema", difference.schema, "" if difference.schema else _SAME),
        changes_view("model", "Model", difference.model, _note(difference)),
    ]
    if difference.rows is not None:
        sections.append(flips_view(difference.rows))
    has_rows = difference.rows is not None and difference.rows.n_flipped > 0
    return Page("What has changed", f"{old} → {new}: {difference.numbers()}.", tuple(sections), has_rows=has_rows)


def _note(difference: Difference) -> str:
    if difference.is_untold:
        return _UNTOLD
    return "" if difference.model else _SAME


def changes_view(name: str, title: str, changes: Sequence[Change], note: str) -> ChangesView:
    """The changes of one part, the largest first."""
    largest = max((change.size for change in changes), default=0.0) or 1.0
    shown = tuple(
        ChangeView(
            change.old_where or change.place,
            change.what,
            format_value(change.old),
            format_value(change.new),
            change.size / largest,
        )
        for change in changes[:MAX_PAGE_CHANGES]
    )
    return ChangesView(name, title, shown, len(changes), note)


def flips_view(flips: Flips) -> FlipsView:
    """The rows that are answered otherwise."""
    ways = flips.ways()
    most = ways[0][1] if ways else 1
    return FlipsView(
        flips.n_rows,
        flips.n_flipped,
        tuple(FlipGroupView(*way, count, count / most) for way, count in ways[:MOST_WAYS]),
        len(ways),
        tuple(_row(flip) for flip in flips.flipped[:MAX_PAGE_ROWS]),
        _OF_NUMBERS if flips.are_numbers else _OF_CLASSES,
    )


def _row(flip: Flip) -> FlippedView:
    effects = format_value(flip.old_effect), format_value(flip.new_effect)
    return FlippedView(flip.row, format_value(flip.old), format_value(flip.new), flip.through, *effects)
