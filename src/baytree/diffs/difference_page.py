"""The page of a difference: what differs, which rows are answered otherwise, and through which column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from baytree.diffs.change import Change, told
from baytree.diffs.flips import Flip, Flips
from baytree.show.report.records import Page, Section
from baytree.show.report.records.difference_views import ChangesView, ChangeView, FlippedView, FlipsView, WayView

if TYPE_CHECKING:
    from baytree.diffs.difference import Difference

MOST_CHANGES = 200
MOST_WAYS = 50
MOST_ROWS = 500
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
        ChangeView(change.old_where or change.place, change.what, told(change.old), told(change.new), change.size / largest)
        for change in changes[:MOST_CHANGES]
    )
    return ChangesView(name, title, shown, len(changes), note)


def flips_view(flips: Flips) -> FlipsView:
    """The rows that are answered otherwise."""
    ways = flips.ways()
    most = ways[0][1] if ways else 1
    return FlipsView(
        flips.n_rows,
        flips.n_flipped,
        tuple(WayView(*way, count, count / most) for way, count in ways[:MOST_WAYS]),
        len(ways),
        tuple(_row(flip) for flip in flips.flipped[:MOST_ROWS]),
        _OF_NUMBERS if flips.are_numbers else _OF_CLASSES,
    )


def _row(flip: Flip) -> FlippedView:
    effects = told(flip.old_effect), told(flip.new_effect)
    return FlippedView(flip.row, told(flip.old), told(flip.new), flip.through, *effects)
