"""What all naive Bayes classifiers share: from a table to what was seen, and from there to the model."""

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
from baytree.estimators.incremental import AdditiveClassifier
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.naive_bayes.events.text_likelihoods import WordLikelihood, top_words
from baytree.naive_bayes.learner import NaiveBayesLearner, leave_one_out
from baytree.naive_bayes.model import NaiveBayes
from baytree.naive_bayes.sampling import draw, draw_classes, log_densities, posterior_of, split_given, typicalities
from baytree.naive_bayes.statistic import NaiveBayesStatistic
from baytree.param_validation import ClassAmounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DRAWN = 2000  # rows as the model expects them, beside which others are judged


class BayesClassifier(AdditiveClassifier):
    """A naive Bayes classifier: a subclass says which events look at which columns, and how parameters follow."""

    _accepts_infinite = True  # when encoded: kernels refuse infinities as they read, which saves a read
    model_: NaiveBayes
    seen_: NaiveBayesStatistic

    def predict_joint_log_proba(self, X: FrameLike) -> np.ndarray:
        """log p(c) + Σ log p(x_j | c) for each row and class, before it is normalised: [n_rows, n_classes]."""
        table = self._encoded(X)
        return self.model_.scores(table)

    def score_samples(self, X: FrameLike) -> np.ndarray:
        """log p(x) of each row, over all classes: low where a row is unlike anything that was learnt."""
        table = self._encoded(X)
        return log_densities(self.model_, table)

    def _typicality(self, table: Table) -> np.ndarray:
        """By rows drawn from the model, which miss what a row misses: how many are no more probable. [n_rows]"""
        random = np.random.default_rng(0)  # the same rows have the same answer
        label = draw_classes(np.exp(self.model_.log_prior), _DRAWN, random)
        drawn = draw(self.model_, self.schema_, _DRAWN, label, random)
        drawn.pop(self.schema_.target.name)
        return typicalities(self.model_, table, self._encoded(drawn))

    def sample(self, n: int = 1, given: Mapping[str, Any] | None = None, random_state: RandomLike = None) -> Any:
        """n new rows with their class, as a frame of the library that is in use.

        `given` fixes columns, or the class under the target's name; the rest is drawn from what follows of it.
        """
        check_is_fitted(self, "model_")
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"n={n!r}: give a whole number of rows, at least 1")
        random = np.random.default_rng(random_state)
        label, fixed = split_given(given, self.schema_)
        rows = draw(self.model_, self.schema_, n, self._drawn_classes(n, label, fixed, random), random)
        for name, value in fixed.items():
            rows[name] = np.full(n, value, dtype=object if isinstance(value, str) else None)
        return frame_of(rows)

    def likelihood(self, column: str) -> Any:
        """The distribution of a column in each class, as a frame: a row per level, bin, word or parameter."""
        check_is_fitted(self, "model_")
        place = self.schema_.names.index(self.schema_[column].name)
        likelihood = next(part for part in self.model_.likelihoods if place in part.columns)
        names, rows = likelihood.distribution(self.schema_, place)
        return frame_of({column: names, **{str(c): rows[:, k] for k, c in enumerate(self.schema_.classes)}})

    def top_words(self, column: str | None = None, n: int = 10) -> dict[Any, list[str]]:
        """For each class the n words of a text column that speak most for it.

        Parameters
        ----------
        column : str, optional
            The text column, where there are several.
        n : int, default=10
            The number of words.
        """
        check_is_fitted(self, "model_")
        texts = [part for part in self.model_.likelihoods if isinstance(part, WordLikelihood)]
        chosen = [part for part in texts if column in (None, self.schema_.columns[part.column].name)]
        if len(chosen) != 1:
            names = [self.schema_.columns[part.column].name for part in texts]
            raise ValueError(f"column={column!r}: the text columns are {names}; name one of them")
        words = top_words(chosen[0].weights(), self.schema_.columns[chosen[0].column].levels, n)
        return dict(zip(self.schema_.classes, words, strict=True))

    def plot(self, column: str, ax: Axes | None = None) -> Axes:
        """The distribution of a column in each class, drawn with matplotlib; gives the axes."""
        from baytree.naive_bayes.sampling import plot_column

        check_is_fitted(self, "model_")
        return plot_column(self.model_, self.schema_, self.schema_.names.index(self.schema_[column].name), ax)

    def leave_one_out(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> np.ndarray:
        """The probabilities of each row of a table under the model of all its other rows, exactly, in one pass."""
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
        raise NotImplementedError(f"{type(self).__name__} must say which events look at which columns")

    def _estimation(self, schema: Schema) -> Estimation:
        raise NotImplementedError(f"{type(self).__name__} must say how parameters follow")

    def _prior(self, schema: Schema) -> ClassAmounts | None:
        raise NotImplementedError(f"{type(self).__name__} must say what it believes of the classes")


def all_numeric(classifier: BayesClassifier, frame: Columns, otherwise: Callable[[Columns], Schema]) -> Schema:
    """The schema in which every column is a number, whatever its type says: booleans are 0 and 1."""
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
                f"column {column.name!r} is {column.kind}, and {type(classifier).__name__} takes numbers; "
                "use NaiveBayesClassifier, which takes columns of every kind"
            )
    return schema
