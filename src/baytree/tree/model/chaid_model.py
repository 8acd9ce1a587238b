"""What CHAID has learnt: a tree over levels and bins."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree.model import Explanation
from baytree.summary import TreeSummary
from baytree.table.schema import Schema
from baytree.table.table import Table
from baytree.tree.grow.bins import Bins
from baytree.tree.model import routing as reading
from baytree.tree.model.structure import Tree

if TYPE_CHECKING:
    from baytree.formula import Formula


class Trial(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="trial"):
    """What became of a column at a node: its groups of codes and how significant they are, in natural logarithms."""

    node: int
    column: int
    group_of: np.ndarray  # int32 [n_codes]
    floating: int  # the group of missing values, −1 where the node has none
    n_groups: int
    log_p: float
    log_multiplier: float
    log_adjusted: float  # not cut at p = 1


def in_words(trial: Trial, schema: Schema) -> dict[str, Any]:
    """A trial in the words of the table: its groups, p, Bonferroni's multiplier and the adjusted p."""
    column = schema.columns[trial.column]
    groups = [[column.levels[code] for code in np.flatnonzero(trial.group_of == group)] for group in range(trial.n_groups)]
    return {
        "node": trial.node,
        "column": column.name,
        "groups": groups,
        "missing": trial.floating if trial.floating >= 0 else None,
        "p": exp(trial.log_p),
        "multiplier": exp(min(trial.log_multiplier, 700.0)),
        "adjusted_p": min(1.0, exp(min(trial.log_adjusted, 0.0))),
        "log_p": trial.log_p,
        "log_multiplier": trial.log_multiplier,
        "log_adjusted_p": trial.log_adjusted,
    }


class ChaidModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="chaid"):
    """A tree whose tests read codes: levels as they are, numbers by their bins."""

    tree: Tree
    bins: Bins
    trials: tuple[Trial, ...] = ()

    def __post_init__(self) -> None:
        if self.tree.column.max(initial=-1) >= len(self.bins.is_cut):
            raise ValueError("a CHAID tree tests a column that it does not have")
        if np.any((self.tree.column >= 0) & (self.tree.levels == 0)):
            raise ValueError("a CHAID tree has a test without groups")

    def check(self, schema: Schema) -> None:
        """Raises an error where the model does not fit the schema."""
        self.bins.check(schema)
        if self.tree.n_classes != len(schema.classes or ()):
            raise ValueError("the tree and the schema have different classes")
        n_levels, asked = self.bins.n_levels(schema), self.tree.column >= 0
        if np.any(self.tree.levels[asked] != n_levels[self.tree.column[asked]]):
            raise ValueError("a test of the tree does not fit the levels of its column")
        for trial in self.trials:
            if not 0 <= trial.node < len(self.tree):
                raise ValueError("a trial belongs to no node of the tree")
            if not 0 <= trial.column < len(n_levels) or trial.group_of.shape != (n_levels[trial.column],):
                raise ValueError("a trial does not fit the levels of its column")

    def leaves(self, table: Table) -> np.ndarray:
        """int32 [n_rows]: the leaf of each row."""
        return reading.leaves(self.tree, self._coded(table))

    def answers(self, table: Table) -> np.ndarray:
        """The class shares of each row's leaf: [n_rows, n_classes]."""
        return self.tree.answers(self._coded(table))

    def explain(self, table: Table) -> list[Explanation]:
        """The way of each row, with its values as they came."""
        explanations = self.tree.explain(self._coded(table))
        return [_with_values(each, table, row) for row, each in enumerate(explanations)]

    def formula(self, schema: Schema) -> Formula:
        """The tree as an expression of the raw columns."""
        from baytree.tree.formula import decision_tree

        return decision_tree(self.tree, schema, self.bins)

    def summary(self, schema: Schema) -> TreeSummary:
        """The tree as records, each split with its p-value, adjusted for the number of ways to merge."""
        from baytree.tree.view.outline import class_names, outlined

        log_p = {trial.node: trial.log_adjusted for trial in self.taken}
        nodes = tuple(outlined(self.tree, schema, self.bins, log_p=log_p))
        return TreeSummary(schema.target.name, class_names(self.tree, schema), nodes, is_merged=True)

    @property
    def taken(self) -> tuple[Trial, ...]:
        """The trials that became splits."""
        return tuple(trial for trial in self.trials if self.tree.column[trial.node] == trial.column)

    def _coded(self, table: Table) -> Table:
        return self.bins.coded(table, set(self.tree.column.tolist()))


def _with_values(explanation: Explanation, table: Table, row: int) -> Explanation:
    place = {column.name: j for j, column in enumerate(table.schema.columns)}
    lines = [
        msgspec.structs.replace(line, value=table.schema[line.column].show(table.values[place[line.column]][row]))
        for line in explanation.evidence
    ]
    return msgspec.structs.replace(explanation, evidence=tuple(lines))
