"""The closed set of expressions: each is a number, or a vector with a number for each class.

Arithmetic goes element by element; a single number stands beside every element of a vector. Sums and products are taken
from the left, so that the bits are the same wherever doubles are. `Case` evaluates only what it takes: a value that is not
known is read only behind `Known`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Numbers = tuple[float, ...]


def _tag(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=_tag):
    """What all expressions are: a record that JSON names by its tag."""


# --- values -----------------------------------------------------------------------------------------------------------


class Constant(Record, frozen=True):
    """Known numbers: one, or one for each class."""

    values: Numbers


class Number(Record, frozen=True):
    """The number in a numeric column; a date in the unit of its column. Only behind `Known`."""

    column: int


class Lookup(Record, frozen=True):
    """The row of a table that a column's value names, `missing` where it is missing or was never seen.

    A level's row is at its code. A number's row is the number of `cuts` below it, those that it equals not counted.
    """

    column: int
    table: tuple[Numbers, ...]
    missing: Numbers
    cuts: Numbers = ()


class Named(Record, frozen=True):
    """The value of a step that was evaluated before."""

    step: int


# --- arithmetic -------------------------------------------------------------------------------------------------------


class Sum(Record, frozen=True):
    """The terms added from the left."""

    terms: tuple[Expression, ...]


class Product(Record, frozen=True):
    """The factors multiplied from the left."""

    factors: tuple[Expression, ...]


class Quotient(Record, frozen=True):
    """One divided by the other."""

    above: Expression
    below: Expression


class Smallest(Record, frozen=True):
    """The smallest of several values, element by element."""

    of: tuple[Expression, ...]


class Greatest(Record, frozen=True):
    """The greatest of several values, element by element."""

    of: tuple[Expression, ...]


class Apply(Record, frozen=True):
    """A function of one number; `round` goes to the nearest whole number, half to even."""

    function: Literal["exp", "log", "log1p", "sqrt", "abs", "round", "erfc"]
    of: Expression


class When(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value where a condition holds."""

    condition: Condition
    value: Expression


class Case(Record, frozen=True):
    """The value of the first condition that holds; nothing else is evaluated."""

    whens: tuple[When, ...]
    otherwise: Expression


# --- conditions -------------------------------------------------------------------------------------------------------


class Known(Record, frozen=True):
    """Whether a column has a value; a level that was never seen is none."""

    column: int


class Compare(Record, frozen=True):
    """Whether two numbers stand in a relation."""

    left: Expression
    relation: Literal["<", "<=", "==", ">", ">="]
    right: Expression


# --- densities --------------------------------------------------------------------------------------------------------


class LogDensity(Record, frozen=True):
    """constant − z²/2 of a normal class, constant − (ν + 1)/2 · log(1 + z²/ν) of a Student t; z = (of − mean) / scale.

    Infinite degrees ν mean normal. Beyond |z| = 2^500, where squares leave the doubles, it is with d = log |z|
    −2^990 · (1 + d/2048) and constant − (ν + 1) · (d − log(ν)/2).
    """

    of: Expression
    mean: Numbers
    scale: Numbers
    degrees: Numbers
    constant: Numbers


class LogRising(Record, frozen=True):
    """log Γ(shape + amount) − log Γ(shape), 0 for an amount of 0, −∞ for a shape of 0; taken without cancelling."""

    shape: Expression
    amount: Expression


class Bumps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The kernels of a class: ascending centres, their weights, and their common width."""

    centre: Numbers
    weight: Numbers
    width: float


class Kernels(Record, frozen=True):
    """For each class log Σ w φ((x − centre) / width) / (W · width): normal bumps with weights w of the sum W.

    With a precision it is instead Weka's log max(1e-75, Σ w P(|v − x| ≤ precision / 2) / W), taken upwards from x, then
    downwards, each until the last probability times the weight not yet visited is below a hundredth of the sum.
    """

    of: Expression
    classes: tuple[Bumps, ...]
    precision: float | None = None


# --- vectors ----------------------------------------------------------------------------------------------------------


class Softmax(Record, frozen=True):
    """exp(s − max s) over their sum."""

    of: Expression


class Total(Record, frozen=True):
    """The sum of a vector's elements."""

    of: Expression


class Highest(Record, frozen=True):
    """The greatest of a vector's elements."""

    of: Expression


class FirstHighest(Record, frozen=True):
    """The place of the greatest of a vector's elements; of equal ones the first."""

    of: Expression


# --- words ------------------------------------------------------------------------------------------------------------


class Bag(Record, frozen=True):
    """How much of each word a document has: count · scale, divided by the length of that vector where `is_unit`.

    A missing document is an empty bag. Words that are not named do not count. Only as a step.
    """

    column: int
    words: tuple[str, ...]
    scale: Numbers
    is_unit: bool


class OverWords(Record, frozen=True):
    """A sum over the words of a bag, in the order of its words, `table` having a row for each.

    `amount`: Σ amount · row. `presence`: Σ row. `rising`: Σ LogRising(row, amount). Without a table a row is 1.
    """

    bag: Named
    rule: Literal["amount", "presence", "rising"]
    table: tuple[Numbers, ...] = ()


# --- tables and trees -------------------------------------------------------------------------------------------------


class Matching(Record, frozen=True):
    """For each class the weight of the combinations that agree with every known column, and `added` for each that could.

    A combination is a level of each column, as codes, and its class. The weights are added in their order to `added`
    times the number of combinations of the levels of the columns that are not known.
    """

    columns: tuple[int, ...]
    codes: tuple[tuple[int, ...], ...]
    classes: tuple[int, ...]
    weight: Numbers
    n_levels: tuple[int, ...]
    n_classes: int
    added: float


class Route(Record, frozen=True):
    """The number of the node where a row comes to rest in a tree of the formula."""

    tree: int


class Spread(Record, frozen=True):
    """Σ share · row over the nodes where the parts of a row come to rest, the first branch first.

    A part that a test cannot place goes down every branch with its share. A target without loops unrolls it.
    """

    tree: int
    table: tuple[Numbers, ...]


class Pick(Record, frozen=True):
    """The row of a table at a place."""

    of: Expression
    table: tuple[Numbers, ...]


Condition = Known | Compare

Expression = (
    Constant | Number | Lookup | Named | Sum | Product | Quotient | Smallest | Greatest | Apply | Case | LogDensity
    | LogRising | Kernels | Softmax | Total | Highest | FirstHighest | Bag | OverWords | Matching | Route | Spread | Pick
)  # fmt: skip
