"""Decision trees whose leaves are naive Bayes models where the data support it.

Related to NBTree (Kohavi 1996), with Bayesian averaging over prunings instead of cross-validated growth; the learner is in
`hybrid`.
"""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from baytree import param_validation as given
from baytree._typing import CostsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.prediction import Classifier
from baytree.estimators.tree.base import TreeAttributes
from baytree.estimators.tree.decision_tree import CLASS_CRITERIA
from baytree.hybrid.learner import NBTreeLearner
from baytree.naive_bayes.events.estimation import Estimation
from baytree.naive_bayes.events.registry import default_event, grouped
from baytree.naive_bayes.learner import NaiveBayesLearner
from baytree.tree.learner import TreeLearner
from baytree.tree.model.tree import Tree
from baytree.tree.policy.policy import Criterion, Missing, Policy, Stopping
from baytree.tree.pruning.bayesian_averaging import CLASS_PSEUDO_ROWS


class NBTreeClassifier(TreeAttributes, Classifier):
    """Decision tree whose leaves are naive Bayes models where the training rows support it.

    A tree is grown, and predictions are averaged over all its prunings, as with ``averaging='prunings'``. Each leaf of a
    pruning is either a table of class counts or a naive Bayes model of its rows. The prior probability of naive Bayes is one
    in ten; its posterior follows from the leave-one-out probabilities that both give to the classes of the node's rows. So
    plain naive Bayes and an averaged tree are the two extremes between which the data choose.

    Parameters
    ----------
    criterion : {'error', 'entropy', 'gini', 'gain_ratio', 'twoing', 'chi2', 'likelihood_ratio'}, default='entropy'
        Impurity measure that a split must reduce.
    max_depth : int, optional
        Maximum depth of the tree, where the root has depth 0; no limit by default.
    min_split : float, default=2
        Minimum weight of a node that may be split.
    min_leaf : float, default=5
        Minimum weight of a branch.
    min_bayes : float, default=30
        Minimum weight of a node that may have a naive Bayes model.
    alpha : float, default=1.0
        Pseudo-count of levels in the naive Bayes models; 1 is Laplace's rule.

    Attributes
    ----------
    naive_bayes_ : dict
        Posterior probability that a node, as a leaf, is naive Bayes, by node id. Models with less than 1 % of the weight of
        a prediction are left out.

    Notes
    -----
    NBTree [1]_ grows its tree by cross-validated accuracy and has a naive Bayes model in every leaf; here the tree is grown
    as any other, and the average decides. Naive Bayes and the counts of a node are compared by their pseudo-Bayes factor
    [2]_. Numeric columns are normal in each class of a node, levels have probabilities. Rows with a missing value go to the
    side where such rows fit best, and the missing value is ignored by naive Bayes. An explanation lists the change of the
    probabilities by each test, then by each value, in the order of the columns.

    References
    ----------
    .. [1] Kohavi, R. (1996). Scaling up the accuracy of naive-Bayes classifiers: A decision-tree hybrid. KDD 2.
    .. [2] Geisser, S. and Eddy, W. F. (1979). A predictive approach to model selection. JASA 74.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.NBTreeClassifier().fit(bt.datasets.load("iris"), "species")  # here naive Bayes does best, without a split
    >>> print(model)
    150 rows: setosa (setosa 50, versicolor 50, virginica 50)
    <BLANKLINE>
    naive Bayes of all rows: the whole prediction
                         setosa     versicolor      virginica
    prior                 0.333          0.333          0.333
    sepal_length  5.017 ± 0.364  5.935 ± 0.521  6.579 ± 0.638
    sepal_width   3.417 ± 0.381  2.779 ± 0.318  2.976 ± 0.326
    petal_length  1.465 ± 0.194  4.259 ± 0.474  5.549 ± 0.554
    petal_width   0.248 ± 0.113    1.326 ± 0.2  2.025 ± 0.275
    prior: a class's spread leans on that within all classes, as on 2 rows of its
      own, its mean on the column's
    >>> model = bt.NBTreeClassifier().fit(bt.datasets.load("titanic"), "survived")  # here a tree
    >>> model.n_leaves_, sorted(model.naive_bayes_)
    (8, [1, 3, 4, 5, 6, 11, 12, 14])
    """

    _accepts_infinite = False  # a normal distribution has no density at infinity
    _learns_infinite = False

    def __init__(
        self,
        *,
        criterion: str = "entropy",
        max_depth: int | None = None,
        min_split: float = 2,
        min_leaf: float = 5,
        min_bayes: float = 30,
        alpha: float = 1.0,
        costs: CostsLike = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.min_bayes = min_bayes
        self.alpha = alpha
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def tree_(self) -> Tree:
        """The tree as flat arrays; its values are averages over all prunings by counts alone."""
        check_is_fitted(self, "model_")
        return self.model_.tree

    @property
    def naive_bayes_(self) -> dict[int, float]:
        """Posterior probability that each node, as a leaf, is naive Bayes, by node id."""
        check_is_fitted(self, "model_")
        return dict(zip(self.model_.node.tolist(), self.model_.chosen.tolist(), strict=True))

    def _tree_learner(self, schema: Schema) -> NBTreeLearner:
        criterion = Criterion(given.one_of("criterion", self.criterion, CLASS_CRITERIA))
        policy = Policy(criterion=criterion, missing=Missing.LEARNED, stopping=self._stopping())
        estimation = Estimation(alpha=given.positive("alpha", self.alpha), class_alpha=CLASS_PSEUDO_ROWS)
        groups = grouped([default_event(column, "gaussian") for column in schema.columns])
        bayes = NaiveBayesLearner(groups, estimation)
        return NBTreeLearner(TreeLearner(policy), bayes, given.number("min_bayes", self.min_bayes, 0))

    def _stopping(self) -> Stopping:
        return Stopping(
            max_depth=given.whole_or_none("max_depth", self.max_depth, 0),
            min_split=given.number("min_split", self.min_split, 0),
            min_leaf=given.number("min_leaf", self.min_leaf, 0),
        )
