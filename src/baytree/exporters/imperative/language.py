"""What exports to C-like languages (C, JavaScript) share: the `Language` protocol, runtime functions and constant arrays.

A `Language` defines the syntax of numbers, arrays, loops and calls. `functions_of` and `needed` select the runtime functions
that a source calls; they are copied from files in the target language. `ConstantArrays` writes every array once, under a
unique name. `arrays` flattens a tree to arrays of numbers, for runtimes that walk trees in a loop.
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
    """Syntax of a target language."""

    def number(self, value: float) -> str:
        """Literal of a number."""

    def doubles(self, name: str, values: Iterable[float]) -> str:
        """Constant array of doubles."""

    def integers(self, name: str, values: Iterable[int]) -> str:
        """Constant array of integers."""

    def local(self, name: str, value: str) -> str:
        """Definition of a local number."""

    def place(self, name: str, value: str) -> str:
        """Definition of a local integer."""

    def array(self, name: str, n: int) -> str:
        """Declaration of a local array that the following statements fill."""

    def loop(self, n: int, statement: str) -> str:
        """Loop that runs a statement for each k below n."""

    def call(self, function: str, *arguments: str) -> str:
        """Call of a runtime function, or of one that is built into the language."""

    def table(self, name: str) -> str:
        """Name under which a constant array is read."""

    def is_observed(self, column: int, kind: Kind) -> str:
        """Condition that a column has a value."""

    def bag(self, bag: Bag, k: int) -> tuple[list[str], list[str]]:
        """Tables of a bag of words, and the statements that fill the array of its weighted counts, `s{k}`."""

    def tree(self, tree: int, formula: Formula) -> tuple[str, str] | None:
        """Function that finds the leaf of a row, and its call; None if the runtime's loop over arrays does it."""


_FUNCTION = re.compile(r"^(?:function |static [\w ]+?[ *])(\w+)\(.*?^}\n", re.DOTALL | re.MULTILINE)


@cache
def functions_of(*files: Path) -> dict[str, str]:
    """Functions of the runtime files by name, in file order."""
    text = "".join(file.read_text("utf-8") for file in files)
    return {used_functions[1]: used_functions[0] for used_functions in _FUNCTION.finditer(text)}


def needed(source: str, functions: dict[str, str]) -> list[str]:
    """Runtime functions that a source calls, directly or through other runtime functions, in the order of the runtime."""
    used_functions: set[str] = set()
    stack = [source]
    while stack:
        names = set(re.findall(r"\b(\w+)\(", stack.pop())) & functions.keys() - used_functions
        used_functions |= names
        stack += [functions[name] for name in names]
    return [text for name, text in functions.items() if name in used_functions]


