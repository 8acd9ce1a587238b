"""scikit-learn's decision trees: its parameters, attributes and arrays over the sorted search of this library."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import msgspec
import numpy as np
from sklearn import tree as theirs
from sklearn.utils.validation import check_is_fitted

from baytree import _warnings, param_validation
from baytree._typing import FrameLike, RandomLike, RejectLike, TargetLike, WeightsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.prediction import Classifier, Regressor
from baytree.estimators.tree.base import TreeEstimator
from baytree.param_validation import ClassWeights
from baytree.sklearn.base import SklearnCompatible
from baytree.sklearn.tree_learner import (
    ImpurityTree,
    Sizes,
    impurity_path,
    number_of_rows,
    places_in_order,
    sklearn_tree,
    ways,
)
from baytree.tree.model import routing
from baytree.tree.model.tree import Tree
from baytree.tree.policy.policy import Criterion, Policy, Stopping


class _DecisionTree(SklearnCompatible, TreeEstimator):
    """What both trees share."""

    criterion: str
    splitter: str
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    max_features: float | str | None
    random_state: RandomLike
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    ccp_alpha: float
    monotonic_cst: Any
    trace = False
    n_outputs_ = 1

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None, check_input: bool = True) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`.

        Parameters
        ----------
        X : table
            The rows: a frame, an array, or a sparse matrix. Numbers are read as float32, as scikit-learn reads them.
        y : array-like or str
            The labels, or the name of their column.
        sample_weight : array-like or str, optional
            The weight of each row.
        check_input : bool, default=True
            Accepted for scikit-learn's sake: rows are always checked.
        """
        return self._fit(_singles(X), _one_output(y), sample_weight)

    def predict(self, X: FrameLike, check_input: bool = True) -> np.ndarray:
        """The class, or the number, of each row.

        Parameters
        ----------
        X : table
            The rows.
        check_input : bool, default=True
            Accepted for scikit-learn's sake.
        """
        return self._predictor.predict(_singles(X))

    def apply(self, X: FrameLike, check_input: bool = True) -> np.ndarray:
        """The leaf of each row, by its place in depth-first order: [n_rows].

        Parameters
        ----------
        X : table
            The rows.
        check_input : bool, default=True
            Accepted for scikit-learn's sake.
        """
        return places_in_order(self._tree)[routing.leaves(self._tree, self._encoded(_singles(X)))]

    def decision_path(self, X: FrameLike, check_input: bool = True) -> Any:
        """Which nodes each row passes: a sparse matrix of 1 [n_rows, n_nodes].

        Parameters
        ----------
        X : table
            The rows.
        check_input : bool, default=True
            Accepted for scikit-learn's sake.
        """
        return ways(self._tree)[self.apply(X)]

    def get_depth(self) -> int:
        """The number of tests on the longest way from the root to a leaf."""
        return self.depth_

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return self.n_leaves_

    def cost_complexity_pruning_path(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Any:
        """The penalties `ccp_alphas` at which splits go, and the `impurities` of the leaves that are left.

        Parameters
        ----------
        X : table
            The rows.
        y : array-like or str
            The labels, or the name of their column.
        sample_weight : array-like or str, optional
            The weight of each row.
        """
        from sklearn.base import clone
        from sklearn.utils import Bunch

        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        alphas, impurities = impurity_path(whole.model_)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    @property
    def _tree(self) -> Tree:
        check_is_fitted(self, "model_")
        return self.model_

    @property
    def tree_(self) -> Any:
        """scikit-learn's own arrays of the nodes."""
        return sklearn_tree(self._tree, len(self.schema_))

    @property
    def feature_importances_(self) -> np.ndarray:
        """What each column's tests gained of the criterion, as shares of the whole: [n_features]."""
        return super().feature_importances_

    @property
    def max_features_(self) -> int:
        """How many columns a node may choose from."""
        return _most_features(self.max_features, len(self.schema_))

    def _checked_policy(self, schema: Schema) -> Policy:
        learner = self._tree_learner(schema)
        assert isinstance(learner, ImpurityTree)
        return learner.policy

    def _impurity_tree(self, criterion: Criterion, schema: Schema, class_weight: ClassWeights) -> ImpurityTree:
        self._refuse()
        most = _most_features(self.max_features, len(schema))
        policy = Policy(criterion=criterion, stopping=self._stopping())
        if most < len(schema):
            policy = msgspec.structs.replace(policy, columns_per_node=most, seed=self._seed())
        return ImpurityTree(policy, self._sizes(), class_weight, param_validation.finite("ccp_alpha", self.ccp_alpha, 0))

    def _sizes(self) -> Sizes:
        number_of_rows("min_samples_leaf", self.min_samples_leaf, 1, 1)
        number_of_rows("min_samples_split", self.min_samples_split, 2, 1)
        share = param_validation.number("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0, 0.5)
        return Sizes(self.min_samples_split, self.min_samples_leaf, share)

    def _stopping(self) -> Stopping:
        leaves = param_validation.whole_or_none("max_leaf_nodes", self.max_leaf_nodes, 2)
        depth = param_validation.whole_or_none("max_depth", self.max_depth, 1)
        if leaves is not None:  # a deeper tree has more leaves
            depth = leaves - 1 if depth is None else min(leaves - 1, depth)
        gain = param_validation.finite("min_impurity_decrease", self.min_impurity_decrease, 0)
        return Stopping(max_depth=depth, max_leaves=leaves, min_gain=gain, takes_no_gain=True)

    def _seed(self) -> int:
        from sklearn.utils import check_random_state

        return int(check_random_state(self.random_state).randint(2**31))

    def _refuse(self) -> None:
        param_validation.one_of("splitter", self.splitter, ("best", "random"))
        if self.splitter == "random":
            raise ValueError("splitter='random' is not supported; use splitter='best' or scikit-learn's ExtraTree")
        if self.monotonic_cst is not None:
            raise ValueError("monotonic_cst is not supported; use scikit-learn's tree")


class DecisionTreeClassifier(_DecisionTree, Classifier):
    """scikit-learn's DecisionTreeClassifier.

    Ties between columns, which scikit-learn decides by chance, go to the earlier column and the lower cut. Columns of levels
    are split into two groups of levels; such a tree has no `tree_`.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss'}, default='gini'
        What a split is to improve.
    splitter : {'best'}, default='best'
        The best split of all; 'random' is refused.
    max_depth : int, optional
        The root has depth 0; no limit by default.
    min_samples_split : int or float, default=2
        A node of fewer rows, or of a smaller share of them, is not split.
    min_samples_leaf : int or float, default=1
        A branch holds at least this many rows, or this share of them.
    min_weight_fraction_leaf : float, default=0.0
        A branch holds at least this share of the weight.
    max_features : int, float, {'sqrt', 'log2'} or None, default=None
        How many columns a node may choose from, drawn among those that could split it.
    random_state : int, RandomState or None, default=None
        The seed of that draw; nothing else is left to chance. The draws are not scikit-learn's.
    max_leaf_nodes : int, optional
        The splits of largest gain come first, until there are so many leaves.
    min_impurity_decrease : float, default=0.0
        The least that a split must gain of the criterion, per unit of the table's weight.
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts for.
    ccp_alpha : float, default=0.0
        The penalty per leaf: splits that are not worth more are pruned.
    monotonic_cst : None, default=None
        Refused unless None.

    Attributes
    ----------
    tree_ : sklearn.tree._tree.Tree
        scikit-learn's own arrays of the nodes.
    n_classes_ : int
        The number of classes.
    n_outputs_ : int
        1.
    max_features_ : int
        How many columns a node may choose from.

    Examples
    --------
    >>> from baytree.sklearn import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> model.predict([[2.4]]).tolist(), model.tree_.threshold.tolist()
    (['a'], [2.5, -2.0, -2.0])
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: RandomLike = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict | str | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    def predict(self, X: FrameLike, check_input: bool = True, *, reject: RejectLike = None) -> np.ndarray:
        """The class of each row; with `reject`, None where none is worth giving.

        Parameters
        ----------
        X : table
            The rows.
        check_input : bool, default=True
            Accepted for scikit-learn's sake.
        """
        return Classifier.predict(self, _singles(X), reject=reject)

    def predict_proba(self, X: FrameLike, check_input: bool = True) -> np.ndarray:
        """The share of each class in the leaf of each row.

        Parameters
        ----------
        X : table
            The rows.
        check_input : bool, default=True
            Accepted for scikit-learn's sake.
        """
        return self._predictor.predict_proba(_singles(X))

    def _tree_learner(self, schema: Schema) -> ImpurityTree:
        criteria = {"gini": Criterion.GINI, "entropy": Criterion.ENTROPY, "log_loss": Criterion.ENTROPY}
        criterion = criteria[param_validation.one_of("criterion", self.criterion, criteria)]
        return self._impurity_tree(criterion, schema, param_validation.class_weights(self.class_weight, schema.classes))


class DecisionTreeRegressor(_DecisionTree, Regressor):
    """scikit-learn's DecisionTreeRegressor, by least squares.

    Parameters
    ----------
    criterion : {'squared_error'}, default='squared_error'
        What a split is to improve; 'friedman_mse' is the same and deprecated, 'absolute_error' and 'poisson' are refused.
    splitter : {'best'}, default='best'
        The best split of all; 'random' is refused.
    max_depth : int, optional
        The root has depth 0; no limit by default.
    min_samples_split : int or float, default=2
        A node of fewer rows, or of a smaller share of them, is not split.
    min_samples_leaf : int or float, default=1
        A branch holds at least this many rows, or this share of them.
    min_weight_fraction_leaf : float, default=0.0
        A branch holds at least this share of the weight.
    max_features : int, float, {'sqrt', 'log2'} or None, default=None
        How many columns a node may choose from, drawn among those that could split it.
    random_state : int, RandomState or None, default=None
        The seed of that draw; nothing else is left to chance. The draws are not scikit-learn's.
    max_leaf_nodes : int, optional
        The splits of largest gain come first, until there are so many leaves.
    min_impurity_decrease : float, default=0.0
        The least that a split must gain of the criterion, per unit of the table's weight.
    ccp_alpha : float, default=0.0
        The penalty per leaf: splits that are not worth more are pruned.
    monotonic_cst : None, default=None
        Refused unless None.

    Attributes
    ----------
    tree_ : sklearn.tree._tree.Tree
        scikit-learn's own arrays of the nodes.
    n_outputs_ : int
        1.
    max_features_ : int
        How many columns a node may choose from.

    Examples
    --------
    >>> from baytree.sklearn import DecisionTreeRegressor
    >>> DecisionTreeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 1.0, 5.0]).predict([[2.4], [2.6]]).tolist()
    [1.0, 5.0]
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: RandomLike = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst

    def _tree_learner(self, schema: Schema) -> ImpurityTree:
        param_validation.one_of("criterion", self.criterion, ("squared_error", "friedman_mse", "absolute_error", "poisson"))
        if self.criterion == "friedman_mse":
            _warnings.warn("criterion 'friedman_mse' is deprecated; use 'squared_error', which is the same", FutureWarning)
        elif self.criterion != "squared_error":
            raise ValueError(f"criterion={self.criterion!r} is not supported; use 'squared_error'")
        return self._impurity_tree(Criterion.SSE, schema, ClassWeights())


