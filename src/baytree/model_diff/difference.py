"""Result of comparing two models: a record, printed as text and as an HTML page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from baytree._warnings import renamed
from baytree.display.terminal import aligned, counted, shortened
from baytree.file_io.atomic import write_file
from baytree.model_diff.changes import Change, Value, format_value
from baytree.model_diff.flips import Flip, Flips
from baytree.rendering.page.comparison_views import ChangesView, ChangeView, FlipGroupView, FlippedView, FlipsView
from baytree.rendering.page.html_page import Page, Section
from baytree.summary import finite

MAX_PRINTED_CHANGES = 20  # changes of a printed table; the others are counted

MAX_PRINTED_ROWS = 10  # rows with another prediction in a printed table

_MAX_CELL_CHARACTERS = 48  # of a cell of a printed table

TextSection = tuple[str, Sequence[str], list[list[str]], list[str]]  # a caption, a header, rows, and a note below


class Difference(msgspec.Struct, frozen=True):
    """Differences between two models.

    Attributes
    ----------
    names : tuple of two str
        The algorithms, the old one first.
    targets : tuple of two str
        The names of the targets.
    schema : tuple of Change
        Differences of columns, kinds, levels and classes.
    model : tuple of Change
        Differences of the summaries, the largest changes first.
    has_hidden_changes : bool
        Whether the models differ, but not in their summaries: in weights of rows, words or combinations that no summary
        lists.
    rows : Flips or None
        The rows with different predictions, if rows were given.
    is_empty : bool
        Whether there is no difference.
    """

    names: tuple[str, str]
    targets: tuple[str, str]
    schema: tuple[Change, ...]
    model: tuple[Change, ...]
    has_hidden_changes: bool
    rows: Flips | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no difference."""
        is_same_in_rows = self.rows is None or not self.rows.flipped
        return not (self.schema or self.model or self.has_hidden_changes) and is_same_in_rows

    def to_dict(self) -> dict[str, Any]:
        """All differences as plain values; numbers that are not finite are strings."""
        found = {"is_empty": self.is_empty, **msgspec.to_builtins(self)}
        plain = finite(found)
        assert isinstance(plain, dict)
        return plain

    def report(self, path: str | os.PathLike = "diff.html") -> Path:
        """Write a self-contained HTML page: the differences, and the rows with different predictions.

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
        from baytree.display.results import stacked, table  # needed only in notebooks

        return stacked([table(*section) for section in self._sections()], [self._head()])

    def _head(self) -> str:
        old, new = (f"{name} for {target}" for name, target in zip(self.names, self.targets, strict=True))
        title = f"{old} → {new}"
        if self.is_empty:
            return f"{title}: no differences."
        note = (
            " The models differ in numbers that their summaries do not show, such as row weights."
            if self.has_hidden_changes
            else ""
        )
        return f"{title}: {self.numbers()}.{note}"

    def numbers(self) -> str:
        """Numbers of changes as text."""
        parts = (("schema", self.schema), ("model", self.model))
        found = [f"{counted(len(changes), 'change')} of the {part}" for part, changes in parts]
        if self.rows is not None:
            found.append(f"{self.rows.n_flipped:,} of {counted(self.rows.n_rows, 'row')} predicted differently")
        return ", ".join(found)

    def _sections(self) -> Iterator[TextSection]:
        if self.schema:
            yield _change_section("schema", self.schema)
        if self.model:
            yield _change_section("model", self.model)
        if self.rows is not None and self.rows.flipped:
            yield _group_section(self.rows)
            yield _row_section(self.rows)

    is_untold = renamed("is_untold", "has_hidden_changes")


def _change_section(caption: str, changes: Sequence[Change]) -> TextSection:
    has_where = any(change.old_where for change in changes)
    header = ["where" if has_where else "place", "what", "old", "new"]
    rows = [
        [_short(change.old_where or change.place), _short(change.what), _cell(change.old), _cell(change.new)]
        for change in changes[:MAX_PRINTED_CHANGES]
    ]
    return caption, header, rows, _more(len(changes), MAX_PRINTED_CHANGES)


def _group_section(flips: Flips) -> TextSection:
    """Number of rows per pair of predictions and deciding column; for regression, per deciding column."""
    groups = flips.ways()
    rows = [[*map(_short, group), f"{count:,}"] for group, count in groups[:MAX_PRINTED_CHANGES]]
    return "predictions", ["old", "new", "through", "rows"], rows, _more(len(groups), MAX_PRINTED_CHANGES)


def _row_section(flips: Flips) -> TextSection:
    rows = [
        [
            str(flip.row),
            _cell(flip.old),
            _cell(flip.new),
            _short(flip.through),
            _cell(flip.old_effect),
            _cell(flip.new_effect),
        ]
        for flip in flips.flipped[:MAX_PRINTED_ROWS]
    ]
    header = ["row", "old", "new", "through", "effect in the old model", "in the new"]
    return "rows", header, rows, _more(flips.n_flipped, MAX_PRINTED_ROWS)


def _cell(value: Value | None) -> str:
    return _short(format_value(value))


def _short(text: str) -> str:
    return shortened(text, _MAX_CELL_CHARACTERS)


def _more(n: int, max_shown: int) -> list[str]:
    return [f"… {n - max_shown:,} more"] if n > max_shown else []


def _text(section: TextSection) -> str:
    caption, header, rows, notes = section
    return "\n".join([caption, aligned(header, rows), *notes])


# Lengths of the tables of an HTML page, which readers can search; the others are counted.

MAX_PAGE_CHANGES = 200

MAX_TRANSITIONS = 50  # pairs of an old and a new prediction, the most frequent ones

MAX_PAGE_ROWS = 500

_NOT_IN_SUMMARY = "The models differ in numbers that their summaries do not show, such as row weights."

_SAME = "No differences."

_OF_NUMBERS = "Contribution of the column that has changed most."

_OF_CLASSES = (
    "Contribution of the column that has changed most to the new prediction against the old, in each model's units."
)


def page_of(difference: Difference) -> Page:
    """Page of a difference: the content of its text, with longer lists."""
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
    if difference.has_hidden_changes:
        return _NOT_IN_SUMMARY
    return "" if difference.model else _SAME


def changes_view(name: str, title: str, changes: Sequence[Change], note: str) -> ChangesView:
    """Changes of one part, the largest first."""
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
    """Rows with different predictions."""
    groups = flips.ways()
    largest = groups[0][1] if groups else 1
    return FlipsView(
        flips.n_rows,
        flips.n_flipped,
        tuple(FlipGroupView(*group, count, count / largest) for group, count in groups[:MAX_TRANSITIONS]),
        len(groups),
        tuple(_row(flip) for flip in flips.flipped[:MAX_PAGE_ROWS]),
        _OF_NUMBERS if flips.are_numbers else _OF_CLASSES,
    )


def _row(flip: Flip) -> FlippedView:
    effects = format_value(flip.old_effect), format_value(flip.new_effect)
    return FlippedView(flip.row, format_value(flip.old), format_value(flip.new), flip.through, *effects)
