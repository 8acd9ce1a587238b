"""Full joint distribution of all columns and the target, as a classifier; without a target, of the columns alone.

Counting, probabilities and sampling are in `naive_bayes.joint_learner`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import CostsLike, FrameLike, RandomLike, TargetLike, WeightsLike
from baytree.data.encoding.sample import Columns, TrainingSample, census_of
from baytree.data.frames import read
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import NO_TARGET, Schema, SchemaLike
from baytree.display.results import frame_of
from baytree.estimators.base import PreparedRows
from baytree.estimators.incremental import MergeableClassifier
from baytree.naive_bayes import joint_learner
from baytree.naive_bayes.joint_model import Combinations, JointTable


class JointDistribution(MergeableClassifier):
    """Joint distribution of all columns and the target, estimated by counting; predicts the most probable class.

    Without a target, `fit(frame)` counts the columns alone: `table`, `probability` and `sample` work, predictions are
    refused.

    Every distinct number is a level. Rows with missing values are left out of the counts; in a query, columns that are not
    given are marginalised. d binary columns need a table of 2^d rows, which is why naive Bayes exists.

    Parameters
    ----------
    alpha : float, default=0.0
        Pseudo-count added to every cell of the table, including empty ones.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"rain": ["yes", "yes", "no", "no"], "wet": ["yes", "yes", "yes", "no"]}
    >>> model = bt.JointDistribution().fit(rows, "wet")
    >>> model.probability({"wet": "yes"}), model.probability({"rain": "yes"}, given={"wet": "no"})
    (0.75, 0.0)
    >>> round(bt.JointDistribution().fit(rows).probability({"rain": "yes"}, given={"wet": "yes"}), 3)
    0.667
    """

    model_: JointTable
    seen_: Combinations

    def __init__(
        self,
        alpha: float = 0.0,
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
        costs: CostsLike = None,
    ):
        self.alpha = alpha
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile
        self.costs = costs

    def table(self) -> Any:
        """Full table as a frame: one row per combination of levels, with its probability."""
        check_is_fitted(self, "model_")
        return frame_of(joint_learner.full_table(self.model_, self.schema_))

    def probability(self, event: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> float:
        """Conditional probability P(event | given); NaN if `given` has probability 0.

        Parameters
        ----------
        event : dict
            A level, or a list of levels, for each of some columns or the target.
        given : dict, optional
            Condition, in the same form.
        """
        check_is_fitted(self, "model_")
        condition = joint_learner.allowed_codes(given or {}, self.schema_)
        return joint_learner.probability(self.model_, joint_learner.allowed_codes(event, self.schema_), condition)

    def sample(self, n: int = 1, given: Mapping[str, Any] | None = None, random_state: RandomLike = None) -> Any:
        """Draw n rows from the joint distribution, as a frame; `given` fixes columns or the class."""
        check_is_fitted(self, "model_")
        condition = joint_learner.allowed_codes(given or {}, self.schema_)
        codes = joint_learner.draw(
            self.model_, param_validation.integer("n", n, 1), condition, np.random.default_rng(random_state)
        )
        return frame_of(joint_learner.as_levels(codes, self.schema_))

    def _sample(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> TrainingSample:
        if y is not None:
            return super()._sample(X, y, sample_weight)
        sample = super()._sample(X, np.zeros(read(X).n_rows, np.int64), sample_weight)
        label = msgspec.structs.replace(sample.label, target=NO_TARGET)
        return msgspec.structs.replace(sample, label=label)

    def _prepare_batch(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, known: Schema) -> PreparedRows:
        if (y is None) != (known.target == NO_TARGET):
            raise ValueError(
                "the first rows had a target: give it here, too"
                if y is None
                else "the first rows had no target: leave it out here, too, or start with a new estimator"
            )
        return super()._prepare_batch(X, y, sample_weight, known)

    def _learner(self, schema: Schema) -> joint_learner.JointLearner:
        for column in schema.columns:
            if column.kind is Kind.TEXT:
                raise ValueError(f"column {column.name!r} is text, which a joint distribution cannot count; leave it out")
        return joint_learner.JointLearner(param_validation.finite("alpha", self.alpha, 0))

    def _schema_of(self, frame: Columns) -> Schema:
        if frame.matrix is not None and not isinstance(frame.matrix, np.ndarray):
            raise TypeError("Sparse data was passed, but a joint table takes dense columns: use X.toarray()")
        schema = super()._schema_of(frame)
        if isinstance(self.schema, Schema):
            return schema
        numeric = [column.name for column in schema.columns if column.kind is Kind.NUMERIC]
        declared = dict(self.schema or {}) | dict.fromkeys(numeric, Kind.NOMINAL.value)
        levels = census_of(frame, declared).schema(frame.is_named) if numeric else schema
        units = {column.name: column.unit for column in schema.columns}
        columns = tuple(msgspec.structs.replace(column, unit=units.get(column.name)) for column in levels.columns)
        return msgspec.structs.replace(levels, columns=columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.classifier_tags.poor_score = True
        return tags
