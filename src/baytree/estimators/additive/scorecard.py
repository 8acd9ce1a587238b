"""`Scorecard`: whole points for the bins of each column, for two classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import CostsLike, FrameLike
from baytree._warnings import did_you_mean
from baytree.base.predictor import is_without_rows
from baytree.binning.coarse_bins import MONOTONE, BinningOptions
from baytree.binning.column_bins import ColumnBins
from baytree.binning.optimal import SHAPES
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.estimators.prediction import Classifier
from baytree.scorecard.card_table import COMPARISONS, CardTable, Reasons, reasons_of
from baytree.scorecard.learner import ScorecardLearner
from baytree.scorecard.model import Scale, ScorecardModel
from baytree.scorecard.selection import SELECTIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_BINS, _MAX_BASE, _MIN_TO_DOUBLE = 100, 1_000_000, 1.0

_MAX_FOLDS = 1_000  # each makes bins of its own

_RULES = ("min", "1se")


_MIN_ODDS = 1e-9  # and its inverse: probabilities closer to 0 and 1 have no points that a person would read


class Scorecard(Classifier):
    """Scorecard for two classes: each column has a few bins, each bin whole points, and the sum of the points is the score.

    Each column is cut into the bins of largest log-likelihood (as by `bin_column`), whose weights of evidence enter a
    logistic regression with coefficients that are not negative, so that better evidence never costs points. Columns are
    chosen by cross-validation. The coefficients are turned into points: a score of `base_points` means odds of `base_odds`,
    and every `points_to_double` points more double the odds. The probability is computed from the whole points, so the card
    on paper and the model agree. Missing values are a bin of their own; a missing value or level without training rows has 0
    points.

    Rejected applicants, whose outcome nobody knows, are not part of the method (reject inference): the card describes the
    rows it was fitted to.

    Parameters
    ----------
    base_points : int, default=600
        Score at which the odds are `base_odds`.
    base_odds : float, default=50
        Odds of the good class to the other one at `base_points`.
    points_to_double : float, default=20
        Points that double the odds, at least 1. With fewer points, rounding costs more accuracy.
    max_bins : int, default=6
        Maximum number of bins of a column, at least 2, besides that of missing values.
    min_bin : float, default=0.05
        Minimum proportion of all rows in a bin, from 0 to 0.5.
    monotone : {"auto", "up", "down", "peak", "valley", None} or dict, default="auto"
        Order of the rates of the second class in neighbouring bins, for all numeric and ordinal columns, as in
        `bin_column`; or a dict by column, with "auto" for the others.
    good : label, optional
        Class whose odds rise with the score. By default the class with more rows, which is the good one in most tables of
        credits; the card names it.
    select : {"l1", "stepwise", "all"}, default="l1"
        How columns are chosen: along the L1 path or by forward steps, as far as cross-validation says; or all of them.
    n_folds : int, default=5
        Number of folds of the cross-validation.
    rule : {"min", "1se"}, default="min"
        Which columns to keep: those of the smallest held-out loss, or the fewest within one standard error of it.

    Attributes
    ----------
    bins_ : dict of ColumnBins
        Optimal bins of each column, also of those without points. Not stored in model files.
    good_ : label
        Class whose odds rise with the score.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"income": [20, 30, 40, 50] * 25, "paid": (["no"] * 3 + ["yes"]) * 5 + ["no", "yes", "yes", "yes"] * 20}
    >>> card = bt.Scorecard(min_bin=0.1).fit(rows, "paid")
    >>> card.points({"income": [20, 50]}).tolist()
    [359, 601]
    >>> card.good_
    'yes'
    """

    model_: ScorecardModel
    bins_: dict[str, ColumnBins]

    def __init__(
        self,
        base_points: int = 600,
        base_odds: float = 50,
        points_to_double: float = 20,
        max_bins: int = 6,
        min_bin: float = 0.05,
        monotone: str | Mapping[str, str | None] | None = "auto",
        good: Any = None,
        select: str = "l1",
        n_folds: int = 5,
        rule: str = "min",
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
        costs: CostsLike = None,
    ):
        self.base_points = base_points
        self.base_odds = base_odds
        self.points_to_double = points_to_double
        self.max_bins = max_bins
        self.min_bin = min_bin
        self.monotone = monotone
        self.good = good
        self.select = select
        self.n_folds = n_folds
        self.rule = rule
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile
        self.costs = costs

    @property
    def good_(self) -> Any:
        """Class whose odds rise with the score."""
        check_is_fitted(self, "model_")
        return self.classes_[self.model_.good]

    def table(self) -> CardTable:
        """Card as analysts print it: a line per bin with its rows, rate, weight of evidence, information value and points.

        Returns
        -------
        CardTable
            Prints as a table; `to_frame` gives a data frame.
        """
        check_is_fitted(self, "model_")
        return CardTable(self.model_.summary(self.schema_))

    def points(self, X: FrameLike) -> np.ndarray:
        """Score of each row: the points of every row plus those of its bins.

        Parameters
        ----------
        X : data frame or array
            Rows to score.

        Returns
        -------
        ndarray of shape (n_rows,)
            Whole points.
        """
        return np.empty(0, np.int64) if is_without_rows(X) else self.model_.scores(self._encoded(X))

    def reasons(self, X: FrameLike, n: int = 4, compared_with: str = "best") -> Reasons:
        """Adverse action reasons: the columns that cost each row most points.

        Parameters
        ----------
        X : data frame or array
            Rows to explain.
        n : int, default=4
            Maximum number of reasons of a row.
        compared_with : {"best", "average"}, default="best"
            Whether a column costs points against its best bin, or against the average of the training rows.

        Returns
        -------
        Reasons
            A list of reasons for each row, each with `column`, `bin`, `points` and `lost`. Columns that cost nothing are no
            reasons.
        """
        n = param_validation.integer("n", n, 1)
        param_validation.one_of("compared_with", compared_with, COMPARISONS)
        if is_without_rows(X):
            return Reasons()
        return reasons_of(self.model_, self.schema_, self._encoded(X), n, compared_with)

    def plot(self, column: str | None = None, ax: Axes | None = None) -> Axes:
        """Plot the points of the bins of a column, by default of the one with the widest range; needs matplotlib.

        Parameters
        ----------
        column : str, optional
            Name of the column.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        """
        from baytree.rendering.plots.scorecard_plots import plot_points

        check_is_fitted(self, "model_")
        summary = self.model_.summary(self.schema_)
        if not summary.columns:
            raise ValueError("there is nothing to plot: no column has points, so the card is a constant")
        by_name = {each.column: each for each in summary.columns}
        name = summary.columns[0].column if column is None else column
        if name not in by_name:
            raise ValueError(f"Scorecard: {did_you_mean('column', str(name), list(by_name))}")
        return plot_points(by_name[name], summary.good, ax)

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

    def _learner(self, schema: Schema) -> ScorecardLearner:
        param_validation.reject_text_columns(schema, "a scorecard")
        _check_classes(schema)
        by_column, for_all = self._monotone(schema)
        return ScorecardLearner(
            self._scale(),
            self._good(schema),
            BinningOptions(
                max_bins=_bins(self.max_bins),
                min_bin=param_validation.number("min_bin", self.min_bin, 0, 0.5),
                monotone=for_all,
                objective="log_likelihood",  # information value favours bins of few, extreme rows
            ),
            by_column,
            param_validation.one_of("select", self.select, SELECTIONS),
            param_validation.integer("n_folds", self.n_folds, 2, _MAX_FOLDS),
            param_validation.one_of("rule", self.rule, _RULES),
        )

    def _scale(self) -> Scale:
        base = param_validation.number("base_points", self.base_points, -_MAX_BASE, _MAX_BASE)
        if base != round(base):
            raise ValueError(
                f"base_points={self.base_points!r}: points are whole; give a whole number, such as {round(base)}"
            )
        to_double = param_validation.positive("points_to_double", self.points_to_double)
        if not _MIN_TO_DOUBLE <= to_double <= _MAX_BASE:
            raise ValueError(
                f"points_to_double={self.points_to_double!r}: points are whole, and a single one would more than double the "
                "odds; give at least 1, such as 20"
                if to_double < _MIN_TO_DOUBLE
                else f"points_to_double={self.points_to_double!r}: give at most {_MAX_BASE:,}, such as 20"
            )
        odds = param_validation.positive("base_odds", self.base_odds)
        if not _MIN_ODDS <= odds <= 1 / _MIN_ODDS:
            between = f"{_MIN_ODDS:g} and {1 / _MIN_ODDS:g}"
            raise ValueError(f"base_odds={self.base_odds!r}: give odds between {between}, such as 50")
        return Scale(int(base), odds, to_double)

    def _good(self, schema: Schema) -> int | None:
        """Code of the good class; None for the larger one."""
        if self.good is None:
            return None
        codes = {str(label): code for code, label in enumerate(schema.classes)}
        if str(self.good) not in codes:
            raise ValueError(
                f"good={self.good!r}: the target {schema.target.name!r} has the classes "
                f"{' and '.join(map(repr, schema.classes))}; name the one whose odds should rise with the score"
            )
        return codes[str(self.good)]

    def _monotone(self, schema: Schema) -> tuple[tuple[tuple[str, str | None], ...], str | None]:
        """Constraint of single columns, and that of all others."""
        if not isinstance(self.monotone, Mapping):
            return (), param_validation.one_of("monotone", self.monotone, MONOTONE)
        for name, shape in self.monotone.items():
            known = param_validation.column_or_none("monotone", name, schema)
            param_validation.one_of(f"monotone[{name!r}]", shape, MONOTONE)
            if known is not None and shape in SHAPES and schema[known].kind is Kind.NOMINAL:
                raise ValueError(
                    f"monotone[{name!r}]={shape!r}: the levels of column {name!r} have no order; use 'auto', or list them "
                    f"in order in schema={{{name!r}: …}}"
                )
        return tuple(self.monotone.items()), "auto"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _bins(max_bins: object) -> int:
    if isinstance(max_bins, int) and max_bins == 1:
        raise ValueError("max_bins=1: a single bin tells nothing about the target; give at least 2")
    return param_validation.integer("max_bins", max_bins, 2, _MAX_BINS)


def _check_classes(schema: Schema) -> None:
    """Raise ValueError unless the target has two classes."""
    classes, name = schema.classes, schema.target.name
    if len(classes) == 1:
        raise ValueError(
            f"Scorecard: the target {name!r} has only one class, {classes[0]!r}; a card needs rows of two classes"
        )
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: a Scorecard has points for two "
            f"classes, but {name!r} has {len(classes)}; join classes into two, or use AdditiveClassifier"
        )
