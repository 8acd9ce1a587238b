"""A fitted model as a formula: a closed set of expressions of raw columns, which every exporter prints in its language.

A `Formula` has the columns that are read (`inputs`), intermediate values in the order of evaluation (steps of
`expressions`), the predictions and the chosen class. Models write it with `builder`; `transforms` rewrites it before it is
printed. Printers know nothing about models. Every record is plain JSON (`to_json`, `from_json`, and `document` for programs
that read rules instead of running them).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from baytree.data.schema.column import Kind
from baytree.formula.expressions import Expression
from baytree.formula.inputs import FormulaNode, Input, WeightedSum

__all__ = ["Formula", "Step", "from_json", "to_json"]


class Step(msgspec.Struct, frozen=True):
    """Intermediate value, referenced by its index; `effect_of` is the column whose contribution to the scores it is."""

    value: Expression
    effect_of: int | None = None


class Formula(msgspec.Struct, frozen=True):
    """What a model computes for a row.

    `answers` has one number per class, in class order, or a single number; `choice` is the index of the chosen class, None
    for regression. Steps are evaluated in order and read only earlier ones. Tree tests refer to columns by index; indices
    after the last column refer to `sums`.
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
    sums: tuple[WeightedSum, ...] | msgspec.UnsetType = msgspec.UNSET  # unset if there are none

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the table's columns that are read, in order and without repetition."""
        return tuple(dict.fromkeys(column.given for column in self.columns))

    def place(self, column: int) -> int:
        """Index in `given` of the table column from which a column of the formula is read."""
        return self.given.index(self.columns[column].given)

    @property
    def made(self) -> tuple[WeightedSum, ...]:
        """Weighted sums that tests read."""
        return self.sums or ()

    @property
    def tested(self) -> tuple[Input, ...]:
        """Inputs of tests by index: the columns, then the weighted sums."""
        return (*self.columns, *(Input(each.name, Kind.NUMERIC, domain="any") for each in self.made))


def to_json(formula: Formula) -> bytes:
    """Encode a formula as JSON; infinite numbers become the strings "inf" and "-inf"."""
    return msgspec.json.encode(_finite(msgspec.to_builtins(formula)))


def from_json(content: bytes) -> Formula:
    """Decode a formula that `to_json` wrote."""
    return msgspec.json.decode(content, type=Formula, strict=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and value - value != 0 else value


FORMAT = "baytree-formula"


def document(formula: Formula) -> str:
    """Formula as a JSON document with the format's name and version; `docs/guide/exports.md` describes every record."""
    head = msgspec.json.encode({"format": FORMAT, "version": 1})
    return msgspec.json.format(head[:-1] + b"," + to_json(formula)[1:], indent=1).decode() + "\n"
