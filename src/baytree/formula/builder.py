"""Construction and inspection of formulas: constants from arrays, named steps, score sums, widths and required steps."""

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

"""Contributions to the scores, each with the column that it belongs to (None for no column)."""


class FormulaBuilder:
    """Collects steps, which are evaluated in order and referenced by index."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.done: list[Step] = []

    def add_step(self, value: Expression, effect_of: int | None = None) -> Named:
        """Append a step; return the reference to its value."""
        self.done.append(Step(value, effect_of))
        return Named(len(self.done) - 1)

    def scores(self, start: np.ndarray, effects: Effects) -> Named:
        """start + Σ effects, each effect as a step of its own."""
        return self.add_step(Sum((constant(start), *(self.add_step(value, column) for column, value in effects))))


def constant(values: np.ndarray | float) -> Constant:
    """Known numbers as an expression."""
    return Constant(numbers(np.atleast_1d(np.asarray(values, np.float64))))


def numbers(values: np.ndarray) -> Numbers:
    """Vector as a tuple of floats."""
    return tuple(np.asarray(values, np.float64).tolist())


def matrix(values: np.ndarray) -> tuple[Numbers, ...]:
    """Matrix as a tuple of rows; a vector as rows of one element."""
    doubles = np.asarray(values, np.float64)
    width = int(np.prod(doubles.shape[1:]))  # explicit, because reshape cannot infer -1 without rows
    return tuple(map(tuple, doubles.reshape(len(doubles), width).tolist()))


def where_known(column: int, value: Expression, width: int) -> Case:
    """The value if the column is known, else a constant of `width` zeros."""
    return Case((When(Known(column), value),), Constant((0.0,) * width))


def near(column: int, low: np.ndarray | float, high: np.ndarray | float, reach: np.ndarray | float) -> Expression:
    """The number, clipped to at most `reach` beyond the bounds: databases raise an error on overflow."""
    largest = np.finfo(np.float64).max
    upper = np.minimum(np.maximum(high + reach, np.nextafter(high, np.inf)), largest)
    lower = np.maximum(np.minimum(low - reach, np.nextafter(low, -np.inf)), -largest)
    return Greatest((Smallest((Number(column), constant(upper))), constant(lower)))


def bag(steps: FormulaBuilder, column: int, scale: np.ndarray, is_unit: bool) -> Named:
    """Weighted word counts of a document, for the words whose scale is not 0."""
    levels, nonzero = steps.schema.columns[column].levels, np.flatnonzero(scale > 0)
    return steps.add_step(Bag(column, tuple(str(levels[k]) for k in nonzero), numbers(scale[nonzero]), is_unit))


def classification_formula(
    title: str, steps: FormulaBuilder, proportion: Expression, domain: Domain = "finite", counts: tuple[int, ...] = ()
) -> Formula:
    """Formula of a classifier from class probabilities; it chooses the first of the most probable classes."""
    predictions, schema = steps.add_step(proportion), steps.schema
    columns, choice = inputs(schema, domain, counts), FirstHighest(predictions)
    return Formula(title, columns, schema.target.name, class_names(schema), predictions, choice, tuple(steps.done))


def number(title: str, steps: FormulaBuilder, answer: Expression, domain: Domain = "finite") -> Formula:
    """Formula of a regressor."""
    schema = steps.schema
    return Formula(title, inputs(schema, domain), schema.target.name, None, answer, None, tuple(steps.done))


def parts(record: msgspec.Struct) -> Iterator[msgspec.Struct]:
    """Records that are fields of a record, or elements of its tuples."""
    for name in record.__struct_fields__:
        value = getattr(record, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, msgspec.Struct):
                yield item


def required_steps(formula: Formula) -> list[int]:
    """Indices of the steps that the predictions and the choice depend on, in order."""
    steps: set[int] = set()
    stack: list[msgspec.Struct] = [each for each in (formula.answers, formula.choice) if each is not None]
    while stack:
        record = stack.pop()
        if isinstance(record, Named) and record.step not in steps:
            steps.add(record.step)
            stack.append(formula.steps[record.step].value)
        stack.extend(parts(record))
    return sorted(steps)


def widths(formula: Formula) -> list[int]:
    """Width of each step."""
    found: list[int] = []
    for step in formula.steps:
        found.append(width(step.value, found))
    return found


def width(expression: msgspec.Struct, of_steps: Sequence[int]) -> int:
    """1 for a number, the number of classes for a vector; with one class, a vector is a number."""
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
