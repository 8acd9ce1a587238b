"""Additive estimators: a curve per column and a surface for pairs that interact, for classes and for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import CostsLike
from baytree._warnings import did_you_mean
from baytree.additive.curves import curves_of, plotted
from baytree.additive.learner import AdditiveLearner
from baytree.additive.model import AdditiveModel, AdditiveTerm
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import aligned
from baytree.estimators.base import Estimator
from baytree.estimators.linear.logistic import monotone_columns
from baytree.estimators.prediction import Classifier, Regressor
from baytree.param_validation import reject_text_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_PAIRS = 100

_PARAMETERS = {
    "max_bins": (
        "int, default=256",
        "Up to this number of different values, each value of a numeric column has a point of its own on the curve.\n"
        "Columns with more values have 64 bins of similar weight, and frequent values are bins of their own. Tables with\n"
        "very many columns get fewer bins.",
    ),
    "monotone": (
        "dict of str to {'up', 'down'}, optional",
        "Columns whose curve must never fall or never rise. Such a column takes part in no pair. For two classes it is the\n"
        "log-odds of the second.",
    ),
    "smooth": (
        "float, default=0.0",
        "Number of standard errors by which curves of numbers and ranks may move in order to have fewer pieces; 1 gives\n"
        "the fewest pieces within one standard error, 0 keeps every bin.",
    ),
}


class AdditiveImportances(TextResult, msgspec.Struct, frozen=True):
    """Mean absolute effect of each term on the score over the training rows, largest first."""

    terms: tuple[str, ...]
    importance: tuple[float, ...]

    def to_dict(self) -> dict[str, list]:
        """Table as a dict of lists."""
        return {"term": list(self.terms), "importance": list(self.importance)}

    def to_frame(self) -> Any:
        """Table as a data frame."""
        return frame_of(self.to_dict())

    def __str__(self) -> str:
        return aligned(["term", "importance"], list(zip(self.terms, self.importance, strict=True)))

    def _repr_html_(self) -> str:
        from baytree.display.results import table

        rows = [[term, f"{value:.4f}"] for term, value in zip(self.terms, self.importance, strict=True)]
        return table("importance of each term", ["term", "importance"], rows)


class AdditiveEstimator(Estimator):
    """Base of the additive estimators; the score is a sum of curves and surfaces."""

    model_: AdditiveModel
    _parameters: ClassVar = _PARAMETERS

    def __init__(
        self,
        interactions: int | str = "auto",
        max_bins: int = 256,
        monotone: Mapping[str, str] | None = None,
        smooth: float = 0.0,
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.interactions = interactions
        self.max_bins = max_bins
        self.monotone = monotone
        self.smooth = smooth
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def intercept_(self) -> np.ndarray:
        """Score of a row whose curves are all 0. [n_scores]"""
        return self.model_.intercept

    @property
    def curves_(self) -> list[dict[str, Any]]:
        """Terms as dicts with `columns`, `bins`, `values`, `errors`, `weight` and `importance`; missing values are last."""
        check_is_fitted(self, "model_")
        return curves_of(self.model_, self.schema_)

    def importances(self) -> AdditiveImportances:
        """Table of the mean absolute effect of each term on the score over the training rows, largest first."""
        check_is_fitted(self, "model_")
        terms = sorted(self.model_.terms, key=lambda term: (-term.importance, term.columns))
        return AdditiveImportances(tuple(map(self._name, terms)), tuple(term.importance for term in terms))

    def plot(self, column: str | None = None, other: str | None = None, ax: Axes | None = None) -> Axes:
        """Plot the curve of a column with its band of two standard errors, or the surface of two columns.

        Parameters
        ----------
        column : str, optional
            Name of the column; by default that of the most important curve.
        other : str, optional
            Name of the second column of a surface.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        """
        from baytree.rendering.plots.additive_plots import plot_term

        check_is_fitted(self, "model_")
        columns = [name for name in (column or self._most_important(), other) if name is not None]
        return plot_term(plotted(self.model_, self.schema_, self._term(tuple(columns))), ax)

    def plot_nomogram(self, ax: Axes | None = None) -> Axes:
        """Plot a nomogram of two classes with matplotlib: an axis of points per column, their total and the probability.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        """
        from baytree.rendering.plots.nomogram_plot import plot_nomogram
        from baytree.reporting.nomogram import nomogram_of

        check_is_fitted(self, "model_")
        return plot_nomogram(nomogram_of(self._predictor), ax)

    def set_curve(self, column: str, values: Any) -> AdditiveEstimator:
        """Set the values of a curve by hand. The edit is recorded in the model, its text, its page and its file.

        Parameters
        ----------
        column : str
            Name of the column.
        values : array of shape (n_bins,) or (n_bins, n_scores)
            Value of each bin, that of missing values last, in the order of `curves_`.
        """
        check_is_fitted(self, "model_")
        term = self._term((column,))
        given = np.asarray(values, np.float64)
        given = given[:, None] if given.ndim == 1 else given
        if given.shape != term.values.shape or not np.isfinite(given).all():
            raise ValueError(
                f"set_curve({column!r}): give {term.values.shape[0]} finite numbers"
                f"{f' for each of {term.values.shape[1]} scores' if term.values.shape[1] > 1 else ''}, missing values last; "
                f"got shape {np.shape(values)}"
            )
        proportion = term.weight / max(float(term.weight.sum()), 1e-300)
        change = float(np.abs(proportion @ (given - term.values)).max()), float(np.abs(given - term.values).max())
        edit = f"{column}: set by hand, values changed by up to {change[1]:.4g}, {change[0]:.4g} on average"
        terms = tuple(
            msgspec.structs.replace(each, values=given.copy()) if each is term else each for each in self.model_.terms
        )
        self.model_ = msgspec.structs.replace(self.model_, terms=terms, edits=(*self.model_.edits, edit))
        return self

    def _term(self, columns: tuple[str, ...]) -> AdditiveTerm:
        """Term of these columns."""
        by_name = {frozenset(self.schema_.columns[j].name for j in term.columns): term for term in self.model_.terms}
        if frozenset(columns) not in by_name:
            known = [self._name(term) for term in self.model_.terms]
            raise ValueError(f"{type(self).__name__}: {did_you_mean('term', ' × '.join(map(str, columns)), known)}")
        return by_name[frozenset(columns)]

    def _most_important(self) -> str:
        curves = [term for term in self.model_.terms if len(term.axes) == 1]
        if not curves:
            raise ValueError("there is nothing to plot: no column varies, so the model is a constant")
        return self._name(max(curves, key=lambda term: term.importance))

    def _name(self, term: AdditiveTerm) -> str:
        return " × ".join(self.schema_.columns[j].name for j in term.columns)

    def _learner(self, schema: Schema) -> AdditiveLearner:
        reject_text_columns(schema, "an additive model")
        is_auto = isinstance(self.interactions, str)
        if is_auto:
            param_validation.one_of("interactions", self.interactions, ("auto",))
        return AdditiveLearner(
            max_pairs=None if is_auto else param_validation.integer("interactions", self.interactions, 0, _MAX_PAIRS),
            max_bins=param_validation.integer("max_bins", self.max_bins, 2, 1024),
            monotone=monotone_columns(self.monotone, "rank", schema),
            smooth=param_validation.finite("smooth", self.smooth, 0),
        )


class AdditiveRegressor(AdditiveEstimator, Regressor):
    """Additive regression: the sum of a curve per column and of surfaces for pairs of columns that interact.

    All curves are fitted together by penalised least squares on bins. The penalty is on differences of neighbouring bins
    (levels of nominal columns: on their size), and its strength for each curve is chosen by marginal likelihood, without
    cross-validation and without random numbers. Missing values are a point of their own on each curve. The model does not
    depend on the order of the rows.

    Parameters
    ----------
    interactions : int or "auto", default="auto"
        Maximum number of pairs of columns that get a surface; "auto" is 8, and 0 none. A pair is admitted only if it gains
        on rows that did not choose its values.

    Attributes
    ----------
    curves_ : list of dict
        Terms, curves first: ``columns``, ``bins`` (upper edges of intervals, or levels), ``values``, ``errors`` (standard
        errors), ``weight`` of the rows in each cell, and ``importance``.
    intercept_ : ndarray of shape (n_scores,)
        Mean prediction.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"hours": [float(h % 40) for h in range(400)], "grade": [abs((h % 40) - 20.0) for h in range(400)]}
    >>> model = bt.AdditiveRegressor().fit(rows, "grade")
    >>> model.predict({"hours": [0.0, 20.0, 30.0]}).round(1).tolist()
    [20.0, 0.0, 10.0]
    """


class AdditiveClassifier(AdditiveEstimator, Classifier):
    """Additive classification: log-odds as the sum of a curve per column and of surfaces for pairs that interact.

    All curves are fitted together by penalised logistic regression on bins; with three or more classes, each class has a
    score, and softmax turns scores into probabilities. The penalty is on differences of neighbouring bins (levels of nominal
    columns: on their size), and its strength for each curve is chosen by marginal likelihood, without cross-validation and
    without random numbers. Missing values are a point of their own on each curve. The model does not depend on the order of
    the rows.

    Parameters
    ----------
    interactions : int or "auto", default="auto"
        Maximum number of pairs of columns that get a surface; "auto" is 8, and 0 none. A pair is admitted only if it gains
        on rows that did not choose its values.

    Attributes
    ----------
    curves_ : list of dict
        Terms, curves first: ``columns``, ``bins`` (upper edges of intervals, or levels), ``values``, ``errors`` (standard
        errors), ``weight`` of the rows in each cell, and ``importance``.
    intercept_ : ndarray of shape (n_scores,)
        Score of a row whose curves are all 0.

    Examples
    --------
    >>> import baytree as bt
    >>> frame = bt.datasets.load("penguins")
    >>> model = bt.AdditiveClassifier().fit(frame, "sex")
    >>> model.predict(frame[:2]).tolist()
    ['male', 'female']
    """

    def __init__(
        self,
        interactions: int | str = "auto",
        max_bins: int = 256,
        monotone: Mapping[str, str] | None = None,
        smooth: float = 0.0,
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
        costs: CostsLike = None,
    ):
        super().__init__(interactions, max_bins, monotone, smooth, schema, unseen, n_jobs, profile)
        self.costs = costs
