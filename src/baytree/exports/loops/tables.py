"""The constant arrays that statements read, each written once under a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from baytree.exports.loops.language import Language
from baytree.exports.loops.trees import arrays
from baytree.formula import Formula
from baytree.formula.expressions import Kernels, Matching, Numbers


class Tables:
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
