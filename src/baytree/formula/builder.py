"""What models write their formulas with: constants from arrays, sums, and steps with names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from baytree.data.schema.schema import Schema
from baytree.formula import Formula, Step
from baytree.formula.expressions import (
    Bag,
    Case,
    Constant,
    Expression,
    FirstHighest,
    Greatest,
    Highest,
    Kernels,
    Known,
    LogDensity,
    Lookup,
    Matching,
    Named,
    Number,
    Numbers,
    OverWords,
    Pick,
    Route,
    Smallest,
    Spread,
    Sum,
    Total,
    When,
)
from baytree.formula.inputs import Domain, class_names, inputs

Effects = list[tuple[int | None, Expression]]

"""What is added to the scores, each by the column whose effect it is."""


class FormulaBuilder:
    """Values that are evaluated one after the other, and read by name."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.done: list[Step] = []

    def add_step(self, value: Expression, effect_of: int | None = None) -> Named:
        """The name of a value that is evaluated once."""
        self.done.append(Step(value, effect_of))
        return Named(len(self.done) - 1)

    def scores(self, start: np.ndarray, effects: Effects) -> Named:
        """start + Σ effects, each effect a step of its own."""
        return self.add_step(Sum((constant(start), *(self.add_step(value, column) for column, value in effects))))


def constant(values: np.ndarray | float) -> Constant:
    """Known numbers as an expression."""
    return Constant(numbers(np.atleast_1d(np.asarray(values, np.float64))))


def numbers(values: np.ndarray) -> Numbers:
    """A vector as plain doubles."""
    return tuple(np.asarray(values, np.float64).tolist())


def matrix(values: np.ndarray) -> tuple[Numbers, ...]:
    """A matrix as rows of plain doubles; a vector as rows of one."""
    doubles = np.asarray(values, np.float64)
    wide = int(np.prod(doubles.shape[1:]))  # said, because no rows have any width
    return tuple(map(tuple, doubles.reshape(len(doubles), wide).tolist()))


def where_known(column: int, value: Expression, width: int) -> Case:
    """The value; 0, as often as the value is wide, where the column has none."""
    return Case((When(Known(column), value),), Constant((0.0,) * width))


def near(column: int, low: np.ndarray | float, high: np.ndarray | float, reach: np.ndarray | float) -> Expression:
    """The number, or where it lies further than `reach` beyond the bounds, one there: databases stop at what overflows."""
    largest = np.finfo(np.float64).max
    most = np.minimum(np.maximum(high + reach, np.nextafter(high, np.inf)), largest)
    least = np.maximum(np.minimum(low - reach, np.nextafter(low, -np.inf)), -largest)
    return Greatest((Smallest((Number(column), constant(most))), constant(least)))


def bag(steps: FormulaBuilder, column: int, scale: np.ndarray, is_unit: bool) -> Named:
    """The amounts of a document's words, of those whose scale is not 0."""
    levels, kept = steps.schema.columns[column].levels, np.flatnonzero(scale > 0)
    return steps.add_step(Bag(column, tuple(str(levels[k]) for k in kept), numbers(scale[kept]), is_unit))


def classification_formula(
    title: str, steps: FormulaBuilder, share: Expression, domain: Domain = "finite", counts: tuple[int, ...] = ()
) -> Formula:
    """The formula of the classes' shares: the class is the first of the most probable ones."""
    answers, schema = steps.add_step(share), steps.schema
    columns, choice = inputs(schema, domain, counts), FirstHighest(answers)
    return Formula(title, columns, schema.target.name, class_names(schema), answers, choice, tuple(steps.done))


def number(title: str, steps: FormulaBuilder, answer: Expression, domain: Domain = "finite") -> Formula:
    """The formula of a number."""
    schema = steps.schema
    return Formula(title, inputs(schema, domain), schema.target.name, None, answer, None, tuple(steps.done))


def parts(record: msgspec.Struct) -> Iterator[msgspec.Struct]:
    """The records that a record holds."""
    for name in record.__struct_fields__:
        value = getattr(record, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, msgspec.Struct):
                yield item


def required_steps(formula: Formula) -> list[int]:
    """The steps that the answers and the choice need, in order."""
    found: set[int] = set()
    waiting: list[msgspec.Struct] = [each for each in (formula.answers, formula.choice) if each is not None]
    while waiting:
        record = waiting.pop()
        if isinstance(record, Named) and record.step not in found:
            found.add(record.step)
            waiting.append(formula.steps[record.step].value)
        waiting.extend(parts(record))
    return sorted(found)


def widths(formula: Formula) -> list[int]:
    """The width of each step."""
    found: list[int] = []
    for step in formula.steps:
        found.append(width(step.value, found))
    return found


def width(expression: msgspec.Struct, of_steps: Sequence[int]) -> int:
    """1 for a number, the number of classes for a vector; a vector of one class is a number."""
    match expression:
        case Constant(values=values) | Lookup(missing=values) | LogDensity(mean=values):
            return len(values)
        case Pick(table=rows) | Spread(table=rows) | OverWords(table=rows):
            return len(rows[0]) if rows else 1
        case Kernels(classes=classes):
            return len(classes)
        case Matching(n_classes=n_classes):
            return n_classes
        case Named(step=step):
            return of_steps[step]
        case Number() | Known() | Route() | Total() | Highest() | FirstHighest() | Bag():
            return 1
    return max((width(part, of_steps) for part in parts(expression)), default=1)
