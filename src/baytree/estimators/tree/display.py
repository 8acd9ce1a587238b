"""Text, Graphviz, SVG, plots and rules of fitted trees, as methods of all tree estimators.

Each method calls one function of `tree.model`, `tree.rules` or `rendering` on (tree, schema).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from baytree._typing import FrameLike
from baytree.base.predictor import shown_by_costs
from baytree.estimators.base import Estimator
from baytree.rendering.tree_layout import TreeDrawing
from baytree.tree.inspection.node_records import draw
from baytree.tree.model import summary
from baytree.tree.model.tree import Tree
from baytree.tree.rules.rule_set import RuleSet, rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TreeDisplayMixin(Estimator):
    """Renderings of a fitted tree: text, DOT, SVG, matplotlib."""

    @property
    def tree_(self) -> Tree:
        """The tree as flat arrays."""
        check_is_fitted(self, "model_")
        return self.model_

    @property
    def _tree(self) -> Tree:
        """The tree that methods read; scikit-learn drop-ins have scikit-learn's arrays as `tree_`."""
        return self.tree_

    @property
    def _shown_tree(self) -> Tree:
        """The tree whose nodes name the class that is predicted there."""
        return shown_by_costs(self._tree, self._costs)

    def export_text(self, max_depth: int | None = None, max_levels: int | None = 12) -> str:
        """Return the tree as indented text."""
        return summary.export_text(self._shown_tree, self.schema_, max_depth=max_depth, max_levels=max_levels)

    def to_dot(self, max_depth: int | None = None) -> str:
        """Return the tree in the DOT language of Graphviz."""
        from baytree.rendering.tree_drawing import to_dot

        nodes = tuple(summary.iter_nodes(self._shown_tree, self.schema_, max_depth))
        return to_dot(nodes, summary.class_names(self._tree, self.schema_), self.schema_.target.name)

    def to_svg(self, max_depth: int | None = None) -> str:
        """Return the tree as an SVG image."""
        from baytree.rendering.tree_drawing import to_svg

        return to_svg(self._drawing(max_depth))

    def growth_svg(self, max_depth: int | None = None) -> str:
        """Return an animated SVG image in which the tree grows split by split."""
        from baytree.rendering.tree_drawing import growth_svg

        return growth_svg(self._drawing(max_depth))

    def growth_frames(self, max_depth: int | None = None) -> list[str]:
        """Return one SVG image of the tree after each split."""
        from baytree.rendering.tree_drawing import growth_frames

        return growth_frames(self._drawing(max_depth))

    def plot(self, ax: Axes | None = None, max_depth: int | None = None) -> Axes:
        """Draw the tree with matplotlib; returns the axes."""
        from baytree.rendering.plots.model_plots import plot_tree

        return plot_tree(self._drawing(max_depth), ax)

    def _drawing(self, max_depth: int | None) -> TreeDrawing:
        return draw(self._shown_tree, self.schema_, max_depth)


class TreeRulesMixin(TreeDisplayMixin):
    """IF–THEN rules of estimators whose model is one tree."""

    def rules(self, X: FrameLike = None) -> RuleSet:
        """Convert the tree to one IF–THEN rule per leaf, with its support and probability.

        Parameters
        ----------
        X : data frame, optional
            Rows for simplification: conditions and rules that their predictions do not need are removed.
        """
        all_rules = rules(self._shown_tree, self.schema_)
        return all_rules if X is None else all_rules.simplified(self._encoded(X))
