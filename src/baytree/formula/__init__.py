"""A model as an expression of raw columns: category names, numbers, missing values. Every export is a printer of it.

The set of expressions is closed (`expressions`) and every record is plain JSON (`to_json`, `from_json`). A model says what
it computes as a `Formula`: the columns it reads, intermediate values in the order of their evaluation, the answers and the
class that is chosen. A printer knows nothing of models.

Formulas as JSON: the closed records of the formula itself, for programs that read rules rather than run them.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from baytree.data.schema.column import Kind
from baytree.formula.expressions import Expression
from baytree.formula.inputs import FormulaNode, Input, WeightedSum

__all__ = ["Formula", "Step", "from_json", "to_json"]


class Step(msgspec.Struct, frozen=True):
    """An intermediate value, named by its place; where it is what one column adds to the scores, that column."""

    value: Expression
    effect_of: int | None = None


class Formula(msgspec.Struct, frozen=True):
    """What a model computes of a row.

    `answers` has a number for each class, in their order, or one number; `choice` is the place of the class that is
    chosen, None where the answer is a number. Steps are evaluated in order and read only what stands before them. Tests of
    trees read columns by their places, and after those of all columns the `sums`.
    """

    title: str
    columns: tuple[Input, ...]
    target: str
    classes: tuple[str, ...] | None
    answers: Expression
    choice: Expression | None
    steps: tuple[Step, ...] = ()
    trees: tuple[tuple[FormulaNode, ...], ...] = ()
    unseen: Literal["missing", "error"] = "missing"
    sums: tuple[WeightedSum, ...] | msgspec.UnsetType = msgspec.UNSET  # not told where there are none

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the columns of the table, in order: those that the formula's columns are read from."""
        return tuple(dict.fromkeys(column.given for column in self.columns))

    def place(self, column: int) -> int:
        """The place among `given` of what a column is read from."""
        return self.given.index(self.columns[column].given)

    @property
    def made(self) -> tuple[WeightedSum, ...]:
        """The sums that tests read."""
        return self.sums or ()

    @property
    def tested(self) -> tuple[Input, ...]:
        """What tests read, by place: the columns, and after them the sums."""
        return (*self.columns, *(Input(each.name, Kind.NUMERIC, domain="any") for each in self.made))


def to_json(formula: Formula) -> bytes:
    """The formula as JSON; an infinite number is the text "inf" or "-inf"."""
    return msgspec.json.encode(_finite(msgspec.to_builtins(formula)))


def from_json(content: bytes) -> Formula:
    """The formula that `to_json` wrote."""
    return msgspec.json.decode(content, type=Formula, strict=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and value - value != 0 else value


FORMAT = "baytree-formula"


def document(formula: Formula) -> str:
    """The formula with its format's name and version; `docs/guide/exports.md` describes every record."""
    head = msgspec.json.encode({"format": FORMAT, "version": 1})
    return msgspec.json.format(head[:-1] + b"," + to_json(formula)[1:], indent=1).decode() + "\n"
