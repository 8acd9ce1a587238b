"""What CHAID has learnt: a tree over levels and bins."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.model import Explanation
from baytree.table import Schema, Table
from baytree.tree import ledger
from baytree.tree.bins import Bins
from baytree.tree.structure import Surrogates, Tree, bounds


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


class ChaidModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="chaid"):
    """A tree whose tests read codes: levels as they are, numbers by their bins."""

    tree: Tree
    bins: Bins
    log_adjusted: np.ndarray  # float64 [n_nodes], of the split; NaN at a leaf
    trials: tuple[Trial, ...] = ()

    def __post_init__(self) -> None:
        if self.log_adjusted.dtype != np.float64 or self.log_adjusted.shape != (len(self.tree),):
            raise ValueError("a CHAID tree needs a p-value for each node")
        if self.tree.column.max(initial=-1) >= len(self.bins.is_cut):
            raise ValueError("a CHAID tree tests a column that it does not have")
        if np.any((self.tree.column >= 0) & (self.tree.levels == 0)):
            raise ValueError("a CHAID tree has a test without groups")

    def leaves(self, table: Table) -> np.ndarray:
        """int32 [n_rows]: the leaf of each row."""
        codes = self.bins.code(table, set(self.tree.column.tolist()))
        return _router(self.tree).leaves(codes, np.zeros(len(codes), np.int32), len(table), 1)

    def probabilities(self, table: Table) -> np.ndarray:
        """The class shares of each row's leaf: [n_rows, n_classes]."""
        return self.tree.value[self.leaves(table)]

    def values(self, table: Table) -> np.ndarray:
        """The mean of each row's leaf: [n_rows]."""
        return self.tree.value[self.leaves(table), 0]

    def explain(self, table: Table) -> list[Explanation]:
        """The way of each row."""
        return ledger.explain(self.tree, table.schema, table.values, self.leaves(table))

    def describe(self, schema: Schema) -> str:
        """The tree in words."""
        from baytree.tree.views import export_text

        return export_text(self.tree, schema, self.bins)


def _router(tree: Tree) -> _core.Router:
    arrays = msgspec.structs.asdict(tree)
    surrogates: Surrogates = arrays.pop("surrogates")
    return _core.Router(arrays, msgspec.structs.asdict(surrogates), bounds(tree))
