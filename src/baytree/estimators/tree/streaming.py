"""Incremental decision tree for streams: Hoeffding trees that revise their splits.

The same rows in the same order give the same tree, in whatever batches they arrive. Splitting and revision are in
`tree.streaming` and the C++ core (`TreeStream`); adaptive naive Bayes leaves are in `hybrid`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation as given
from baytree._core import TreeStream
from baytree._typing import CostsLike, FrameLike, TargetLike, WeightsLike
from baytree.base.learner import FitResult, joined_profiles
from baytree.data.inference.infer import merge_profiles
from baytree.data.schema.schema import Schema
from baytree.display.terminal import plain
from baytree.engine.partitions import LocalPartitions
from baytree.estimators.base import _STATE_LOCK
from baytree.estimators.incremental import IncrementalEstimator, check_common_classes, with_classes
from baytree.estimators.prediction import Classifier
from baytree.estimators.tree.base import TreeEstimator
from baytree.hybrid.learner import AdaptiveStreamLearner
from baytree.hybrid.model import BayesTree
from baytree.param_validation import reject_text_columns
from baytree.tree.learner import TEXT_REMEDY
from baytree.tree.model.tree import Tree
from baytree.tree.policy.policy import Criterion
from baytree.tree.rules.rule_set import RuleSet
from baytree.tree.streaming.learner import StreamLearner, StreamStatistic, under

_SETTINGS = ("leaves", "revise", "criterion", "confidence", "grace", "tie", "max_depth", "max_bins")

_LEARNERS: dict[str, type[StreamLearner]] = {"counts": StreamLearner, "adaptive": AdaptiveStreamLearner}


class StreamingTreeClassifier(TreeEstimator, Classifier, IncrementalEstimator):
    """Incremental decision tree that splits a leaf when the evidence suffices and revises splits when the evidence changes.

    Leaves count classes and, by class, the levels, numbers and missing values of each column. A leaf is evaluated after
    `grace` rows, and again whenever a sixteenth more have arrived. Evidence is measured in bits: a gain of g bits per row in
    n rows is n · g, minus the cost of naming the test among those of its column. A decision needs log2(1 / `confidence`)
    bits of evidence: that a test is better than none, before a leaf is split, or that it is better than another test.

    With `revise`, every node keeps counting. A threshold moves if another one of the column is better with that certainty.
    Any other test replaces the old one, with new leaves below, if it is better with that certainty and its gain is larger by
    twice `tie`. Without `revise`, only leaves count, and a leaf is split if its best test is better, with that certainty,
    than those of all other columns.

    Rows are processed one by one, in order. The tree does not depend on how they are divided into batches; one `fit` gives
    the same tree. A row of weight k equals k copies of the row in its place.

    With ``leaves='adaptive'``, a node predicts the class of each row before counting it, once by its class counts and once
    by naive Bayes, and uses whichever was correct more often [3]_. With `revise`, an inner node whose naive Bayes was
    correct more often than the subtree below it predicts itself: the tree is shown, and predicts, down to such nodes.

    Parameters
    ----------
    leaves : {'counts', 'adaptive'}, default='counts'
        Whether leaves predict with their class proportions, or with naive Bayes where that was correct more often. Adaptive
        leaves are more accurate if class boundaries are oblique, but are longer to read, have no intervals, and cannot be
        pruned.
    revise : bool, default=True
        Whether inner nodes keep counting and change their tests, as in Hoeffding anytime trees [2]_; with False, splits come
        later and are final, as in Hoeffding trees [1]_, and training is faster.
    criterion : {'entropy', 'gini'}, default='entropy'
        Impurity measure that a split must reduce. Evidence is always measured by entropy.
    confidence : float, default=1e-7
        Probability of a wrong decision.
    grace : float, default=200
        Weight of rows after which a leaf is evaluated for the first time.
    tie : float, default=0.05
        Difference below which gains count as equal. Without `revise`, the better test is taken once the Hoeffding bound is
        below it; with `revise`, a test and the subtree below are replaced only for a gain of more than twice this.
    max_depth : int, optional
        Maximum depth of the tree, where the root has depth 0; no limit by default.
    max_bins : int, default=64
        Maximum number of distinct values per numeric column and node. More values are counted in bins of equal width (the
        smallest power of two that gives no more than this many bins); thresholds are then at the edges of bins.

    Attributes
    ----------
    n_seen_ : int
        Number of training rows so far.
    n_revisions_ : int
        Number of splits that were revised.
    naive_bayes_ : tuple of int
        Ids of the leaves that predict with naive Bayes.
    statistic_ : StreamSeen
        Statistic of the training rows, from which `partial_fit` and `merge` continue.
    seen_ : StreamSeen
        Older name of `statistic_`.

    Notes
    -----
    A new leaf starts with the class counts known from its parent's column, and counts the rows that arrive. When it is split
    in turn, the initial counts are divided between the branches in proportion to the rows since, in whole numbers. So a node
    shows as many rows as reached it, but the distribution of earlier rows over its branches is an estimate.

    Rows with a missing value follow the branch that fitted them better when the test was chosen, and so do levels unknown at
    that time. Kinds of columns are inferred from the first batch; declare them with `schema` if that batch may mislead. For
    tables above a million cells, `profile_` comes from evenly spaced rows of each batch; with ``profile=False``, and for
    smaller tables, model files are identical to the byte.

    Rows of `baytree.scan`, Dask and Spark are read in their order, a few at a time, so a table may be larger than memory;
    the kinds of its columns are inferred from all rows. To go on after an interruption, see `baytree.partial_fit`.

    References
    ----------
    .. [1] Domingos, P. and Hulten, G. (2000). Mining high-speed data streams. KDD.
    .. [2] Manapragada, C., Webb, G. I. and Salehi, M. (2018). Extremely fast decision tree. KDD.
    .. [3] Gama, J., Rocha, R. and Medas, P. (2003). Accurate decision trees for mining high-speed data streams. KDD.

    Examples
    --------
    >>> import baytree as bt, numpy as np
    >>> x = np.random.default_rng(0).uniform(size=(3000, 2)).round(2)
    >>> size = np.where(x[:, 0] < 0.5, "small", "large")
    >>> model = bt.StreamingTreeClassifier()
    >>> for rows in np.array_split(np.arange(3000), 30):
    ...     model = model.partial_fit(x[rows], size[rows])
    >>> model.n_seen_, model.n_leaves_
    (3000, 2)
    >>> bool((model.predict(x) == size).mean() > 0.99)
    True
    """

    _stream: TreeStream

    @property
    def _accepts_infinite(self) -> bool:  # type: ignore[override]
        # a normal distribution has no density at infinity
        return not (isinstance(self.leaves, str) and self.leaves == "adaptive")

    @property
    def _learns_infinite(self) -> bool:  # type: ignore[override]
        return self._accepts_infinite

    def __init__(
        self,
        *,
        leaves: str = "counts",
        revise: bool = True,
        criterion: str = "entropy",
        confidence: float = 1e-7,
        grace: float = 200,
        tie: float = 0.05,
        max_depth: int | None = None,
        max_bins: int = 64,
        costs: CostsLike = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.leaves = leaves
        self.revise = revise
        self.criterion = criterion
        self.confidence = confidence
        self.grace = grace
        self.tie = tie
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def tree_(self) -> Tree:
        """The tree as flat arrays; leaves that predict with naive Bayes have their counts."""
        return self.model_.tree if self._has_bayes() else self.model_

    @property
    def naive_bayes_(self) -> tuple[int, ...]:
        """Ids of the leaves that predict with naive Bayes."""
        return tuple(self.model_.node.tolist()) if self._has_bayes() else ()

    @property
    def seen_(self) -> StreamStatistic:
        """Statistic of the training rows."""
        return StreamStatistic.of(self._stream)

    @property
    def n_seen_(self) -> int:
        """Number of training rows so far."""
        return self._stream.rows

    @property
    def n_revisions_(self) -> int:
        """Number of splits that were revised."""
        return self._stream.revisions

    def partial_fit(
        self, X: FrameLike, y: TargetLike = None, classes: ArrayLike | None = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Continue training: the same tree as `fit` on all rows so far. Batches may bring new classes and levels."""
        is_first = not hasattr(self, "_stream")
        prepared = (
            self._prepare_rows(X, y, sample_weight) if is_first else self._prepare_batch(X, y, sample_weight, self.schema_)
        )
        table, census = with_classes(prepared.table, classes), self._census_of(prepared)
        profile = self._profiled(LocalPartitions(table, self.n_jobs))
        learner = self._streamer(table.schema)
        with _STATE_LOCK:
            merged = census if is_first else merge_profiles(self._census, census)
            previous = learner.start(table.schema) if is_first else under(self._stream, self.schema_, table.schema)
            stream = learner.update(previous, table)
            if not is_first:
                profile = joined_profiles((self.schema_, self.profile_), (table.schema, profile), table.schema)
            self._before, self._done, self._stream = None, "", stream
            self._set_lazy_state(table.schema, profile, prepared.has_text_names, {"model_": partial(learner.model, stream)})
            return self._told(merged, census)

    def merge(self, other: Self) -> Self:
        """Return a new estimator trained on the rows of both. ``a.merge(b)`` and ``b.merge(a)`` give the same tree.

        Where both trees have the same test, their counts are added, down to the leaves. Where the tests differ, the subtree
        with more rows is kept, and its top node also adds the other node's counts; then all nodes are evaluated again.
        """
        from sklearn.base import clone

        check_is_fitted(self, "_stream")
        check_is_fitted(other, "_stream")
        check_common_classes(self.schema_, other.schema_)
        if self._rules() != other._rules():
            raise ValueError(f"trees with different parameters cannot be merged: {self!r} and {other!r}")
        joint = self.schema_.union(other.schema_)
        stream = under(self._stream, self.schema_, joint).merged(under(other._stream, other.schema_, joint))
        profile = joined_profiles((self.schema_, self.profile_), (other.schema_, other.profile_), joint)
        merged, learner = clone(self), self._streamer(joint)
        merged._set_fitted_state(
            joint, FitResult(learner.model(stream), stream, profile=profile), hasattr(self, "feature_names_in_")
        )
        return merged

    def _rules(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _SETTINGS}

    def _streamer(self, schema: Schema) -> StreamLearner:
        reject_text_columns(schema, "a tree", TEXT_REMEDY)
        return self._tree_learner(schema)

    def _tree_learner(self, schema: Schema) -> StreamLearner:
        kind = _LEARNERS[given.one_of("leaves", self.leaves, tuple(_LEARNERS))]
        return kind(
            criterion=Criterion(given.one_of("criterion", self.criterion, ("entropy", "gini"))),
            revises=given.flag("revise", self.revise),
            confidence=given.open_interval("confidence", self.confidence),
            grace=given.positive("grace", self.grace),
            tie=given.finite("tie", self.tie, 0),
            max_depth=given.whole_or_none("max_depth", self.max_depth, 0),
            max_bins=given.integer("max_bins", self.max_bins, 8, 65_536),
        )

    def _set_fitted_state(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        super()._set_fitted_state(schema, learnt, has_text_names)
        self._stream = learnt.statistic

    def _restore(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        statistic = learnt.statistic
        if not isinstance(statistic, StreamStatistic):
            raise ValueError("the state of the stream is missing from the model file")
        stream = statistic.stream(self._tree_learner(schema).settings, schema)
        self._set_fitted_state(
            schema, FitResult(learnt.model, stream, learnt.fitted_attributes, learnt.profile), has_text_names
        )

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "_stream": self.seen_} if "_stream" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        statistic = state.get("_stream")
        super().__setstate__(state)
        if isinstance(statistic, StreamStatistic):
            self._stream = statistic.stream(self._tree_learner(self.schema_).settings, self.schema_)

    def rules(self, X: FrameLike = None) -> RuleSet:
        """Convert the tree to one IF–THEN rule per leaf, with its support and probability; for ``leaves='counts'`` only.

        Parameters
        ----------
        X : data frame, optional
            Rows for simplification: conditions and rules that their predictions do not need are removed.
        """
        self._refuse_naive_bayes("rules")
        return super().rules(X)

    def predict_interval(self, X: FrameLike, level: float = 0.95, held_out: FrameLike = None) -> np.ndarray:
        """Confidence intervals of the class probabilities in the leaf of each row; for ``leaves='counts'`` only.

        Parameters
        ----------
        held_out : data frame, optional
            Rows with their target that were not used for training.
        """
        if self._has_bayes():
            return self.model_.intervals(self._encoded(X), level)  # raises an error that says why there are none
        return super().predict_interval(X, level, held_out)

    def _with_tree(self, tree: Tree, done: str, **parameters: object) -> Self:
        self._refuse_naive_bayes("pruning")
        return super()._with_tree(tree, done, **parameters)

    def _has_bayes(self) -> bool:
        """Whether some leaves may predict with naive Bayes."""
        check_is_fitted(self, "_stream")
        return isinstance(self.model_, BayesTree)

    def _refuse_naive_bayes(self, what: str) -> None:
        if self._has_bayes():
            raise ValueError(f"{what}: not available with naive Bayes leaves; fit with leaves='counts'")

    def _why_one_leaf(self) -> str:
        if self._before is not None:
            return "it was pruned to the root"
        if self.tree_.risk[0] <= 0:
            return f"all rows are {plain(self.schema_.classes[self.tree_.prediction[0]])}"
        if self.max_depth == 0:
            return "max_depth=0"
        if self.naive_bayes_:
            return f"naive Bayes was correct more often than any tree so far, after {self.n_seen_:,} rows"
        return f"no test is significant yet after {self.n_seen_:,} rows"
