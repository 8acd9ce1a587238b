"""Reading a tree: what every tree estimator can tell of what it has learnt.

Each method is one call of a function that reads (tree, schema); the functions live in rooms of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from baytree._typing import FrameLike
from baytree.estimators.base import Estimator
from baytree.rendering.tree_layout import TreeDrawing
from baytree.tree.inspection.node_records import draw
from baytree.tree.model import summary
from baytree.tree.model.tree import Tree
from baytree.tree.rules.rule_set import RuleSet, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TreeDisplayMixin(Estimator):
    """The pictures of a fitted tree, in text and otherwise."""

    @property
    def tree_(self) -> Tree:
        """The tree as flat arrays."""
        check_is_fitted(self, "model_")
        return self.model_

    @property
    def _tree(self) -> Tree:
        """The same for whoever reads it here: a drop-in shows another program's arrays as `tree_`."""
        return self.tree_

    def export_text(self, max_depth: int | None = None, max_levels: int | None = 12) -> str:
        """The tree as indented text."""
        return summary.export_text(self._tree, self.schema_, max_depth=max_depth, max_levels=max_levels)

    def to_dot(self, max_depth: int | None = None) -> str:
        """The tree in the DOT language of Graphviz."""
        from baytree.rendering.tree_drawing import to_dot

        nodes = tuple(summary.iter_nodes(self._tree, self.schema_, max_depth))
        return to_dot(nodes, summary.class_names(self._tree, self.schema_), self.schema_.target.name)

    def to_svg(self, max_depth: int | None = None) -> str:
        """The tree as an SVG picture."""
        from baytree.rendering.tree_drawing import to_svg

        return to_svg(self._drawing(max_depth))

    def growth_svg(self, max_depth: int | None = None) -> str:
        """An SVG picture in which the tree grows split by split."""
        from baytree.rendering.tree_drawing import growth_svg

        return growth_svg(self._drawing(max_depth))

    def growth_frames(self, max_depth: int | None = None) -> list[str]:
        """The tree split by split: one SVG picture each."""
        from baytree.rendering.tree_drawing import growth_frames

        return growth_frames(self._drawing(max_depth))

    def plot(self, ax: Axes | None = None, max_depth: int | None = None) -> Axes:
        """The tree drawn by matplotlib; gives the axes."""
        from baytree.rendering.plots.model_plots import plot_tree

        return plot_tree(self._drawing(max_depth), ax)

    def _drawing(self, max_depth: int | None) -> TreeDrawing:
        return draw(self._tree, self.schema_, max_depth)


class TreeRulesMixin(TreeDisplayMixin):
    """The readings of an estimator whose model is one tree."""

    def rules(self, X: FrameLike = None) -> RuleSet:
        """One IF–THEN rule for each leaf, with its support and probability.

        Parameters
        ----------
        X : data frame, optional
            Rows, by which rules are simplified: without the conditions and rules that their predictions do not need.
        """
        every = rules(self._tree, self.schema_)
        return every if X is None else every.simplified(self._encoded(X))
