"""The rows that two models answer otherwise, and through which column: the flips of parts add up to those of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Self

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.base.model import Explanation, predict_codes
from baytree.base.predictor import Predictor, is_without_rows
from baytree.data.encoding.table import Table
from baytree.data.frames import read
from baytree.model_diff.changes import are_equal

EXPLAINED_AT_ONCE = 4096  # rows, so that ledgers of very many flips do not fill the memory

LARGEST = 1e300  # what an effect without end counts as


class Flip(msgspec.Struct, frozen=True):
    """A row that is answered otherwise.

    Attributes
    ----------
    row : int
        Its place in the frame; the first is 0.
    old, new : object
        The class, or the number, that was and is answered.
    column : str or None
        The column whose effect has changed most; None where it is what the models say before they look at any column.
    old_effect, new_effect : float
        What that column adds for the new answer against the old (of numbers, to the answer), in the units of each ledger.
    """

    row: int
    old: Any
    new: Any
    column: str | None
    old_effect: float
    new_effect: float

    @property
    def through(self) -> str:
        """The column in words."""
        return "the start" if self.column is None else self.column


class Flips(msgspec.Struct, frozen=True):
    """The rows that two models answer otherwise.

    Attributes
    ----------
    n_rows : int
        The number of rows that were answered.
    flipped : tuple of Flip
        Those whose answers differ, in the order of the rows.
    are_numbers : bool
        Whether the answers are numbers, not classes.
    n_flipped : int
        How many these are.
    """

    n_rows: int = 0
    flipped: tuple[Flip, ...] = ()
    are_numbers: bool = False

    @property
    def n_flipped(self) -> int:
        """How many rows are answered otherwise."""
        return len(self.flipped)

    def ways(self) -> list[tuple[tuple[str, str, str], int]]:
        """From which answer to which, through which column, and how many rows: the commonest way first."""
        found = Counter(self._way(flip) for flip in self.flipped)
        return sorted(found.items(), key=lambda way: (-way[1], way[0]))

    def _way(self, flip: Flip) -> tuple[str, str, str]:
        if self.are_numbers:
            return "a number", "another", flip.through
        return str(flip.old), str(flip.new), flip.through

    @classmethod
    def of(cls, old: Predictor, new: Predictor, frame: FrameLike) -> Self:
        """The flips of the rows of a frame."""
        _refuse_other_kind(old, new)
        if is_without_rows(frame):
            return cls()
        raw = read(frame)
        tables = old.encoded(raw), new.encoded(raw)
        answers = _answers(old, tables[0]), _answers(new, tables[1])
        rows = [k for k, pair in enumerate(zip(*answers, strict=True)) if not are_equal(*pair)]
        ledgers = _ledgers(old, new, tables, rows)
        flipped = (_flip(k, answers[0][k], answers[1][k], *pair) for k, pair in zip(rows, ledgers, strict=True))
        return cls(raw.n_rows, tuple(flipped), old.schema.target.classes is None)

    def __add__(self, other: Self) -> Self:
        """The flips of these rows, followed by those."""
        later = (msgspec.structs.replace(flip, row=flip.row + self.n_rows) for flip in other.flipped)
        return type(self)(self.n_rows + other.n_rows, (*self.flipped, *later), self.are_numbers or other.are_numbers)


def _refuse_other_kind(old: Predictor, new: Predictor) -> None:
    if (old.schema.target.classes is None) != (new.schema.target.classes is None):
        told = ["numbers" if each.schema.target.classes is None else "classes" for each in (old, new)]
        raise ValueError(f"the old model answers {told[0]}, the new one {told[1]}: compare them without a frame")


def _answers(predictor: Predictor, table: Table) -> list[Any]:
    """The class, or the number, that each row gets: as the classes came."""
    classes = predictor.schema.target.classes
    if classes is None:
        return predictor.model.predict(table)[:, 0].tolist()
    return [classes[code] for code in predict_codes(predictor.model, table).tolist()]


def _ledgers(
    old: Predictor, new: Predictor, tables: tuple[Table, Table], rows: list[int]
) -> Iterator[tuple[Explanation, Explanation]]:
    for first in range(0, len(rows), EXPLAINED_AT_ONCE):
        some = np.array(rows[first : first + EXPLAINED_AT_ONCE])
        both = (each.model.explain(table.take(some)) for each, table in zip((old, new), tables, strict=True))
        yield from zip(*both, strict=True)


def _flip(row: int, before: object, after: object, old: Explanation, new: Explanation) -> Flip:
    """The row with the column whose effect has changed most towards the new answer; of equals the first by name."""
    effects = _effects(old, before, after), _effects(new, before, after)
    units = (1.0, 1.0) if old.unit == new.unit else tuple(sum(map(abs, each.values())) or 1.0 for each in effects)
    lines = sorted({*effects[0], *effects[1]}, key=lambda name: (name is not None, name or ""))
    told = {name: tuple(each.get(name, 0.0) for each in effects) for name in lines}
    is_number = new.unit == "number"

    def changed(name: str | None) -> float:
        change = told[name][1] / units[1] - told[name][0] / units[0]
        return abs(change) if is_number else change

    most = max(lines, key=changed)
    return Flip(row, before, after, most, *told[most])


def _effects(ledger: Explanation, before: object, after: object) -> dict[str | None, float]:
    """What each column, and the start (None), adds for the new answer against the old; of numbers, to the answer."""
    against = _contrast(ledger, before, after)
    found: dict[str | None, float] = {None: _amount(ledger.start, against)}
    for line in ledger.evidence:
        found[line.column] = found.get(line.column, 0.0) + _amount(line.effect, against)
    return found


def _contrast(ledger: Explanation, before: object, after: object) -> tuple[int | None, int | None]:
    """The places of the new class and of the old one; None where the model does not know it."""
    if ledger.unit == "number":
        return 0, None
    places = {label: code for code, label in enumerate(ledger.classes)}
    return places.get(after), places.get(before)


def _amount(effect: np.ndarray, against: tuple[int | None, int | None]) -> float:
    """The effect on one score less that on the other: a class that is excluded counts as a very large amount."""
    more, less = (0.0 if code is None else float(np.clip(effect[code], -LARGEST, LARGEST)) for code in against)
    return more - less
