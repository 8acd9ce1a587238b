"""The conversation of an interview: next question by expected information gain, its answer, and the posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree._warnings import did_you_mean, renamed
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

_NOTHING = 1e-9  # bits below which a question is uninformative

_OFFERED = 4  # intervals of a number that a model reads as it is

Range = tuple[float | None, float | None]

# A level, a number, a range whose ends may be open, or None if unknown
Answer: TypeAlias = str | float | tuple[float | None, ...] | list[float | None] | None


def interview(
    predictor: Predictor, frame: FrameLike = None, sure: float = SURE, question_costs: Mapping[str, float] | None = None
) -> Interview:
    """Interview based on the model's stored profile, or on the profile of the given rows with their target."""
    predictor.check_target()
    if frame is not None:
        predictor = msgspec.structs.replace(predictor, profile=Profile.of(encode_labelled(predictor, frame)[0]))
    return Interview(predictor, sure, question_costs)


def resume_interview(
    talk: Interview, predictions: Mapping[str, Answer], sure: float, question_costs: Mapping[str, float] | None = None
) -> Interview:
    """Another interview with the same model in which these columns have been answered in this order."""
    resumed = copy(talk)
    names = resumed.schema.names
    resumed.sure, resumed.question_costs = sure, _checked_costs(question_costs, resumed.schema)
    resumed._given = [(names.index(name), _read(resumed.schema[name], value), value) for name, value in predictions.items()]
    resumed._imagine()
    return resumed


class Question(msgspec.Struct, frozen=True):
    """A column to ask for, the possible answers, and the expected information gain.

    Attributes
    ----------
    column : str
        The name of the column.
    kind : Kind
        Numeric, nominal or ordinal.
    choices : tuple
        Levels, or ranges (low, high) of numbers: low < x ≤ high, None for an open end. A number is an answer, too.
    gain : float
        The expected information gain in bits.
    unit : str or None, default=None
        The unit of a date, `clock` for seconds since midnight; None for any other number.
    cost : float or None, default=None
        The cost of asking for the column, if costs were given.
    """

    column: str
    kind: Kind
    choices: tuple[Any, ...]
    gain: float
    unit: str | None = None
    cost: float | None = None


