"""Rows for which two models predict differently, and the column that causes it; flips of partitions are concatenated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Self

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.base.model import Explanation
from baytree.base.predictor import Predictor, is_without_rows
from baytree.data.encoding.table import Table
from baytree.data.frames import read
from baytree.model_diff.changes import are_equal

ROWS_PER_BATCH = 4096  # rows explained at a time, so that the explanations of very many flips do not fill the memory

INFINITE_EFFECT = 1e300  # stands for an infinite effect, so that differences of effects stay numbers


class Flip(msgspec.Struct, frozen=True):
    """A row with different predictions.

    Attributes
    ----------
    row : int
        Its index in the frame, from 0.
    old, new : object
        The class or number that the old and the new model predict.
    column : str or None
        The column whose contribution has changed most; None if it is the start, that is, the score before any column.
    old_effect, new_effect : float
        The contribution of that column to the new prediction against the old one (of numbers, to the prediction), in the
        units of each model's explanation.
    """

    row: int
    old: Any
    new: Any
    column: str | None
    old_effect: float
    new_effect: float

    @property
    def through(self) -> str:
        """Name of the column, or "the start"."""
        return "the start" if self.column is None else self.column


class Flips(msgspec.Struct, frozen=True):
    """The rows for which two models predict differently.

    Attributes
    ----------
    n_rows : int
        The number of rows that were predicted.
    flipped : tuple of Flip
        The rows with different predictions, in row order.
    are_numbers : bool
        Whether the predictions are numbers, not classes.
    n_flipped : int
        The number of rows with different predictions.
    """

    n_rows: int = 0
    flipped: tuple[Flip, ...] = ()
    are_numbers: bool = False

    @property
    def n_flipped(self) -> int:
        """Number of rows with different predictions."""
        return len(self.flipped)

    def ways(self) -> list[tuple[tuple[str, str, str], int]]:
        """Row counts per (old prediction, new prediction, deciding column), the most frequent first."""
        found = Counter(self._transition(flip) for flip in self.flipped)
        return sorted(found.items(), key=lambda way: (-way[1], way[0]))

    def _transition(self, flip: Flip) -> tuple[str, str, str]:
        if self.are_numbers:
            return "a number", "another", flip.through
        return str(flip.old), str(flip.new), flip.through

    @classmethod
    def of(cls, old: Predictor, new: Predictor, frame: FrameLike) -> Self:
        """Flips of the rows of a frame. Raises ValueError if one model predicts numbers and the other classes."""
        _refuse_other_kind(old, new)
        if is_without_rows(frame):
            return cls()
        raw = read(frame)
        tables = old.encoded(raw), new.encoded(raw)
        predictions = _answers(old, tables[0]), _answers(new, tables[1])
        rows = [k for k, pair in enumerate(zip(*predictions, strict=True)) if not are_equal(*pair)]
        ledgers = _ledgers(old, new, tables, rows)
        flipped = (_flip(k, predictions[0][k], predictions[1][k], *pair) for k, pair in zip(rows, ledgers, strict=True))
        return cls(raw.n_rows, tuple(flipped), old.schema.target.classes is None)

    def __add__(self, other: Self) -> Self:
        """Flips of these rows, followed by the others with shifted row numbers."""
        later = (msgspec.structs.replace(flip, row=flip.row + self.n_rows) for flip in other.flipped)
        return type(self)(self.n_rows + other.n_rows, (*self.flipped, *later), self.are_numbers or other.are_numbers)


def _refuse_other_kind(old: Predictor, new: Predictor) -> None:
    if (old.schema.target.classes is None) != (new.schema.target.classes is None):
        kinds = ["numbers" if each.schema.target.classes is None else "classes" for each in (old, new)]
        raise ValueError(f"the old model predicts {kinds[0]}, the new one {kinds[1]}: compare them without a frame")


def _answers(predictor: Predictor, table: Table) -> list[Any]:
    """Prediction for each row: the original class label, or the number."""
    classes = predictor.schema.target.classes
    if classes is None:
        return predictor.model.predict(table)[:, 0].tolist()
    return [classes[code] for code in predictor.predict_codes(table).tolist()]


def _ledgers(
    old: Predictor, new: Predictor, tables: tuple[Table, Table], rows: list[int]
) -> Iterator[tuple[Explanation, Explanation]]:
    for first in range(0, len(rows), ROWS_PER_BATCH):
        batch_rows = np.array(rows[first : first + ROWS_PER_BATCH])
        both = (each.explain_encoded(table.take(batch_rows)) for each, table in zip((old, new), tables, strict=True))
        yield from zip(*both, strict=True)


def _flip(row: int, before: object, after: object, old: Explanation, new: Explanation) -> Flip:
    """Flip of a row, with the column whose contribution to the new prediction has increased most; ties by name."""
    effects = _effects(old, before, after), _effects(new, before, after)
    units = (1.0, 1.0) if old.unit == new.unit else tuple(sum(map(abs, each.values())) or 1.0 for each in effects)
    lines = sorted({*effects[0], *effects[1]}, key=lambda name: (name is not None, name or ""))
    effects_by_line = {name: tuple(each.get(name, 0.0) for each in effects) for name in lines}
    is_number = new.unit == "number"

    def changed(name: str | None) -> float:
        change = effects_by_line[name][1] / units[1] - effects_by_line[name][0] / units[0]
        return abs(change) if is_number else change

    decisive = max(lines, key=changed)
    return Flip(row, before, after, decisive, *effects_by_line[decisive])


def _effects(explanation: Explanation, before: object, after: object) -> dict[str | None, float]:
    """Contribution of each column, and of the start (None), to the new prediction against the old one."""
    against = _contrast(explanation, before, after)
    found: dict[str | None, float] = {None: _amount(explanation.start, against)}
    for line in explanation.evidence:
        found[line.column] = found.get(line.column, 0.0) + _amount(line.effect, against)
    return found


def _contrast(explanation: Explanation, before: object, after: object) -> tuple[int | None, int | None]:
    """Codes of the new and the old class; None if the model does not know the class."""
    if explanation.unit == "number":
        return 0, None
    positions = {label: code for code, label in enumerate(explanation.classes)}
    return positions.get(after), positions.get(before)


def _amount(effect: np.ndarray, against: tuple[int | None, int | None]) -> float:
    """Difference of an effect on two scores; that of an excluded class is limited to a very large amount."""
    more, less = (
        0.0 if code is None else float(np.clip(effect[code], -INFINITE_EFFECT, INFINITE_EFFECT)) for code in against
    )
    return more - less