# `plot_tree`, `export_text` and SHAP ask for an instance of scikit-learn's classes, and read `tree_` alone.
theirs.DecisionTreeClassifier.register(DecisionTreeClassifier)

theirs.DecisionTreeRegressor.register(DecisionTreeRegressor)


def _singles(X: FrameLike) -> FrameLike:
    """Numbers of an array, a list of rows or a sparse matrix as float32, as scikit-learn reads them; frames as they came."""
    values: Any = np.asarray(X) if isinstance(X, (list, tuple)) else X
    if not hasattr(values, "dtype") or not hasattr(values, "ndim") or values.ndim != 2 or values.dtype.kind not in "fiub":
        return X
    if hasattr(values, "tocsr"):
        if np.isnan(np.asarray(values.tocsr().data, np.float64)).any():
            raise ValueError("Input X contains NaN; a sparse matrix may not")
        values = values.toarray()
    with np.errstate(over="ignore"):
        singles = values.astype(np.float32)
    if np.isinf(singles).any():
        what = "infinity" if np.isinf(np.asarray(values, np.float64)).any() else "a value too large for dtype('float32')"
        raise ValueError(f"Input X contains {what}; trees read numbers as float32")
    return singles


def _one_output(y: TargetLike) -> TargetLike:
    if hasattr(y, "tocsr"):
        raise TypeError("y is a sparse matrix; give the labels as an array")
    shape = getattr(y, "shape", None) or (np.shape(y) if isinstance(y, (list, tuple)) else ())
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(f"y has {shape[1]} columns: multi-output is not supported; fit a tree for each")
    return np.asarray(y) if len(shape) == 2 else y  # a column is made flat, with a warning, where labels are read


def _most_features(given: Any, n: int) -> int:
    if given is None:
        return n
    if isinstance(given, str):
        param_validation.one_of("max_features", given, ("sqrt", "log2"))
        return max(1, int(np.sqrt(n) if given == "sqrt" else np.log2(n)))
    if isinstance(given, Integral):
        return min(param_validation.integer("max_features", given, 1), n)
    return max(1, int(param_validation.number("max_features", given, 0, 1) * n))