def camel(name: str) -> str:
    """Convert snake case to camel case: log_density to logDensity."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


class ConstantArrays:
    """Constant arrays of an export, collected as lines of source."""

    def __init__(self, formula: Formula, language: Language) -> None:
        self.formula, self.language = formula, language
        self.lines: list[str] = []
        self._n_named = 0
        self._trees: dict[int, tuple[str, ...]] = {}
        self._routes: dict[int, str] = {}

    def name(self, letter: str) -> str:
        """A name that is not used yet."""
        self._n_named += 1
        return f"{letter}{self._n_named}"

    def rows(self, table: Sequence[Numbers]) -> str:
        """Write a table row by row; return its name."""
        return self.doubles([value for row in table for value in row])

    def doubles(self, values: Sequence[float]) -> str:
        """Write an array of numbers; return its name."""
        name = self.name("T")
        self.lines.append(self.language.doubles(name, values))
        return self.language.table(name)

    def integers(self, values: Sequence[int]) -> str:
        """Write an array of integers; return its name."""
        name = self.name("T")
        self.lines.append(self.language.integers(name, values))
        return self.language.table(name)

    def route(self, tree: int) -> str:
        """Call that returns the node in which a row ends."""
        if tree not in self._routes:
            own = self.language.tree(tree, self.formula)
            if own is None:
                self._routes[tree] = self.language.call("route", *self.tree(tree), "x")
            else:
                function, self._routes[tree] = own
                self.lines.append(function)
        return self._routes[tree]

    def tree(self, tree: int) -> tuple[str, ...]:
        """Names of the arrays of a tree; written on first use."""
        if tree not in self._trees:
            flat = arrays(self.formula.trees[tree], self.formula.tested)
            integers = (self.integers(values) for values in (flat.nodes, flat.tests, flat.branches))
            self._trees[tree] = (*integers, self.doubles(flat.cuts))
        return self._trees[tree]

    def kernels(self, kernels: Kernels) -> tuple[str, ...]:
        """Centres, weights and widths, the start index of each class, and the number of classes."""
        classes = kernels.classes
        starts = [0, *accumulate(len(bumps.centre) for bumps in classes)]
        centre, weight = [v for c in classes for v in c.centre], [w for c in classes for w in c.weight]
        doubles = map(self.doubles, (centre, weight, [c.width for c in classes]))
        return (*doubles, self.integers(starts), str(len(classes)))

    def combinations(self, matching: Matching) -> tuple[str, ...]:
        """Columns, numbers of levels, codes, classes and weights, and their sizes; no array is empty."""
        codes = self.integers([code for combination in matching.codes for code in combination] or [0])
        classes, weight = self.integers(matching.classes or [0]), self.doubles(matching.weight or [0.0])
        columns, n_levels = self.integers(matching.columns), self.integers(matching.n_levels)
        sizes = (str(len(matching.columns)), str(len(matching.codes)), str(matching.n_classes))
        return (columns, n_levels, codes, classes, weight, *sizes, self.language.number(matching.added))


LEVELS, BELOW, STRICTLY_BELOW = 0, 1, 2  # how a test maps a value to an index


class TreeArrays(NamedTuple):
    """Decision tree as arrays of integers and doubles.

    `nodes` has five integers per node: first test, end of the tests, first child, branch of rows that no test can place (or
    STOP, SPREAD), index of its first fraction among all; five more at the end hold the end of the last node's fractions.
    `tests` has five integers per test: column, how values are mapped to indices, first threshold, number of thresholds or
    levels, first branch.
    """

    nodes: list[int]
    tests: list[int]
    branches: list[int]
    cuts: list[float]


def arrays(nodes: tuple[FormulaNode, ...], columns: tuple[Input, ...]) -> TreeArrays:
    """Flatten a tree; no array is empty, because C has no empty arrays."""
    flat, n_shares = TreeArrays([], [], [], []), 0
    for node in nodes:
        first = len(flat.tests) // 5
        for test in node.tests:
            _add_test(flat, test, columns[test.column].kind)
        flat.nodes.extend((first, len(flat.tests) // 5, node.first, node.missing, n_shares))
        n_shares += len(node.shares)
    flat.nodes.extend((0, 0, 0, 0, n_shares))
    return TreeArrays(flat.nodes, flat.tests or [0], flat.branches or [0], flat.cuts or [0.0])


def depth(nodes: tuple[FormulaNode, ...]) -> int:
    """Size of the stack that a row with fractional parts needs: the siblings along one path, and the node itself."""
    size = [1] * len(nodes)
    for k, node in enumerate(nodes):
        for b in range(n_branches(node)):
            size[node.first + b] = size[k] + n_branches(node) - 1
    return max(size, default=1)


def _add_test(used_functions: TreeArrays, test: FormulaTest, kind: Kind) -> None:
    lookup = LEVELS if kind is not Kind.NUMERIC else STRICTLY_BELOW if test.is_strict else BELOW
    size = len(test.branches) if lookup == LEVELS else len(test.cuts)
    used_functions.tests.extend((test.column, lookup, len(used_functions.cuts), size, len(used_functions.branches)))
    used_functions.cuts.extend(test.cuts)
    used_functions.branches.extend(test.branches)
