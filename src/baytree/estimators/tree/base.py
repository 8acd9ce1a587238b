"""What every fitted tree estimator shows: its nodes, sizes, importances, and smaller versions of itself."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import msgspec
import numpy as np

from baytree import param_validation as given
from baytree._typing import CostsLike, FrameLike, PriorsLike, TargetLike
from baytree.base.labelled_rows import encode_labelled
from baytree.base.learner import FitResult, Learner
from baytree.data.schema.schema import Schema
from baytree.estimators.tree.display import TreeDisplayMixin, TreeRulesMixin
from baytree.tree.inspection.details import ImportanceTable, TreeDetails, importance_table, single_leaf_reason
from baytree.tree.inspection.node_records import nodes
from baytree.tree.learner import TreeLearner, refuse_text
from baytree.tree.model import routing as reading
from baytree.tree.model.intervals import NodeMoments, intervals
from baytree.tree.model.summary import class_names
from baytree.tree.model.traversal import depths, importances
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassWeighting, equal_costs
from baytree.tree.policy.policy import Branching, Policy
from baytree.tree.pruning import cost_complexity as pruning
from baytree.tree.pruning.bayesian_averaging import most_probable


class TreeAttributes(TreeDisplayMixin):
    """What a fitted tree looks like: its nodes, and how many there are."""

    _accepts_infinite = True
    _learns_infinite = True

    @property
    def n_nodes_(self) -> int:
        """The number of nodes, leaves included."""
        return len(self._tree)

    @property
    def n_leaves_(self) -> int:
        """The number of leaves."""
        return self._tree.n_leaves

    @property
    def depth_(self) -> int:
        """The number of tests on the longest way from the root to a leaf."""
        return int(depths(self._tree).max())

    def nodes(self) -> list[dict[str, Any]]:
        """One dict per node, depth first, in the words of the table; groups of numbers are intervals."""
        return nodes(self._tree, self.schema_)

    def apply(self, X: FrameLike) -> np.ndarray:
        """The id of the node where each row comes to rest: [n_rows]."""
        return reading.leaves(self._tree, self._encoded(X))

    def _learner(self, schema: Schema, **for_rows: Any) -> Learner:
        refuse_text(schema)
        return self._tree_learner(schema, **for_rows)

    def _tree_learner(self, schema: Schema) -> Learner:
        """The parameters, checked, as a learner of trees."""
        raise NotImplementedError(f"{type(self).__name__} must say how it grows")


class TreeEstimator(TreeRulesMixin, TreeAttributes):
    """The fitted tree, read in many ways. Mixed into the tree estimators."""

    averaging: str | None
    trace: bool
    _before: Self | None = None  # the estimator that this one was pruned from
    _done: str = ""  # how

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of each input's tests, and as a surrogate, as a proportion of the whole: [n_features_in_].

        Inputs that are not learnt from have 0.
        """
        tree = self._tree  # refused before fit
        return self.schema_.per_input(importances(tree, len(self.schema_)))

    def importances(self, unused: bool = False) -> ImportanceTable:
        """The importances as a table, the highest first: gains of a column's tests and as a substitute, tests and weight.

        Parameters
        ----------
        unused : bool, default=False
            Whether columns without a test are listed, too.
        """
        return importance_table(self._tree, self.schema_, unused)

    def summary(self) -> TreeDetails:
        """Everything about the tree, as rpart's `summary`: the pruning table, importances, and each node with its tests."""
        classes = class_names(self._tree, self.schema_)
        return TreeDetails(str(self.cost_complexity_path()), str(self.importances()), classes, tuple(self.nodes()))

    def cost_complexity_path(self, X: FrameLike = None, y: TargetLike = None) -> pruning.PruningPath:
        """The nested trees of cost-complexity pruning, not cross-validated; with rows, of the tree that they grow."""
        if X is None:
            return pruning.path(self._tree)
        from sklearn.base import clone

        return clone(self).fit(X, y).cost_complexity_path()

    def __str__(self) -> str:
        text = super().__str__()
        if not hasattr(self, "model_") or len(self._tree) > 1:
            return text
        return f"{text}\na single leaf: {self._why_one_leaf()}"

    def _why_one_leaf(self) -> str:
        if self._before is not None:
            return "it was pruned to the root"
        return single_leaf_reason(self._tree, self.schema_, self._checked_policy(self.schema_), self._own_names)

    _own_names: ClassVar[dict[str, str]] = {}  # of parameters that a policy has under other names

    def _checked_policy(self, schema: Schema) -> Policy:
        """What the parameters say, checked."""
        learner = self._tree_learner(schema)
        assert isinstance(learner, TreeLearner)
        return learner.policy

    def predict_interval(self, X: FrameLike, level: float = 0.95, held_out: FrameLike = None) -> np.ndarray:
        """Between which bounds the probability of each class, or the expected number, of a row's leaf lies.

        A tree's tests were chosen to tell its own rows apart, so what it counted in its leaves is surer than it may be.
        Rows that it has not learnt from, counted in the same leaves, give intervals that hold what they promise.

        Parameters
        ----------
        held_out : data frame, optional
            Rows with their target that the tree has not learnt from.

        Returns
        -------
        ndarray of shape (n_rows, n_classes, 2) or (n_rows, 2)
            The lower and the upper bound for each class, in the order of `classes_`, or of the mean. By rows of its own an
            interval holds the answer; by those held out it need not.
        """
        if held_out is None:
            return super().predict_interval(X, level)
        level = given.open_interval("level", level)
        rows = NodeMoments.of(self._tree, encode_labelled(self._predictor, held_out)[0])
        found = intervals(self._tree, self._encoded(X), level, rows)
        return found if self._tree.n_classes else found[:, 0]

    def prune(self, how: str = "cost_complexity", *args: Any, **options: Any) -> Self:
        """A new estimator with a smaller tree; `undo()` gives back the one before.

        Parameters
        ----------
        how : {'cost_complexity', 'bayes', ...}, default='cost_complexity'
            The way of pruning: a name in `baytree.tree.pruning.cost_complexity.PRUNERS`, or ``'bayes'`` for the pruning that
            is more probable than any other given the rows, with the prior of ``averaging='prunings'``.
        args : arguments
            What that way takes, such as the complexity.
        options : keyword arguments
            The same, by name.
        """
        if how == "bayes":
            return self._most_probable(*args, **options)
        if how not in pruning.PRUNERS:
            raise ValueError(f"how={how!r}: give one of {', '.join(map(repr, ['bayes', *pruning.PRUNERS]))}")
        smaller = pruning.PRUNERS[how](self._tree, *args, **options)
        return self._with_tree(smaller, written_call("prune", how, *args, **options))

    def _most_probable(self) -> Self:
        tree = self._tree
        if tree.averaging and not tree.n_classes:
            raise ValueError("the means of the nodes are averaged already; fit with averaging=None, then prune('bayes')")
        learner = self._tree_learner(self.schema_)
        weighs = isinstance(learner, TreeLearner)  # the drop-ins have put the weights of classes into the counts
        costs = learner.costs(tree, self.schema_) if weighs else equal_costs(tree.n_classes)
        n_columns = len(self.schema_) if self.profile_ is None else self.profile_.n_varying()
        return self._with_tree(most_probable(tree, n_columns, costs), written_call("prune", "bayes"))

    def _averages(self) -> bool:
        return given.one_of("averaging", self.averaging, (None, "prunings")) is not None

    def snip(self, node_id: int) -> Self:
        """A new estimator in which this node is a leaf; `undo()` gives back the one before.

        Parameters
        ----------
        node_id : int
            The id of the node, as in `nodes()`.
        """
        return self._with_tree(pruning.snip(self._tree, node_id), written_call("snip", node_id))

    def undo(self) -> Self:
        """The estimator before the last `snip` or `prune`."""
        if self._before is None:
            raise ValueError("nothing has been pruned, so there is nothing to undo")
        return self._before

    @property
    def history_(self) -> list[str]:
        """What was done to the fitted tree, the first step first; a model file keeps the tree, not the way to it."""
        done, step = [], self
        while step._before is not None:
            done.append(step._done)
            step = step._before
        return done[::-1]

    def _with_tree(self, tree: Tree, done: str, **parameters: object) -> Self:
        """The same estimator with another tree, and other parameters where given; `undo` leads back here."""
        other = copy.copy(self).set_params(**parameters)
        other.model_ = tree
        other._before, other._done = self, done
        return other

    def _set_fitted_state(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        self._before, self._done = None, ""  # a tree that is grown anew was not pruned
        super()._set_fitted_state(schema, learnt, has_text_names)


def written_call(name: str, *args: object, **options: object) -> str:
    """A call as it is written."""
    return f"{name}({', '.join([*map(repr, args), *(f'{key}={value!r}' for key, value in options.items())])})"


def constrained(policy: Policy, monotone: object, first_split: object, schema: Schema) -> Policy:
    """The policy with columns that the target must follow, and the one that the root asks for."""
    if monotone is None and first_split is None:
        return policy
    if policy.branching is not Branching.BINARY:
        raise ValueError(
            "monotone and first_split need splits of two branches: give branching='binary', and missing='learned', "
            "'surrogate', 'category' or 'largest'"
        )
    first, followed = given.column_or_none("first_split", first_split, schema), given.monotone(monotone, schema)
    return msgspec.structs.replace(policy, monotone=followed, first_split=first)


def weighing_of(priors: PriorsLike, costs: CostsLike, classes: Sequence[Any]) -> ClassWeighting:
    """What the classes weigh: probabilities that sum to 1, and the costs of mistakes."""
    shares = given.priors("priors", priors, classes)
    if shares is not None and abs(shares.amounts.sum() - 1) > 1e-6:
        raise ValueError(f"priors={priors!r}: give probabilities that sum to 1")
    return ClassWeighting(shares, given.costs(costs, classes))
