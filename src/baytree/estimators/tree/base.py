"""Base classes of tree estimators: node table, importances, intervals, pruning and its history.

`TreeAttributes` is for all estimators that contain a tree (also boosted trees and trees with naive Bayes leaves);
`TreeEstimator` adds what needs a model that is a single tree, such as `prune`, `snip` and `undo`.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import msgspec
import numpy as np

from baytree import param_validation as given
from baytree._typing import CostsLike, FrameLike, PriorsLike, TargetLike, WeightsLike
from baytree.base.labelled_rows import encode_labelled
from baytree.base.learner import FitResult, Learner
from baytree.data.encoding import labels
from baytree.data.encoding.sample import labelled
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.estimators.base import PreparedRows
from baytree.estimators.tree.display import TreeDisplayMixin, TreeRulesMixin
from baytree.param_validation import reject_text_columns
from baytree.tree.growing.cart import best_step
from baytree.tree.inspection.details import ImportanceTable, TreeDetails, importance_table, single_leaf_reason
from baytree.tree.inspection.node_records import nodes
from baytree.tree.learner import TEXT_REMEDY, TreeLearner
from baytree.tree.model import routing as reading
from baytree.tree.model.intervals import NodeMoments, intervals
from baytree.tree.model.summary import class_names
from baytree.tree.model.traversal import depths, importances
from baytree.tree.model.tree import Tree
from baytree.tree.optimal.learner import OptimalTreeLearner
from baytree.tree.policy.class_costs import ClassWeighting, equal_costs
from baytree.tree.policy.policy import Branching, CrossValidated, Policy, ReferenceProgram
from baytree.tree.pruning import cost_complexity as pruning
from baytree.tree.pruning.bayesian_averaging import most_probable
from baytree.tree.pruning.by_error import error_based, reduced_error
from baytree.tree.pruning.pessimistic_error import pessimism


class TreeAttributes(TreeDisplayMixin):
    """Size, depth, nodes and leaf ids of a fitted tree."""

    _accepts_infinite = True
    _learns_infinite = True

    @property
    def n_nodes_(self) -> int:
        """Number of nodes, including leaves."""
        return len(self._tree)

    @property
    def n_leaves_(self) -> int:
        """Number of leaves."""
        return self._tree.n_leaves

    @property
    def depth_(self) -> int:
        """Number of tests on the longest path from the root to a leaf."""
        return int(depths(self._tree).max())

    def nodes(self) -> list[dict[str, Any]]:
        """One dict per node in depth-first order, with raw levels and units; groups of numbers are intervals."""
        return nodes(self._shown_tree, self.schema_)

    def apply(self, X: FrameLike) -> np.ndarray:
        """Id of the node in which each row ends. int64 [n_rows]"""
        return reading.leaves(self._tree, self._encoded(X))

    def _learner(self, schema: Schema, **for_rows: Any) -> Learner:
        reject_text_columns(schema, "a tree", TEXT_REMEDY)
        return self._tree_learner(schema, **for_rows)

    def _tree_learner(self, schema: Schema) -> Learner:
        """Build the tree learner from the validated parameters."""
        raise NotImplementedError(f"{type(self).__name__} must implement _tree_learner")


class TreeEstimator(TreeRulesMixin, TreeAttributes):
    """Mixin of estimators whose model is one tree: importances, summary, pruning."""

    averaging: str | None
    trace: bool
    _before: Self | None = None  # the estimator that this one was pruned from
    _done: str = ""  # the call that pruned it

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of each column's tests and surrogates, as a proportion of the total. float64 [n_features_in_]

        Columns that are not used for training have 0.
        """
        tree = self._tree  # raises NotFittedError before fit
        return self.schema_.per_input(importances(tree, len(self.schema_)))

    def importances(self, unused: bool = False) -> ImportanceTable:
        """Table of importances, highest first: gain of each column's tests and surrogates, number and weight of tests.

        Parameters
        ----------
        unused : bool, default=False
            Whether to list columns without a test, too.
        """
        return importance_table(self._tree, self.schema_, unused)

    def summary(self) -> TreeDetails:
        """Full description of the tree, like rpart's `summary`: pruning table, importances, and each node with its tests."""
        classes = class_names(self._tree, self.schema_)
        return TreeDetails(str(self.cost_complexity_path()), str(self.importances()), classes, tuple(self.nodes()))

    def cost_complexity_path(
        self, X: FrameLike = None, y: TargetLike = None, sample_weight: WeightsLike = None
    ) -> pruning.PruningPath:
        """Nested trees of cost-complexity pruning; with rows, of a tree grown from them, with cross-validated errors.

        The errors come from 10 folds, or from the folds of the parameter `cv`. Streaming and optimal trees are grown from
        the rows, too, but not cross-validated.
        """
        if X is None:
            return self._path()
        prepared = self._prepare_rows(X, y, sample_weight)
        learner = self._learner(prepared.rows.schema, **self._row_dependent_settings(prepared))
        if not isinstance(learner, TreeLearner):
            from sklearn.base import clone

            return clone(self).fit(X, y, sample_weight)._path()
        return learner.validated_path(prepared.rows, self._path_validation(prepared))

    def _path(self) -> pruning.PruningPath:
        return pruning.path(pruning.penalized(self._tree))

    def _path_validation(self, entered: PreparedRows) -> CrossValidated:
        """Folds of the cross-validated errors of a path."""
        return CrossValidated(rule="min")

    def __str__(self) -> str:
        text = super().__str__()
        if not hasattr(self, "model_") or len(self._tree) > 1:
            return text
        return f"{text}\na single leaf: {self._why_one_leaf()}"

    def _why_one_leaf(self) -> str:
        if self._before is not None:
            return "it was pruned to the root"
        return single_leaf_reason(self._tree, self.schema_, self._checked_policy(self.schema_), self._own_names)

    _own_names: ClassVar[dict[str, str]] = {}  # policy setting -> this estimator's name for the parameter

    def _checked_policy(self, schema: Schema) -> Policy:
        """Policy that follows from the validated parameters."""
        learner = self._learner_of_settings(schema)
        assert isinstance(learner, TreeLearner)
        return learner.policy

    def _learner_of_settings(self, schema: Schema) -> Learner:
        """Learner that is asked for its settings and learns nothing."""
        return self._tree_learner(schema)

    def predict_interval(self, X: FrameLike, level: float = 0.95, held_out: FrameLike = None) -> np.ndarray:
        """Confidence intervals of the class probabilities, or of the expected value, in the leaf of each row.

        The tests of a tree are chosen to separate its own training rows, so intervals from the training counts of a leaf are
        too narrow. Intervals from held-out rows, counted in the same leaves, have the nominal coverage.

        Parameters
        ----------
        held_out : data frame, optional
            Rows with their target that were not used for training.

        Returns
        -------
        ndarray of shape (n_rows, n_classes, 2) or (n_rows, 2)
            Lower and upper bound for each class, in the order of `classes_`, or of the mean. Intervals from the training
            rows always contain the prediction; intervals from held-out rows need not.
        """
        if held_out is None:
            return super().predict_interval(X, level)
        level = given.open_interval("level", level)
        rows = NodeMoments.of(self._tree, encode_labelled(self._predictor, held_out)[0])
        bounds = intervals(self._tree, self._encoded(X), level, rows)
        return bounds if self._tree.n_classes else bounds[:, 0]

    def prune(self, how: str = "cost_complexity", *args: Any, **options: Any) -> Self:
        """Return a new estimator with a pruned tree; its `undo()` returns this one.

        Penalties are on one scale: `alpha` is the error per row (numbers: the squared error per row) that each further leaf
        must save, and ``cp = alpha / error per row of the root`` the same relative to the root.

        Parameters
        ----------
        how : str, default='cost_complexity'
            Pruning method:

            - ``'cost_complexity'``: splits that save more than a penalty per leaf remain. Give `cp` or `alpha`; with
              ``by='impurity'`` the criterion takes the place of the error, and `alpha` is scikit-learn's `ccp_alpha`.
            - ``'1se'``, ``'min'``: the same, with the penalty chosen by cross-validation on the rows `X`, `y`, as by the
              parameter `pruning` of `CARTClassifier`.
            - ``'error_based'``: by a pessimistic estimate of the errors at `confidence` (0.25), as in C4.5; rows are only
              of use for C4.5, which may then raise subtrees. Classification only.
            - ``'reduced_error'``: by the errors on the held-out rows `X`, `y`. Classification only.
            - ``'bayes'``: the pruning of largest posterior probability, with the prior of ``averaging='prunings'``.
            - ``'collapse'``: splits below which all leaves predict the same are removed.
            - ``'max_leaves'``: the splits of largest gain remain, up to that number of leaves.
            - ``'snip'``: the node of that number becomes a leaf.
        args : arguments
            Arguments of the method, in the order above.
        options : keyword arguments
            The same by name.

        Examples
        --------
        >>> import baytree as bt
        >>> tree = bt.DecisionTreeClassifier().fit(bt.datasets.load("iris"), "species")
        >>> tree.n_leaves_, tree.prune(cp=0.02).n_leaves_, tree.prune(alpha=0.02 * 2 / 3).n_leaves_
        (9, 3, 3)
        """
        methods = {
            **{name: partial(pruner, self._tree) for name, pruner in pruning.PRUNERS.items()},
            **{rule: partial(self._at_validated_penalty, rule) for rule in ("1se", "min")},
            "error_based": self._by_estimate,
            "reduced_error": self._on_held_out,
            "bayes": self._most_probable,
        }
        if how not in methods:
            raise ValueError(f"how={how!r}: give one of {', '.join(map(repr, methods))}")
        values = [value for value in args if isinstance(value, int | float | str)]  # the history does not hold rows
        named = {name: value for name, value in options.items() if isinstance(value, int | float | str)}
        return self._with_tree(methods[how](*args, **options), written_call("prune", how, *values, **named))

    def _at_validated_penalty(
        self, rule: str, X: FrameLike = None, y: TargetLike = None, sample_weight: WeightsLike = None
    ) -> Tree:
        if X is None:
            raise ValueError(f"prune({rule!r}) cross-validates the penalty: give the training rows X and y")
        steps = self.cost_complexity_path(X, y, sample_weight)
        if not len(steps.error):
            raise ValueError(f"prune({rule!r}): {self._no_errors(steps)}")
        return pruning.cost_complexity(self._tree, float(steps.cp[best_step(steps, rule)]))

    def _no_errors(self, steps: pruning.PruningPath) -> str:
        if len(steps.splits) == 1:
            return "the rows grow a single leaf, so there is no penalty to choose"
        return f"{type(self).__name__} is not cross-validated; give prune('cost_complexity', cp=...)"

    def _by_estimate(self, X: FrameLike = None, y: TargetLike = None, *, confidence: float = 0.25) -> Tree:
        self._refuse_numbers("error_based")
        return error_based(self._tree, pessimism(ReferenceProgram.C45, given.number("confidence", confidence, 1e-6, 1)))

    def _on_held_out(self, X: FrameLike = None, y: TargetLike = None) -> Tree:
        self._refuse_numbers("reduced_error")
        if X is None:
            raise ValueError("prune('reduced_error') needs held-out rows: give X and y")
        return reduced_error(self._tree, self._labelled(X, y))

    def _refuse_numbers(self, how: str) -> None:
        if not self._tree.n_classes:
            raise ValueError(
                f"prune({how!r}) is for classification trees; for numbers use 'cost_complexity', '1se' or 'min'"
            )

    def _labelled(self, X: FrameLike, y: TargetLike) -> Table:
        """Rows with labels, encoded with the schema of the fit."""
        table = self._encoded(X)
        label = labelled(X, y, self._labels, type(self).__name__)[1]
        codes = labels.recode(label, self.schema_.target)
        table = msgspec.structs.replace(table, label=codes)
        return table if (codes >= 0).all() else table.take(codes >= 0)

    def _most_probable(self) -> Tree:
        tree = self._tree
        if tree.averaging and not tree.n_classes:
            raise ValueError("prune('bayes') needs the node means before averaging; fit with averaging=None first")
        learner = self._learner_of_settings(self.schema_)
        # the learner of the scikit-learn drop-ins has class weights in the counts already
        has_weighting = isinstance(learner, TreeLearner | OptimalTreeLearner)
        costs = learner.costs(tree, self.schema_) if has_weighting else equal_costs(tree.n_classes)
        n_columns = len(self.schema_) if self.profile_ is None else self.profile_.n_varying()
        return most_probable(tree, n_columns, costs)

    def _averages(self) -> bool:
        return given.one_of("averaging", self.averaging, (None, "prunings")) is not None

    def snip(self, node_id: int) -> Self:
        """Return a new estimator in which this node is a leaf; its `undo()` returns this one.

        Parameters
        ----------
        node_id : int
            Id of the node, as in `nodes()`.
        """
        return self._with_tree(pruning.snip(self._tree, node_id), written_call("snip", node_id))

    def undo(self) -> Self:
        """Return the estimator before the last `snip` or `prune`."""
        if self._before is None:
            raise ValueError("nothing has been pruned, so there is nothing to undo")
        return self._before

    @property
    def history_(self) -> list[str]:
        """Calls that pruned the fitted tree, oldest first. Model files store the tree without its history."""
        calls, step = [], self
        while step._before is not None:
            calls.append(step._done)
            step = step._before
        return calls[::-1]

    def _with_tree(self, tree: Tree, done: str, **parameters: object) -> Self:
        """Copy of the estimator with another tree and possibly other parameters; `undo` of the copy returns this one."""
        other = copy.copy(self).set_params(**parameters)
        other.model_ = tree
        other._before, other._done = self, done
        return other

    def _set_fitted_state(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        super()._set_fitted_state(schema, learnt, has_text_names)
        self._before, self._done = None, ""  # a new fit resets the pruning history


def written_call(name: str, *args: object, **options: object) -> str:
    """Source text of a call, for the history."""
    return f"{name}({', '.join([*map(repr, args), *(f'{key}={value!r}' for key, value in options.items())])})"


def constrained(policy: Policy, monotone: object, first_split: object, schema: Schema) -> Policy:
    """Policy with monotonic constraints and the given first split."""
    if monotone is not None and policy.branching is not Branching.BINARY:
        raise ValueError(
            "monotone needs binary splits: give branching='binary', and missing='learned', "
            "'surrogate', 'category' or 'largest'"
        )
    if first_split is not None and policy.branching is Branching.MERGE:
        raise ValueError("first_split is not available with branching='merge'; give branching='binary' or 'multiway'")
    first, constraints = given.column_or_none("first_split", first_split, schema), given.monotone(monotone, schema)
    return msgspec.structs.replace(policy, monotone=constraints, first_split=first)


def weighing_of(priors: PriorsLike, costs: CostsLike, classes: Sequence[Any]) -> ClassWeighting:
    """Validated priors and misclassification costs; priors must sum to 1."""
    probabilities = given.priors("priors", priors, classes)
    if probabilities is not None and abs(probabilities.amounts.sum() - 1) > 1e-6:
        raise ValueError(f"priors={priors!r}: give probabilities that sum to 1")
    return ClassWeighting(probabilities, given.costs(costs, classes))
