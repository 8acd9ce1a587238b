"""How a C-like language writes what all of them have: a closed list of numbers, arrays, loops and calls.

The functions that an export carries along: read from files of their own language, and copied where needed.

The constant arrays that statements read, each written once under a name of its own.

Trees as flat arrays of numbers, for languages whose runtime goes through them in a loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Protocol

from baytree.data.schema.column import Kind
from baytree.formula import Formula
from baytree.formula.expressions import Bag, Kernels, Matching, Numbers
from baytree.formula.inputs import FormulaNode, FormulaTest, Input, n_branches


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


_FUNCTION = re.compile(r"^(?:function |static [\w ]+?[ *])(\w+)\(.*?^}\n", re.DOTALL | re.MULTILINE)


@cache
def functions_of(*files: Path) -> dict[str, str]:
    """The functions of the files of a runtime by name, in their order."""
    text = "".join(file.read_text("utf-8") for file in files)
    return {found[1]: found[0] for found in _FUNCTION.finditer(text)}


def needed(source: str, functions: dict[str, str]) -> list[str]:
    """The functions that a source calls, and those that they call, in the order of the runtime."""
    found: set[str] = set()
    waiting = [source]
    while waiting:
        called = set(re.findall(r"\b(\w+)\(", waiting.pop())) & functions.keys() - found
        found |= called
        waiting += [functions[name] for name in called]
    return [text for name, text in functions.items() if name in found]


def camel(name: str) -> str:
    """log_density as logDensity."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


class ConstantArrays:
    """Arrays, as lines of source."""

    def __init__(self, formula: Formula, language: Language) -> None:
        self.formula, self.language = formula, language
        self.lines: list[str] = []
        self._n_named = 0
        self._trees: dict[int, tuple[str, ...]] = {}
        self._routes: dict[int, str] = {}

    def name(self, letter: str) -> str:
        """A name that nothing else has."""
        self._n_named += 1
        return f"{letter}{self._n_named}"

    def rows(self, table: Sequence[Numbers]) -> str:
        """A table, row after row."""
        return self.doubles([value for row in table for value in row])

    def doubles(self, values: Sequence[float]) -> str:
        """An array of numbers."""
        name = self.name("T")
        self.lines.append(self.language.doubles(name, values))
        return self.language.table(name)

    def integers(self, values: Sequence[int]) -> str:
        """An array of whole numbers."""
        name = self.name("T")
        self.lines.append(self.language.integers(name, values))
        return self.language.table(name)

    def route(self, tree: int) -> str:
        """The call that gives the node where a row comes to rest."""
        if tree not in self._routes:
            written = self.language.tree(tree, self.formula)
            if written is None:
                self._routes[tree] = self.language.call("route", *self.tree(tree), "x")
            else:
                function, self._routes[tree] = written
                self.lines.append(function)
        return self._routes[tree]

    def tree(self, tree: int) -> tuple[str, ...]:
        """The arrays of a tree."""
        if tree not in self._trees:
            found = arrays(self.formula.trees[tree], self.formula.tested)
            whole = (self.integers(values) for values in (found.nodes, found.tests, found.branches))
            self._trees[tree] = (*whole, self.doubles(found.cuts))
        return self._trees[tree]

    def kernels(self, kernels: Kernels) -> tuple[str, ...]:
        """Centres, weights and widths, where those of each class begin, and the number of classes."""
        classes = kernels.classes
        starts = [0, *accumulate(len(bumps.centre) for bumps in classes)]
        centre, weight = [v for c in classes for v in c.centre], [w for c in classes for w in c.weight]
        doubles = map(self.doubles, (centre, weight, [c.width for c in classes]))
        return (*doubles, self.integers(starts), str(len(classes)))

    def combinations(self, matching: Matching) -> tuple[str, ...]:
        """Columns, numbers of levels, codes, classes and weights, and how many there are of each; no array is empty."""
        codes = self.integers([code for combination in matching.codes for code in combination] or [0])
        classes, weight = self.integers(matching.classes or [0]), self.doubles(matching.weight or [0.0])
        columns, n_levels = self.integers(matching.columns), self.integers(matching.n_levels)
        sizes = (str(len(matching.columns)), str(len(matching.codes)), str(matching.n_classes))
        return (columns, n_levels, codes, classes, weight, *sizes, self.language.number(matching.added))


LEVELS, BELOW, STRICTLY_BELOW = 0, 1, 2  # how a test finds the place of a value


class TreeArrays(NamedTuple):
    """A tree as numbers.

    `nodes` has five for each node: the first test, the end of the tests, the first child, the branch of what no test can
    place (or STOP, SPREAD), its first share among all; and five more that say where the shares of the last one end.
    `tests` has five for each test: the column, how places are found, the first cut, the number of cuts or levels, the
    first branch.
    """

    nodes: list[int]
    tests: list[int]
    branches: list[int]
    cuts: list[float]


def arrays(nodes: tuple[FormulaNode, ...], columns: tuple[Input, ...]) -> TreeArrays:
    """A tree as numbers; no array is empty, since C has none of these."""
    found, n_shares = TreeArrays([], [], [], []), 0
    for node in nodes:
        first = len(found.tests) // 5
        for test in node.tests:
            _add_test(found, test, columns[test.column].kind)
        found.nodes.extend((first, len(found.tests) // 5, node.first, node.missing, n_shares))
        n_shares += len(node.shares)
    found.nodes.extend((0, 0, 0, 0, n_shares))
    return TreeArrays(found.nodes, found.tests or [0], found.branches or [0], found.cuts or [0.0])


def depth(nodes: tuple[FormulaNode, ...]) -> int:
    """The parts of a row that may wait at once while it goes through a tree: the branches beside one path, and itself."""
    waiting = [1] * len(nodes)
    for k, node in enumerate(nodes):
        for b in range(n_branches(node)):
            waiting[node.first + b] = waiting[k] + n_branches(node) - 1
    return max(waiting, default=1)


def _add_test(found: TreeArrays, test: FormulaTest, kind: Kind) -> None:
    how = LEVELS if kind is not Kind.NUMERIC else STRICTLY_BELOW if test.is_strict else BELOW
    size = len(test.branches) if how == LEVELS else len(test.cuts)
    found.tests.extend((test.column, how, len(found.cuts), size, len(found.branches)))
    found.cuts.extend(test.cuts)
    found.branches.extend(test.branches)
