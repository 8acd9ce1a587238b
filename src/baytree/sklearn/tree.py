"""Drop-ins for scikit-learn's decision trees: its parameters, attributes and arrays, with baytree's exact split search."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import msgspec
import numpy as np
import numpy.typing as npt
from sklearn import tree as theirs
from sklearn.utils.validation import check_is_fitted

from baytree import _warnings, param_validation
from baytree._typing import CostsLike, FrameLike, RandomLike, RejectLike, TargetLike, WeightsLike
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
    """Base of both trees."""

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
        """Fit the tree to a table.

        Parameters
        ----------
        X : table
            Rows: a data frame, an array, or a sparse matrix. Numbers are rounded to float32, as in scikit-learn.
        y : array-like or str
            Labels, or the name of their column.
        sample_weight : array-like or str, optional
            Weight of each row.
        check_input : bool, default=True
            Accepted for compatibility; rows are always checked.
        """
        return self._fit(_singles(X), _one_output(y), sample_weight)

    def predict(self, X: FrameLike, check_input: bool = True) -> np.ndarray:
        """Predict the class, or the expected value, of each row.

        Parameters
        ----------
        X : table
            Rows.
        check_input : bool, default=True
            Accepted for compatibility.
        """
        return self._predictor.predict(_singles(X))

    def apply(self, X: FrameLike, check_input: bool = True) -> np.ndarray:
        """Leaf of each row, by its position in depth-first order. int64 [n_rows]

        Parameters
        ----------
        X : table
            Rows.
        check_input : bool, default=True
            Accepted for compatibility.
        """
        return places_in_order(self._tree)[routing.leaves(self._tree, self._encoded(_singles(X)))]

    def decision_path(self, X: FrameLike, check_input: bool = True) -> Any:
        """Indicator of the nodes on the path of each row. Sparse int64 [n_rows, n_nodes]

        Parameters
        ----------
        X : table
            Rows.
        check_input : bool, default=True
            Accepted for compatibility.
        """
        return ways(self._tree)[self.apply(X)]

    def get_depth(self) -> int:
        """Number of tests on the longest path from the root to a leaf."""
        return self.depth_

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        return self.n_leaves_

    def cost_complexity_pruning_path(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Any:
        """Penalties `ccp_alphas` at which splits are pruned, and total `impurities` of the remaining leaves.

        Parameters
        ----------
        X : table
            Rows.
        y : array-like or str
            Labels, or the name of their column.
        sample_weight : array-like or str, optional
            Weight of each row.
        """
        from sklearn.base import clone
        from sklearn.utils import Bunch

        full = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        alphas, impurities = impurity_path(full.model_)
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
        """Gain of each column's tests, as a proportion of the total. float64 [n_features]"""
        return super().feature_importances_

    @property
    def max_features_(self) -> int:
        """Number of columns that a node may choose from."""
        return _most_features(self.max_features, len(self.schema_))

    def _checked_policy(self, schema: Schema) -> Policy:
        learner = self._tree_learner(schema)
        assert isinstance(learner, ImpurityTree)
        return learner.policy

    def _impurity_tree(self, criterion: Criterion, schema: Schema, class_weight: ClassWeights) -> ImpurityTree:
        self._refuse()
        max_features = _most_features(self.max_features, len(schema))
        policy = Policy(criterion=criterion, stopping=self._stopping())
        if max_features < len(schema):
            policy = msgspec.structs.replace(policy, columns_per_node=max_features, seed=self._seed())
        return ImpurityTree(policy, self._sizes(), class_weight, param_validation.finite("ccp_alpha", self.ccp_alpha, 0))

    def _sizes(self) -> Sizes:
        number_of_rows("min_samples_leaf", self.min_samples_leaf, 1, 1)
        number_of_rows("min_samples_split", self.min_samples_split, 2, 1)
        min_fraction = param_validation.number("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0, 0.5)
        return Sizes(self.min_samples_split, self.min_samples_leaf, min_fraction)

    def _stopping(self) -> Stopping:
        leaves = param_validation.whole_or_none("max_leaf_nodes", self.max_leaf_nodes, 2)
        depth = param_validation.whole_or_none("max_depth", self.max_depth, 1)
        if leaves is not None:  # a tree with k leaves has depth k - 1 at most
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

    Ties between columns, which scikit-learn breaks at random, go to the earlier column and the lower threshold. Nominal
    columns are split into two groups of levels; such a tree has no `tree_`.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss'}, default='gini'
        Impurity measure that a split must reduce.
    splitter : {'best'}, default='best'
        Only the best split; 'random' raises an error.
    max_depth : int, optional
        Maximum depth of the tree, where the root has depth 0; no limit by default.
    min_samples_split : int or float, default=2
        Minimum number of rows, or fraction of the training rows, of a node that may be split.
    min_samples_leaf : int or float, default=1
        Minimum number of rows, or fraction of the training rows, of a branch.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight of a branch.
    max_features : int, float, {'sqrt', 'log2'} or None, default=None
        Number of columns that a node may choose from, drawn at random from those that could split it.
    random_state : int, RandomState or None, default=None
        Seed for drawing these columns; everything else is deterministic. The draws differ from scikit-learn's.
    max_leaf_nodes : int, optional
        Maximum number of leaves; the tree then grows best-first, by gain. No limit by default.
    min_impurity_decrease : float, default=0.0
        Minimum gain of a split (decrease of the criterion), per unit of the total weight.
    class_weight : dict, 'balanced' or None, default=None
        Weight of the rows of each class.
    ccp_alpha : float, default=0.0
        Complexity penalty per leaf: splits that are worth no more are pruned.
    monotonic_cst : None, default=None
        Not supported: must be None.

    Attributes
    ----------
    tree_ : sklearn.tree._tree.Tree
        scikit-learn's own arrays of the nodes.
    n_classes_ : int
        Number of classes.
    n_outputs_ : int
        Number of outputs, always 1.
    max_features_ : int
        Number of columns that a node may choose from.

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
        """Number of classes."""
        return len(self.classes_)

    def predict(
        self, X: FrameLike, check_input: bool = True, *, reject: RejectLike = None, costs: CostsLike = None
    ) -> np.ndarray:
        """Predict the class of each row; with `reject`, None for rejected rows.

        Parameters
        ----------
        X : table
            Rows.
        check_input : bool, default=True
            Accepted for compatibility.
        """
        return Classifier.predict(self, _singles(X), reject=reject, costs=costs)

    def predict_proba(self, X: FrameLike, check_input: bool = True) -> npt.NDArray[np.float64]:
        """Proportion of each class in the leaf of each row. float64 [n_rows, n_classes]

        Parameters
        ----------
        X : table
            Rows.
        check_input : bool, default=True
            Accepted for compatibility.
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
        Impurity measure that a split must reduce. 'friedman_mse' is a deprecated alias; 'absolute_error' and 'poisson'
        raise an error.
    splitter : {'best'}, default='best'
        Only the best split; 'random' raises an error.
    max_depth : int, optional
        Maximum depth of the tree, where the root has depth 0; no limit by default.
    min_samples_split : int or float, default=2
        Minimum number of rows, or fraction of the training rows, of a node that may be split.
    min_samples_leaf : int or float, default=1
        Minimum number of rows, or fraction of the training rows, of a branch.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight of a branch.
    max_features : int, float, {'sqrt', 'log2'} or None, default=None
        Number of columns that a node may choose from, drawn at random from those that could split it.
    random_state : int, RandomState or None, default=None
        Seed for drawing these columns; everything else is deterministic. The draws differ from scikit-learn's.
    max_leaf_nodes : int, optional
        Maximum number of leaves; the tree then grows best-first, by gain. No limit by default.
    min_impurity_decrease : float, default=0.0
        Minimum gain of a split (decrease of the criterion), per unit of the total weight.
    ccp_alpha : float, default=0.0
        Complexity penalty per leaf: splits that are worth no more are pruned.
    monotonic_cst : None, default=None
        Not supported: must be None.

    Attributes
    ----------
    tree_ : sklearn.tree._tree.Tree
        scikit-learn's own arrays of the nodes.
    n_outputs_ : int
        Number of outputs, always 1.
    max_features_ : int
        Number of columns that a node may choose from.

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


# `plot_tree`, `export_text` and SHAP check for instances of scikit-learn's classes, and only read `tree_`.
theirs.DecisionTreeClassifier.register(DecisionTreeClassifier)

theirs.DecisionTreeRegressor.register(DecisionTreeRegressor)


def _singles(X: FrameLike) -> FrameLike:
    """Numbers of an array, a list of rows or a sparse matrix as float32, as in scikit-learn; frames unchanged."""
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
    return np.asarray(y) if len(shape) == 2 else y  # a single column is flattened, with a warning, when labels are read


def _most_features(given: Any, n: int) -> int:
    if given is None:
        return n
    if isinstance(given, str):
        param_validation.one_of("max_features", given, ("sqrt", "log2"))
        return max(1, int(np.sqrt(n) if given == "sqrt" else np.log2(n)))
    if isinstance(given, Integral):
        return min(param_validation.integer("max_features", given, 1), n)
    return max(1, int(param_validation.number("max_features", given, 0, 1) * n))
