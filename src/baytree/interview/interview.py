"""The conversation: the question that is expected to tell most, its answer, and what is believed then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree._warnings import did_you_mean
from baytree.base.labelled_rows import encode_labelled
from baytree.base.predictor import Predictor
from baytree.data.encoding.encode_column import number
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.interview.answer_cells import AnswerCells, cells_of
from baytree.interview.posterior import Known, SimulatedRows
from baytree.interview.tree_posterior import TreeBelief, TreePaths
from baytree.param_validation import finite
from baytree.statistics.profile import Histogram, Profile

SURE = 0.99

_NOTHING = 1e-9  # bits below which a question tells nothing

_OFFERED = 4  # intervals of a number that a model reads as it is

Range = tuple[float | None, float | None]

# A level, a number, a range whose sides may be open, or None where it is not known
Answer: TypeAlias = str | float | tuple[float | None, ...] | list[float | None] | None


def interview(
    predictor: Predictor, frame: FrameLike = None, sure: float = SURE, costs: Mapping[str, float] | None = None
) -> Interview:
    """An interview by the profile that the model has kept, or by that of rows with their target."""
    if frame is not None:
        predictor = msgspec.structs.replace(predictor, profile=Profile.of(encode_labelled(predictor, frame)[0]))
    return Interview(predictor, sure, costs)


def resume_interview(
    talk: Interview, answers: Mapping[str, Answer], sure: float, costs: Mapping[str, float] | None = None
) -> Interview:
    """Another interview with the same model, in which these columns have been answered in this order."""
    again = copy(talk)
    names = again.schema.names
    again.sure, again.costs = sure, _costs(costs, again.schema)
    again._given = [(names.index(name), _read(again.schema[name], value), value) for name, value in answers.items()]
    again._imagine()
    return again


class Question(msgspec.Struct, frozen=True):
    """A column to be asked for, what may be answered, and how many bits the answer is expected to tell.

    Attributes
    ----------
    column : str
        The name of the column.
    kind : Kind
        What its values mean.
    choices : tuple
        Levels, or ranges (low, high) of numbers: low < x ≤ high, None where a side is open. A number is an answer, too.
    gain : float
        The expected gain in bits.
    unit : str or None, default=None
        The unit of a date, `clock` for seconds since midnight; None of any other number.
    cost : float or None, default=None
        What it costs to ask for the column, where columns have costs.
    """

    column: str
    kind: Kind
    choices: tuple[Any, ...]
    gain: float
    unit: str | None = None
    cost: float | None = None


class Interview:
    """Twenty questions: `next` asks, `answer` learns, `belief` is what is known, `undo` takes an answer back.

    Where columns have costs, the question of largest expected gain per cost comes first, as in Norton (1989).

    Parameters
    ----------
    predictor : Predictor
        The model that is asked.
    sure : float, default=0.99
        How probable a class must be to be the answer.
    costs : dict, optional
        What it costs to ask for a column, by its name: a laboratory test more than a look. Columns that are not named
        cost 1; one that costs 0 is asked for first.

    Attributes
    ----------
    belief : dict
        The probability of each class, by what has been answered.
    prediction : object
        The class that would be answered now.
    answers : dict
        What has been answered, by column; None where it is not known.
    unasked : tuple of str
        The columns of text, which are never asked for.
    spent : float
        What the columns cost that have been answered; their number where none has a cost of its own.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.NaiveBayesClassifier().fit(bt.datasets.load("penguins"), "species")
    >>> talk = model.interview()
    >>> talk.next().column
    'flipper_length_mm'
    >>> belief = talk.answer(220)
    >>> talk.prediction
    'Gentoo'
    """

    def __init__(self, predictor: Predictor, sure: float = SURE, costs: Mapping[str, float] | None = None):
        if predictor.schema.target.classes is None:
            raise ValueError(f"{predictor.name} predicts numbers: an interview needs classes to tell apart")
        if not 0 < sure <= 1:
            raise ValueError(f"sure={sure!r}: give a probability above 0, at most 1")
        if all(column.kind is Kind.TEXT for column in predictor.schema.columns):
            raise ValueError(
                f"{predictor.name} reads nothing but text ({predictor.schema.names[0]!r}), and text is not asked for: "
                "an interview needs columns of levels or numbers"
            )
        self.sure, self.schema, self._predictor = sure, predictor.schema, predictor
        self.costs = _costs(costs, predictor.schema)
        profile = _known(predictor)
        self._cells = cells_of(predictor, profile, predictor.model.formula(predictor.schema))
        self._prior = class_weights(profile)
        self._paths = TreePaths.of(predictor, self._cells, self._prior)
        self._given: list[tuple[int, Known, Any]] = []
        self._asked: int | None = None
        self._imagine()

    @property
    def belief(self) -> dict[Any, float]:
        """The probability of each class, by what has been answered."""
        return dict(zip(self.schema.classes, self._imagined.belief.tolist(), strict=True))

    @property
    def prediction(self) -> Any:
        """The class that would be answered now."""
        return self.schema.classes[self._imagined.choice]

    @property
    def unasked(self) -> tuple[str, ...]:
        """The columns of text, which are never asked for: no question could offer their answers."""
        return tuple(column.name for column in self.schema.columns if column.kind is Kind.TEXT)

    @property
    def answers(self) -> dict[str, Any]:
        """What has been answered, by column; None where it is not known."""
        return {self.schema.columns[column].name: value for column, _, value in self._given}

    @property
    def spent(self) -> float:
        """What the columns cost that have been answered; what is not known has cost nothing."""
        return sum(self._cost(column) for column, known, _ in self._given if known is not None)

    def next(self) -> Question | None:
        """The next question, or None where the answer is sure or no question would tell more.

        A single tree asks for the column of the node where the answers so far lead. Any other model, and a tree whose
        columns differ in their costs, asks for the column of largest expected gain per cost.
        """
        self._asked = None
        if self._imagined.belief.max() >= self.sure:
            return None
        open_columns = self._open()
        on_path = [j for j in self._imagined.questions() if j in open_columns]
        candidates = on_path if on_path and not self._costs_differ() else open_columns
        gains = {column: self._imagined.ask(column, open_columns[column]).gain for column in candidates}
        telling = [column for column, gain in gains.items() if gain >= _NOTHING] or on_path
        self._asked = max(telling, key=lambda column: (*self._worth(column, gains[column]), -column), default=None)
        if self._asked is None:
            return None
        column, cost = self.schema.columns[self._asked], self._cost(self._asked) if self.costs else None
        return Question(column.name, column.kind, self._choices(self._asked), gains[self._asked], column.unit, cost)

    def _worth(self, column: int, gain: float) -> tuple[float, float]:
        """The gain per cost, and the gain among questions that cost nothing."""
        cost = self._cost(column)
        return (gain / cost if cost else np.inf), gain

    def _costs_differ(self) -> bool:
        return len({self._cost(column) for column in range(len(self.schema))}) > 1

    def _cost(self, column: int) -> float:
        return self.costs.get(self.schema.columns[column].name, 1.0)

    def answer(self, value: Answer) -> dict[Any, float]:
        """Learns the answer to the last question: a level, a number, a range (low, high), or None; gives the belief."""
        if self._asked is None:
            raise ValueError("nothing has been asked: call next() first")
        column = self.schema.columns[self._asked]
        known = _read(column, value)
        self._given = [each for each in self._given if each[0] != self._asked] + [(self._asked, known, value)]
        self._imagine()
        return self.belief

    def undo(self) -> None:
        """Takes the last answer back."""
        if not self._given:
            raise ValueError("nothing has been answered, so there is nothing to undo")
        self._given.pop()
        self._imagine()

    def _imagine(self) -> None:
        self._asked = None
        answers = {column: known for column, known, _ in self._given}
        self._imagined = (
            SimulatedRows(self._predictor, self._cells, self._prior, answers)
            if self._paths is None
            else TreeBelief(self._paths, answers)
        )

    def _open(self) -> dict[int, np.ndarray]:
        """The columns that can still be asked for, and in which cells their value lies."""
        answers = {column: known for column, known, _ in self._given}
        among = {j: _still_open(cells, answers, j) for j, cells in enumerate(self._cells)}
        return {j: each for j, each in among.items() if each.sum() > 1}

    def _choices(self, column: int) -> tuple[Any, ...]:
        cells, described = self._cells[column], self.schema.columns[column]
        if described.kind is not Kind.NUMERIC:
            return tuple(described.levels[int(code)] for code in cells.point[cells.offered])
        among = self._open()[column]
        low, high = cells.low[among], cells.high[among]
        if cells.is_cut:
            is_edge = ~self._imagined.ask(column, among).is_like_next
        else:
            is_edge = np.diff(np.arange(len(low)) * _OFFERED // len(low)) > 0
        starts, ends = low[np.append(True, is_edge)], high[np.append(is_edge, True)]
        return tuple((_side(a), _side(b)) for a, b in zip(starts.tolist(), ends.tolist(), strict=True))


def class_weights(profile: Profile) -> np.ndarray:
    """The weight of each class: [n_classes]."""
    first = profile.columns[0]
    return (first.counts if isinstance(first, Histogram) else first).cells.rounded().sum(axis=0)


def _costs(given: Mapping[str, float] | None, schema: Schema) -> dict[str, float]:
    """What asking for columns costs, checked."""
    for name in given or {}:
        if name not in schema.names:
            raise ValueError(f"costs: {did_you_mean('column', str(name), schema.names)}")
    return {name: finite(f"costs[{name!r}]", cost, 0.0) for name, cost in (given or {}).items()}


def _known(predictor: Predictor) -> Profile:
    if predictor.profile is None:
        raise ValueError(
            f"this {predictor.name} keeps no profile of the rows that it has learnt from; "
            "give rows with their target: model.interview(frame)"
        )
    return predictor.profile


def _still_open(cells: AnswerCells, answers: dict[int, Known], column: int) -> np.ndarray:
    if column not in answers:
        return np.ones(len(cells), bool)
    known = answers[column]
    if isinstance(known, tuple) and cells.is_cut:
        return cells.within(*known)
    return np.zeros(len(cells), bool)


def _read(column: Column, value: Answer) -> Known:
    """The answer as a code, a number or an interval."""
    if value is None or value != value:
        return None
    if column.kind is not Kind.NUMERIC:
        for code, level in enumerate(column.levels):
            if level == value or str(level) == value:
                return float(code)
        shown = ", ".join(map(repr, column.levels[:12]))
        raise ValueError(f"column {column.name!r}: {value!r} is none of its levels; there is {shown}; or None for unknown")
    if isinstance(value, (tuple, list)):
        return _interval(column, value)
    return _number(column, value)


def _number(column: Column, value: Any) -> float:
    """A number, or a date or time as a person gives it."""
    try:
        return float(value)
    except (TypeError, ValueError):
        found = number(str(value), column)
    if found != found:
        what = "time" if column.unit == "clock" else "date" if column.unit else "number"
        raise ValueError(f"column {column.name!r}: {value!r} is no {what}; give one, a range (low, high), or None")
    return found


def _interval(column: Column, value: Sequence[float | None]) -> tuple[float, float]:
    if len(value) != 2:
        raise ValueError(f"column {column.name!r}: {value!r} is no range; give (low, high), None where a side is open")
    low = -np.inf if value[0] is None else _number(column, value[0])
    high = np.inf if value[1] is None else _number(column, value[1])
    if not low < high:
        raise ValueError(f"column {column.name!r}: the range {value!r} is empty")
    return low, high


def _side(value: float) -> float | None:
    return value if np.isfinite(value) else None