class Interview:
    """Twenty questions: `next` asks, `answer` records an answer, `belief` has the probabilities, `undo` removes an answer.

    If columns have costs, the question with the largest expected gain per cost comes first, as in Norton (1989).

    Parameters
    ----------
    predictor : Predictor
        The model.
    sure : float, default=0.99
        Probability of a class at which the interview ends.
    question_costs : dict, optional
        Cost of asking for a column, by its name: a laboratory test more than a visual inspection. Columns that are not
        named cost 1; a column that costs 0 is asked for first.

    Attributes
    ----------
    belief : dict
        The probability of each class given the answers.
    prediction : object
        The class that would be predicted now: the most probable one, or the one of least expected cost.
    answers : dict
        The answers by column; None for an unknown value.
    unasked : tuple of str
        Text columns, which are never asked for.
    spent : float
        Total cost of the answered columns; their number if no costs were given.

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

    def __init__(self, predictor: Predictor, sure: float = SURE, question_costs: Mapping[str, float] | None = None):
        if predictor.schema.target.classes is None:
            raise ValueError(f"{predictor.name} predicts numbers; an interview needs a classifier")
        if not 0 < sure <= 1:
            raise ValueError(f"sure={sure!r}: give a probability above 0, at most 1")
        if all(column.kind is Kind.TEXT for column in predictor.schema.columns):
            raise ValueError(
                f"{predictor.name} reads only text ({predictor.schema.names[0]!r}), which an interview cannot ask for; "
                "it needs nominal, ordinal or numeric columns"
            )
        self.sure, self.schema, self._predictor = sure, predictor.schema, predictor
        self.question_costs = _checked_costs(question_costs, predictor.schema)
        profile = _known(predictor)
        self._cells = cells_of(predictor, profile, predictor.model.formula(predictor.schema))
        self._prior = class_weights(profile)
        self._paths = TreePaths.of(predictor, self._cells, self._prior)
        self._given: list[tuple[int, Known, Any]] = []
        self._asked: int | None = None
        self._imagine()

    @property
    def belief(self) -> dict[Any, float]:
        """Probability of each class given the answers."""
        return dict(zip(self.schema.classes, self._imagined.belief.tolist(), strict=True))

    @property
    def prediction(self) -> Any:
        """The class that would be predicted now."""
        return self.schema.classes[self._imagined.choice]

    @property
    def unasked(self) -> tuple[str, ...]:
        """Text columns, which are never asked for: no question could list their answers."""
        return tuple(column.name for column in self.schema.columns if column.kind is Kind.TEXT)

    @property
    def answers(self) -> dict[str, Any]:
        """Answers by column; None for an unknown value."""
        return {self.schema.columns[column].name: value for column, _, value in self._given}

    @property
    def spent(self) -> float:
        """Total cost of the answered columns; unknown values cost nothing."""
        return sum(self._cost(column) for column, known, _ in self._given if known is not None)

    def next(self) -> Question | None:
        """Return the next question, or None if the class is sure or no question is informative.

        A single tree asks for the column of the node that the answers lead to. Any other model, and a tree whose columns
        differ in their costs, asks for the column with the largest expected gain per cost.
        """
        self._asked = None
        if self._imagined.belief.max() >= self.sure:
            return None
        open_columns = self._open()
        on_path = [j for j in self._imagined.questions() if j in open_columns]
        candidates = on_path if on_path and not self._costs_differ() else open_columns
        gains = {column: self._imagined.ask(column, open_columns[column]).gain for column in candidates}
        informative = [column for column, gain in gains.items() if gain >= _NOTHING] or on_path
        self._asked = max(informative, key=lambda column: (*self._worth(column, gains[column]), -column), default=None)
        if self._asked is None:
            return None
        column, cost = self.schema.columns[self._asked], self._cost(self._asked) if self.question_costs else None
        return Question(column.name, column.kind, self._choices(self._asked), gains[self._asked], column.unit, cost)

    costs = renamed("costs", "question_costs")

    def _worth(self, column: int, gain: float) -> tuple[float, float]:
        """Expected gain per cost; questions without a cost are compared by their gain."""
        cost = self._cost(column)
        return (gain / cost if cost else np.inf), gain

    def _costs_differ(self) -> bool:
        return len({self._cost(column) for column in range(len(self.schema))}) > 1

    def _cost(self, column: int) -> float:
        return self.question_costs.get(self.schema.columns[column].name, 1.0)

    def answer(self, value: Answer) -> dict[Any, float]:
        """Record the answer to the last question; return the class probabilities.

        An answer is a level, a number, a range (low, high), or None if the value is unknown.
        """
        if self._asked is None:
            raise ValueError("no question has been asked; call next() first")
        column = self.schema.columns[self._asked]
        known = _read(column, value)
        self._given = [each for each in self._given if each[0] != self._asked] + [(self._asked, known, value)]
        self._imagine()
        return self.belief

    def undo(self) -> None:
        """Remove the last answer."""
        if not self._given:
            raise ValueError("there is no answer to undo")
        self._given.pop()
        self._imagine()

    def _imagine(self) -> None:
        self._asked = None
        predictions = {column: known for column, known, _ in self._given}
        self._imagined = (
            SimulatedRows(self._predictor, self._cells, self._prior, predictions)
            if self._paths is None
            else TreeBelief(self._paths, predictions)
        )

    def _open(self) -> dict[int, np.ndarray]:
        """Columns that can still be asked for, and the cells in which their value may lie."""
        predictions = {column: known for column, known, _ in self._given}
        cells_left = {j: _still_open(cells, predictions, j) for j, cells in enumerate(self._cells)}
        return {j: each for j, each in cells_left.items() if each.sum() > 1}

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
    """Weight of each class: [n_classes]."""
    first = profile.columns[0]
    return (first.counts if isinstance(first, Histogram) else first).cells.rounded().sum(axis=0)


def _checked_costs(given: Mapping[str, float] | None, schema: Schema) -> dict[str, float]:
    """Validate the costs of questions: names of columns and finite, non-negative numbers."""
    for name in given or {}:
        if name not in schema.names:
            raise ValueError(f"question_costs: {did_you_mean('column', str(name), schema.names)}")
    return {name: finite(f"question_costs[{name!r}]", cost, 0.0) for name, cost in (given or {}).items()}


def _known(predictor: Predictor) -> Profile:
    if predictor.profile is None:
        raise ValueError(
            f"this {predictor.name} stores no profile of its training rows; "
            "pass rows with their target: model.interview(frame)"
        )
    return predictor.profile


def _still_open(cells: AnswerCells, predictions: dict[int, Known], column: int) -> np.ndarray:
    if column not in predictions:
        return np.ones(len(cells), bool)
    known = predictions[column]
    if isinstance(known, tuple) and cells.is_cut:
        return cells.within(*known)
    return np.zeros(len(cells), bool)


def _read(column: Column, value: Answer) -> Known:
    """Answer as a code, a number or an interval."""
    if value is None or value != value:
        return None
    if column.kind is not Kind.NUMERIC:
        for code, level in enumerate(column.levels):
            if level == value or str(level) == value:
                return float(code)
        shown = ", ".join(map(repr, column.levels[:12]))
        raise ValueError(f"column {column.name!r}: {value!r} is not one of its levels: {shown}; use None for unknown")
    if isinstance(value, (tuple, list)):
        return _interval(column, value)
    return _number(column, value)


def _number(column: Column, value: Any) -> float:
    """Number, or a date or time as text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        found = number(str(value), column)
    if found != found:
        kind = "time" if column.unit == "clock" else "date" if column.unit else "number"
        raise ValueError(f"column {column.name!r}: {value!r} is not a {kind}; give a {kind}, a range (low, high), or None")
    return found


def _interval(column: Column, value: Sequence[float | None]) -> tuple[float, float]:
    if len(value) != 2:
        raise ValueError(f"column {column.name!r}: {value!r} is not a range; give (low, high), with None for an open end")
    low = -np.inf if value[0] is None else _number(column, value[0])
    high = np.inf if value[1] is None else _number(column, value[1])
    if not low < high:
        raise ValueError(f"column {column.name!r}: the range {value!r} is empty")
    return low, high


def _side(value: float) -> float | None:
    return value if np.isfinite(value) else None
