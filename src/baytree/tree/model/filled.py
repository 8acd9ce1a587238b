"""A tree whose size is counted as C5.0 counts it."""

from __future__ import annotations

import numpy as np

from baytree.tree.model.structure import Tree


class FilledTree(Tree, frozen=True, forbid_unknown_fields=True, tag="filled_tree"):
    """A tree of C5.0: a leaf that no training row has reached does not count."""

    @property
    def n_leaves(self) -> int:
        """The number of leaves that hold training rows."""
        return int(np.count_nonzero(self.is_leaf & (self.weight > 0)))
