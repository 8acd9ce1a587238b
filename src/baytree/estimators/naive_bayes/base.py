"""Base class of all naive Bayes classifiers: from parameters to a learner, and everything a fitted model can be asked.

A subclass assigns event models to columns (`_groups`) and sets how parameters are estimated (`_estimation`) and the prior of
the classes (`_prior`). Event models, statistics and likelihoods are in `baytree.naive_bayes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree._typing import FrameLike, RandomLike, TargetLike, WeightsLike
from baytree.data.encoding import encode
from baytree.data.encoding.sample import Columns, census_of
from baytree.data.encoding.table import Table
from baytree.data.frames import read
from baytree.data.frames.numbers import MatrixColumns
from baytree.data.frames.raw import RawFrame
from baytree.data.inference.infer import schema_of_array
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.display.results import frame_of
from baytree.estimators.incremental import MergeableClassifier
from baytree.naive_bayes.dependence import Dependence, dependence_of
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.naive_bayes.events.text_likelihoods import WordLikelihood, top_words
from baytree.naive_bayes.joint_learner import allowed_codes
from baytree.naive_bayes.learner import NaiveBayesLearner, leave_one_out
from baytree.naive_bayes.model import NaiveBayes
from baytree.naive_bayes.probabilities import event_probability, full_table
from baytree.naive_bayes.sampling import draw, draw_classes, log_densities, posterior_of, split_conditions, typicalities
from baytree.naive_bayes.statistic import NaiveBayesStatistic
from baytree.param_validation import ClassAmounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_N_SAMPLES = 2000  # rows drawn from the model, with which the likelihood of other rows is compared


class BayesClassifier(MergeableClassifier):
    """Base of naive Bayes classifiers; a subclass chooses the event models of columns and the estimation."""

    _accepts_infinite = True  # at encoding: the kernels refuse infinities while reading, which saves one pass
    model_: NaiveBayes
    seen_: NaiveBayesStatistic

    def predict_joint_log_proba(self, X: FrameLike) -> np.ndarray:
        """Unnormalised log posterior log p(c) + Σ log p(x_j | c) of each class. float64 [n_rows, n_classes]"""
        table = self._encoded(X)
        return self.model_.scores(table)

    def score_samples(self, X: FrameLike) -> np.ndarray:
        """Log-likelihood log p(x) of each row, summed over classes; low for rows unlike the training rows. [n_rows]"""
        table = self._encoded(X)
        return log_densities(self.model_, table)

    def _typicality(self, table: Table) -> np.ndarray:
        """Proportion of rows drawn from the model that are at most as likely as each row. float64 [n_rows]

        Drawn rows lack the values that the row lacks.
        """
        random = np.random.default_rng(0)  # fixed seed: the same rows have the same result
        label = draw_classes(np.exp(self.model_.log_prior), _N_SAMPLES, random)
        samples = draw(self.model_, self.schema_, _N_SAMPLES, label, random)
        samples.pop(self.schema_.target.name)
        return typicalities(self.model_, table, self._encoded(samples))

    def sample(self, n: int = 1, given: Mapping[str, Any] | None = None, random_state: RandomLike = None) -> Any:
        """Draw n rows with their class from the model, as a frame of the installed library.

        `given` fixes columns, or the class under the target's name; the rest is drawn from the conditional distribution.
        """
        check_is_fitted(self, "model_")
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"n={n!r}: give a whole number of rows, at least 1")
        random = np.random.default_rng(random_state)
        label, fixed = split_conditions(given, self.schema_)
        rows = draw(self.model_, self.schema_, n, self._drawn_classes(n, label, fixed, random), random)
        for name, value in fixed.items():
            rows[name] = np.full(n, value, dtype=object if isinstance(value, str) else None)
        return frame_of(rows)

    def probability(self, event: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> float:
        """Conditional probability P(event | given) under the model; NaN if `given` has probability 0.

        Parameters
        ----------
        event : dict
            A level, or a list of levels, for each of some nominal columns or the target.
        given : dict, optional
            Condition, in the same form.

        Examples
        --------
        >>> import baytree as bt
        >>> tennis = bt.datasets.load("play-tennis")
        >>> model = bt.NaiveBayesClassifier(estimate="mle").fit(tennis, "PlayTennis")
        >>> round(model.probability({"PlayTennis": "Yes"}), 4)  # 9 of 14
        0.6429
        >>> round(model.probability({"Outlook": "Sunny"}, given={"PlayTennis": "Yes"}), 4)  # 2 of 9
        0.2222
        """
        check_is_fitted(self, "model_")
        codes, conditions = allowed_codes(event, self.schema_), allowed_codes(given or {}, self.schema_)
        return event_probability(self.model_, self.schema_, codes, conditions)

    def table(self) -> Any:
        """Joint distribution that the model implies, as a frame: one row per combination of levels and class."""
        check_is_fitted(self, "model_")
        return frame_of(full_table(self.model_, self.schema_))

    def dependence(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Dependence:
        """Check the assumption of naive Bayes: how much columns tell about each other when the class is known.

        Parameters
        ----------
        X : frame
            Rows with the model's columns, and with its target column unless `y` is given.
        y : array-like or str, optional
            Classes, or the name of the target column.
        sample_weight : array-like, optional
            Weights of the rows.

        Returns
        -------
        Dependence
            Pairs of columns by conditional mutual information given the class; prints as a table.

        Examples
        --------
        >>> import baytree as bt
        >>> titanic = bt.datasets.load("titanic")
        >>> model = bt.NaiveBayesClassifier().fit(titanic, "survived")
        >>> model.dependence(titanic).pairs[0].columns
        ('class', 'sex')
        """
        check_is_fitted(self, "model_")
        truth, weight = self._read_true_labels(X, self.schema_.target.name if y is None else y, sample_weight)
        code_of = {label: code for code, label in enumerate(self.schema_.classes)}
        codes = np.array([*(code_of.get(label, -1) for label in truth.target.classes or ()), -1], np.int32)
        label = codes[truth.values]
        table = self._encoded(X)
        is_used = (label >= 0) & (weight > 0)
        if not is_used.any():
            raise ValueError("no row has a class that the model knows; give the training rows, or other labelled rows")
        return dependence_of(msgspec.structs.replace(table, label=label, weight=weight).take(is_used))

    def likelihood(self, column: str) -> Any:
        """Distribution of a column in each class, as a frame with one row per level, bin, word or parameter."""
        check_is_fitted(self, "model_")
        index = self.schema_.names.index(self.schema_[column].name)
        likelihood = next(part for part in self.model_.likelihoods if index in part.columns)
        names, rows = likelihood.distribution(self.schema_, index)
        return frame_of({column: names, **{str(c): rows[:, k] for k, c in enumerate(self.schema_.classes)}})

    def top_words(self, column: str | None = None, n: int = 10) -> dict[Any, list[str]]:
        """The n words of a text column with the largest weight for each class.

        Parameters
        ----------
        column : str, optional
            Text column; may be omitted if there is only one.
        n : int, default=10
            Number of words.
        """
        check_is_fitted(self, "model_")
        texts = [part for part in self.model_.likelihoods if isinstance(part, WordLikelihood)]
        matching = [part for part in texts if column in (None, self.schema_.columns[part.column].name)]
        if len(matching) != 1:
            names = [self.schema_.columns[part.column].name for part in texts]
            raise ValueError(f"column={column!r}: the text columns are {names}; name one of them")
        words = top_words(matching[0].weights(), self.schema_.columns[matching[0].column].levels, n)
        return dict(zip(self.schema_.classes, words, strict=True))

    def plot(self, column: str, ax: Axes | None = None) -> Axes:
        """Draw the distribution of a column in each class with matplotlib; returns the axes."""
        from baytree.naive_bayes.sampling import plot_column

        check_is_fitted(self, "model_")
        return plot_column(self.model_, self.schema_, self.schema_.names.index(self.schema_[column].name), ax)

    def leave_one_out(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> np.ndarray:
        """Exact leave-one-out class probabilities: each row by the model of all other rows, in one pass."""
        table = self._prepare_rows(X, y, sample_weight).table
        learner = self._learner(table.schema)
        return leave_one_out(learner, table, learner.observe(table))

    def _drawn_classes(self, n: int, label: object, fixed: dict[str, Any], random: np.random.Generator) -> np.ndarray:
        if label is not None:
            return np.full(n, self.schema_.classes.index(label))
        if not fixed:
            return draw_classes(np.exp(self.model_.log_prior), n, random)
        row = {name: [fixed.get(name)] for name in self.schema_.inputs}
        encoded = encode.encode(read(row), msgspec.structs.replace(self.schema_, is_named=True), unseen="error")
        return draw_classes(posterior_of(self.model_, Table(self.schema_, encoded, np.ones(1))), n, random)

    def _learner(self, schema: Schema) -> NaiveBayesLearner:
        return NaiveBayesLearner(self._groups(schema), self._estimation(schema), self._prior(schema))

    @property
    def _class_weights(self) -> np.ndarray:
        return self.seen_.classes.known()[:, 0]

    def _groups(self, schema: Schema) -> tuple[ColumnGroup, ...]:
        raise NotImplementedError(f"{type(self).__name__} must implement _groups")

    def _estimation(self, schema: Schema) -> Estimation:
        raise NotImplementedError(f"{type(self).__name__} must implement _estimation")

    def _prior(self, schema: Schema) -> ClassAmounts | None:
        raise NotImplementedError(f"{type(self).__name__} must implement _prior")


def all_numeric(classifier: BayesClassifier, frame: Columns, otherwise: Callable[[Columns], Schema]) -> Schema:
    """Schema in which every column is numeric, whatever its dtype; booleans are 0 and 1."""
    if frame.matrix is not None and not classifier.schema:
        return otherwise(frame)  # an array of numbers
    if isinstance(frame, RawFrame) and isinstance(frame.columns, MatrixColumns) and not classifier.schema:
        return schema_of_array(frame, frame.columns, Kind.NUMERIC)
    if frame.matrix is not None or isinstance(classifier.schema, Schema):
        schema = otherwise(frame)
    else:
        declared = dict.fromkeys(frame.columns, Kind.NUMERIC.value) | dict(classifier.schema or {})
        schema = census_of(frame, declared).schema(frame.is_named)
    for column in schema.columns:
        if column.kind is not Kind.NUMERIC:
            raise ValueError(
                f"column {column.name!r} is {column.kind}, but {type(classifier).__name__} needs numeric columns; "
                "use NaiveBayesClassifier, which accepts every kind"
            )
    return schema
