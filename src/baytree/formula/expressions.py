"""The closed set of expressions of a formula: each is a number, or a vector with one number per class.

Arithmetic is elementwise; a single number is broadcast. Sums and products are evaluated from left to right, so that results
are bit-identical wherever doubles are IEEE 754. `Case` evaluates only the branch that it takes: a value that may be missing
is read only behind `Known`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Numbers = tuple[float, ...]


def _tag(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=_tag):
    """Base class of expressions: a record that JSON identifies by its tag."""


# --- values -----------------------------------------------------------------------------------------------------------


class Constant(Record, frozen=True):
    """Known numbers: one, or one per class."""

    values: Numbers


class Number(Record, frozen=True):
    """Number in a numeric column; a date in the column's unit. Only behind `Known`."""

    column: int


class Lookup(Record, frozen=True):
    """Row of a table, selected by a column's value; `missing` if it is missing or did not occur in training.

    A level's row is at its code. A number's row is the number of `cuts` below it; cuts that are equal to it do not count.
    """

    column: int
    table: tuple[Numbers, ...]
    missing: Numbers
    cuts: Numbers = ()


class Named(Record, frozen=True):
    """Value of an earlier step."""

    step: int


# --- arithmetic -------------------------------------------------------------------------------------------------------


class Sum(Record, frozen=True):
    """Sum of the terms from left to right."""

    terms: tuple[Expression, ...]


class Product(Record, frozen=True):
    """Product of the factors from left to right."""

    factors: tuple[Expression, ...]


class Quotient(Record, frozen=True):
    """Quotient of two values."""

    above: Expression
    below: Expression


class Smallest(Record, frozen=True):
    """Elementwise minimum of several values."""

    of: tuple[Expression, ...]


class Greatest(Record, frozen=True):
    """Elementwise maximum of several values."""

    of: tuple[Expression, ...]


class Apply(Record, frozen=True):
    """Function of one number; `round` rounds half to even."""

    function: Literal["exp", "log", "log1p", "sqrt", "abs", "round", "erfc"]
    of: Expression


class When(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Value for rows that meet a condition."""

    condition: Condition
    value: Expression


class Case(Record, frozen=True):
    """Value of the first condition that holds; nothing else is evaluated."""

    whens: tuple[When, ...]
    otherwise: Expression


# --- conditions -------------------------------------------------------------------------------------------------------


class Known(Record, frozen=True):
    """Whether a column has a value; a level that did not occur in training counts as none."""

    column: int


class Compare(Record, frozen=True):
    """Comparison of two numbers."""

    left: Expression
    relation: Literal["<", "<=", "==", ">", ">="]
    right: Expression


# --- densities --------------------------------------------------------------------------------------------------------


class LogDensity(Record, frozen=True):
    """Log density: constant − z²/2 (normal) or constant − (ν + 1)/2 · log(1 + z²/ν) (Student t), z = (of − mean) / scale.

    Infinite degrees of freedom ν mean normal. Beyond |z| = 2^500, where squares overflow, it is, with d = log |z|,
    −2^990 · (1 + d/2048) and constant − (ν + 1) · (d − log(ν)/2).
    """

    of: Expression
    mean: Numbers
    scale: Numbers
    degrees: Numbers
    constant: Numbers


class LogRising(Record, frozen=True):
    """log Γ(shape + amount) − log Γ(shape), 0 for an amount of 0, −∞ for a shape of 0; computed without cancellation."""

    shape: Expression
    amount: Expression


class Bumps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Kernels of a class: ascending centres, their weights, and their common width."""

    centre: Numbers
    weight: Numbers
    width: float


class Kernels(Record, frozen=True):
    """Log kernel density per class: log Σ w φ((x − centre) / width) / (W · width), with weights w of sum W.

    With a precision it is Weka's log max(1e-75, Σ w P(|v − x| ≤ precision / 2) / W) instead, summed upwards from x, then
    downwards, each until the last probability times the weight not yet visited is below a hundredth of the sum.
    """

    of: Expression
    classes: tuple[Bumps, ...]
    precision: float | None = None


# --- vectors ----------------------------------------------------------------------------------------------------------


class Softmax(Record, frozen=True):
    """exp(s − max s), normalised to sum 1."""

    of: Expression


class Total(Record, frozen=True):
    """Sum of a vector's elements."""

    of: Expression


class Highest(Record, frozen=True):
    """Maximum of a vector's elements."""

    of: Expression


class FirstHighest(Record, frozen=True):
    """Index of the maximum of a vector; the first of equal elements."""

    of: Expression


# --- words ------------------------------------------------------------------------------------------------------------


class Bag(Record, frozen=True):
    """Weighted word counts of a document: count · scale, divided by the length of that vector if `is_unit`.

    A missing document is an empty bag. Words that are not listed do not count. Occurs only as a step.
    """

    column: int
    words: tuple[str, ...]
    scale: Numbers
    is_unit: bool


class OverWords(Record, frozen=True):
    """Sum over the words of a bag, in the order of its words; `table` has a row per word.

    `amount`: Σ amount · row. `presence`: Σ row. `rising`: Σ LogRising(row, amount). Without a table, a row is 1.
    """

    bag: Named
    rule: Literal["amount", "presence", "rising"]
    table: tuple[Numbers, ...] = ()


# --- tables and trees -------------------------------------------------------------------------------------------------


class Matching(Record, frozen=True):
    """Weight per class of the combinations that agree with every known column, plus `added` per possible combination.

    A combination is a level of each column, as codes, and a class. The weights are added, in their order, to `added` times
    the number of combinations of the levels of the columns that are missing.
    """

    columns: tuple[int, ...]
    codes: tuple[tuple[int, ...], ...]
    classes: tuple[int, ...]
    weight: Numbers
    n_levels: tuple[int, ...]
    n_classes: int
    added: float


class Route(Record, frozen=True):
    """Index of the node in which a row ends in a tree of the formula."""

    tree: int


class Spread(Record, frozen=True):
    """Σ fraction · table row over the nodes in which fractions of a row end, in depth-first order.

    A fraction that a test cannot place goes down every branch with that branch's share. Targets without loops unroll it.
    """

    tree: int
    table: tuple[Numbers, ...]


class Pick(Record, frozen=True):
    """Row of a table at an index."""

    of: Expression
    table: tuple[Numbers, ...]


Condition = Known | Compare

Expression = (
    Constant | Number | Lookup | Named | Sum | Product | Quotient | Smallest | Greatest | Apply | Case | LogDensity
    | LogRising | Kernels | Softmax | Total | Highest | FirstHighest | Bag | OverWords | Matching | Route | Spread | Pick
)  # fmt: skip
