"""A tree that goes on learning: the same tree for the same rows in their order, however they are cut into batches."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation as given
from baytree._core import TreeStream
from baytree._typing import FrameLike, TargetLike, WeightsLike
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
from baytree.tree.learner import refuse_text
from baytree.tree.model.tree import Tree
from baytree.tree.policy.policy import Criterion
from baytree.tree.rules.rule_set import RuleSet
from baytree.tree.streaming.learner import StreamLearner, StreamStatistic, under

_RULES = ("leaves", "revise", "criterion", "confidence", "grace", "tie", "max_depth", "max_bins")

_LEARNERS: dict[str, type[StreamLearner]] = {"counts": StreamLearner, "adaptive": AdaptiveStreamLearner}


class StreamingTreeClassifier(TreeEstimator, Classifier, IncrementalEstimator):
    """A tree that learns row after row, splits when the evidence suffices, and takes a split back when the evidence turns.

    Leaves count classes, the levels and numbers of each column by class, and missing values. A leaf is judged after `grace`
    rows, and again whenever a sixteenth more have come. Evidence is counted in bits: a gain of g bits in n rows is n · g,
    less what it takes to say which of the tests of its column a test is. What must be beyond doubt needs
    log2(1 / `confidence`) bits: that a test is better than none, before a leaf is split, or better than another.

    With `revise` every node goes on counting. A cut moves where another one of the column is beyond doubt better, and any
    other test takes the place of the old one, with new leaves below, where it is so and gains more by twice `tie`.
    Without, only leaves count, and are split where the best test is beyond doubt better than those of all other columns.

    Rows are learnt one by one, in their order. However they are cut into batches, also as one `fit`, the tree is the same.
    A row of weight k is k rows in its place.

    With ``leaves='adaptive'`` a node is asked for the class of each row before it learns it, by its counts and by a naive
    Bayes model of what it has counted, and answers with what was right more often [3]_. So does, with `revise`, an inner
    node whose naive Bayes was right more often than all that lies below it: the tree is shown, and answers, up to there.

    Parameters
    ----------
    leaves : {'counts', 'adaptive'}, default='counts'
        Whether leaves answer with the shares of their classes, or with naive Bayes where that was right more often. These
        answer more rows right where borders are slanted, but are more to read, have no intervals, and cannot be pruned.
    revise : bool, default=True
        Whether inner nodes go on counting, and change their tests, as in Hoeffding anytime trees [2]_; False splits later,
        but once and for all, as Hoeffding trees do [1]_, and learns faster.
    criterion : {'entropy', 'gini'}, default='entropy'
        What a test should lower. Evidence is always a matter of entropy.
    confidence : float, default=1e-7
        How probable a wrong decision may be.
    grace : float, default=200
        The weight of rows after which a leaf is judged for the first time.
    tie : float, default=0.05
        Gains this close are taken to be equal: without `revise` the better test is taken once Hoeffding's margin is below
        it; with `revise` a test is not given up, and with it all below, for twice as much.
    max_depth : int, optional
        Tests on the way to a leaf at most; the root has depth 0.
    max_bins : int, default=64
        How many different numbers of a column a node keeps apart. More are kept in bins of one width, the smallest power of
        two that gives no more bins than this; cuts are then where a bin begins.

    Attributes
    ----------
    n_seen_ : int
        The number of rows so far.
    n_revisions_ : int
        How many splits were taken back.
    naive_bayes_ : tuple of int
        The ids of the leaves that answer with naive Bayes.
    seen_ : StreamSeen
        What was seen of the rows: all that `partial_fit` and `merge` need.

    Notes
    -----
    A leaf is born with the classes of the rows that its parent's column tells apart, and counts those that come. When it is
    split in turn, what it was born with goes to both branches in the shares of the rows since, in whole numbers: a node
    shows as many rows as came to it, but how older ones are dealt to its branches is an estimate.

    Rows without a value take the branch where they were better placed when the test was chosen, and so do levels that were
    not known then. Kinds of columns are those of the first batch; declare them with `schema` where it may mislead. Of tables
    above a million cells `profile_` is that of rows at even distances in each batch: with ``profile=False``, and below,
    files are the same to the byte.

    The rows of an engine are brought here; a stream of files larger than memory is for `baytree.partial_fit`.

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
        # no normal distribution holds an infinite number
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
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def tree_(self) -> Tree:
        """The tree as flat arrays; leaves that answer with naive Bayes show their counts."""
        return self.model_.tree if self._has_bayes() else self.model_

    @property
    def naive_bayes_(self) -> tuple[int, ...]:
        """The ids of the leaves that answer with naive Bayes."""
        return tuple(self.model_.node.tolist()) if self._has_bayes() else ()

    @property
    def seen_(self) -> StreamStatistic:
        """What was seen of the rows."""
        return StreamStatistic.of(self._stream)

    @property
    def n_seen_(self) -> int:
        """The number of rows so far."""
        return self._stream.rows

    @property
    def n_revisions_(self) -> int:
        """How many splits were taken back."""
        return self._stream.revisions

    def partial_fit(
        self, X: FrameLike, y: TargetLike = None, classes: ArrayLike | None = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Goes on learning: the same tree as `fit` on all rows so far. New classes and levels may come at any time."""
        is_first = not hasattr(self, "_stream")
        entered = (
            self._prepare_rows(X, y, sample_weight) if is_first else self._prepare_batch(X, y, sample_weight, self.schema_)
        )
        table, census = with_classes(entered.table, classes), self._census_of(entered)
        profile = self._profiled(LocalPartitions(table, self.n_jobs))
        learner = self._streamer(table.schema)
        with _STATE_LOCK:
            whole = census if is_first else merge_profiles(self._census, census)
            before = learner.start(table.schema) if is_first else under(self._stream, self.schema_, table.schema)
            stream = learner.update(before, table)
            if not is_first:
                profile = joined_profiles((self.schema_, self.profile_), (table.schema, profile), table.schema)
            self._before, self._done, self._stream = None, "", stream
            self._set_lazy_state(table.schema, profile, entered.has_text_names, {"model_": partial(learner.model, stream)})
            return self._told(whole, census)

    def merge(self, other: Self) -> Self:
        """A new estimator that knows what both have learnt; which of the two is asked makes no difference to the tree.

        Where both ask the same test, what they have counted adds up, and so down to the leaves. Where they differ, the
        subtree with more rows stays, and its first node also learns what the other one had counted there; then all nodes
        are judged anew.
        """
        from sklearn.base import clone

        check_is_fitted(self, "_stream")
        check_is_fitted(other, "_stream")
        check_common_classes(self.schema_, other.schema_)
        if self._rules() != other._rules():
            raise ValueError(f"trees by other rules cannot be merged: {self!r} and {other!r}")
        joint = self.schema_.union(other.schema_)
        stream = under(self._stream, self.schema_, joint).merged(under(other._stream, other.schema_, joint))
        profile = joined_profiles((self.schema_, self.profile_), (other.schema_, other.profile_), joint)
        merged, learner = clone(self), self._streamer(joint)
        merged._set_fitted_state(
            joint, FitResult(learner.model(stream), stream, profile=profile), hasattr(self, "feature_names_in_")
        )
        return merged

    def _rules(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _RULES}

    def _streamer(self, schema: Schema) -> StreamLearner:
        refuse_text(schema)
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
        self._stream = learnt.statistic
        super()._set_fitted_state(schema, learnt, has_text_names)

    def _restore(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        seen = learnt.statistic
        if not isinstance(seen, StreamStatistic):
            raise ValueError("what was learnt of the stream is missing")
        stream = seen.stream(self._tree_learner(schema).settings, schema)
        self._set_fitted_state(
            schema, FitResult(learnt.model, stream, learnt.fitted_attributes, learnt.profile), has_text_names
        )

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "_stream": self.seen_} if "_stream" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        seen = state.get("_stream")
        super().__setstate__(state)
        if isinstance(seen, StreamStatistic):
            self._stream = seen.stream(self._tree_learner(self.schema_).settings, self.schema_)

    def rules(self, X: FrameLike = None) -> RuleSet:
        """One IF–THEN rule for each leaf, with its support and probability; of leaves that are counts.

        Parameters
        ----------
        X : data frame, optional
            Rows, by which rules are simplified: without the conditions and rules that their predictions do not need.
        """
        self._refuse_naive_bayes("rules")
        return super().rules(X)

    def predict_interval(self, X: FrameLike, level: float = 0.95, held_out: FrameLike = None) -> np.ndarray:
        """Between which bounds the probability of each class of a row's leaf lies; of leaves that are counts.

        Parameters
        ----------
        held_out : data frame, optional
            Rows with their target that the tree has not learnt from.
        """
        if self._has_bayes():
            return self.model_.intervals(self._encoded(X), level)  # says why there are none
        return super().predict_interval(X, level, held_out)

    def _with_tree(self, tree: Tree, done: str, **parameters: object) -> Self:
        self._refuse_naive_bayes("pruning")
        return super()._with_tree(tree, done, **parameters)

    def _has_bayes(self) -> bool:
        """Whether some leaves may answer with naive Bayes."""
        check_is_fitted(self, "_stream")
        return isinstance(self.model_, BayesTree)

    def _refuse_naive_bayes(self, what: str) -> None:
        if self._has_bayes():
            raise ValueError(f"{what}: only for trees whose leaves are counts; fit with leaves='counts'")

    def _why_one_leaf(self) -> str:
        if self._before is not None:
            return "it was pruned to the root"
        if self.tree_.risk[0] <= 0:
            return f"all rows are {plain(self.schema_.classes[self.tree_.prediction[0]])}"
        if self.max_depth == 0:
            return "max_depth=0"
        if self.naive_bayes_:
            return f"naive Bayes was right more often than any tree so far, of {self.n_seen_:,} rows"
        return f"no test is beyond chance yet after {self.n_seen_:,} rows"
