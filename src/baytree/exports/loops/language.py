"""How a C-like language writes what all of them have: a closed list of numbers, arrays, loops and calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from baytree.formula import Formula
from baytree.formula.expressions import Bag
from baytree.table.schema import Kind


class Language(Protocol):
    """How a language writes what all of them have."""

    def number(self, value: float) -> str:
        """A literal."""

    def doubles(self, name: str, values: Iterable[float]) -> str:
        """A constant array of doubles."""

    def integers(self, name: str, values: Iterable[int]) -> str:
        """A constant array of whole numbers."""

    def local(self, name: str, value: str) -> str:
        """A number that is evaluated here."""

    def place(self, name: str, value: str) -> str:
        """A whole number that is evaluated here."""

    def array(self, name: str, n: int) -> str:
        """An array that is filled by what follows."""

    def loop(self, n: int, statement: str) -> str:
        """A statement for each k below n."""

    def call(self, function: str, *arguments: str) -> str:
        """A call of a function of the runtime, or of one that the language has."""

    def table(self, name: str) -> str:
        """The name of a constant array where it is read."""

    def known(self, column: int, kind: Kind) -> str:
        """Whether a column has a value."""

    def bag(self, bag: Bag, k: int) -> tuple[list[str], list[str]]:
        """The tables of a bag of words, and the statements that fill the array of its amounts, `s{k}`."""

    def tree(self, tree: int, formula: Formula) -> tuple[str, str] | None:
        """A function that places rows in a tree, and its call; None where the runtime's loop over arrays is to do it."""
