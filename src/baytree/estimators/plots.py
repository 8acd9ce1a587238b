"""Plots of fitted models as methods: curves of an evaluation, residuals, partial dependence, waterfall of an explanation.

Each method computes a record (`metrics`, `base.model`) and hands it to a function of `rendering.plots`; all need matplotlib,
draw on `ax` if it is given, and return the axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree.engine.dispatch import remote_source
from baytree.estimators.docstrings import complete_methods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from baytree.metrics.evaluation import Evaluation


class PredictionPlots:
    """Plots that all models have."""

    def plot_partial_dependence(self, X: FrameLike, column: str, *, label: object = None, ax: Axes | None = None) -> Axes:
        """Plot the mean prediction with a column set to each of its values; thin lines are single rows.

        Parameters
        ----------
        X : data frame
            Rows; the mean is over at most 1,000 of them, evenly spaced.
        column : str
            Column to vary.
        label : object, optional
            Class whose probability is drawn; by default the second of two classes, or all.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new figure by default.
        """
        from baytree.metrics.partial_dependence import partial_dependence
        from baytree.rendering.plots.evaluation_plots import plot_dependence

        return plot_dependence(partial_dependence(self._predictor, X, column, label), ax)

    def plot_explanation(self, row: FrameLike, *, ax: Axes | None = None) -> Axes:
        """Plot the explanation of one row as a waterfall: start, contributions by size, sum.

        Parameters
        ----------
        row : data frame
            One row.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new figure by default.
        """
        from baytree.rendering.plots.evaluation_plots import plot_waterfall

        explanations = self.explain(row)
        if len(explanations) != 1:
            raise ValueError(f"plot_explanation draws one row, but {len(explanations):,} rows were given; pass frame[:1]")
        return plot_waterfall(explanations[0].to_table(), ax)

    if TYPE_CHECKING:
        _predictor: Any

        def explain(self, X: FrameLike) -> Any: ...


class ClassifierPlots(PredictionPlots):
    """Plots of classifiers for rows whose class is known, in memory or remote."""

    def plot_roc(
        self, X: FrameLike, y: TargetLike = None, *, sample_weight: WeightsLike = None, ax: Axes | None = None
    ) -> Axes:
        """Plot ROC curves: of the second of two classes, or of each class against the rest."""
        return self._evaluated(X, y, sample_weight).plot_roc(ax)

    def plot_precision_recall(
        self, X: FrameLike, y: TargetLike = None, *, sample_weight: WeightsLike = None, ax: Axes | None = None
    ) -> Axes:
        """Plot precision against recall; dashed lines are the proportions of the classes."""
        return self._evaluated(X, y, sample_weight).plot_precision_recall(ax)

    def plot_lift(
        self, X: FrameLike, y: TargetLike = None, *, sample_weight: WeightsLike = None, ax: Axes | None = None
    ) -> Axes:
        """Plot the lift among the rows that are ranked first by probability."""
        return self._evaluated(X, y, sample_weight).plot_lift(ax)

    def plot_confusion(
        self, X: FrameLike, y: TargetLike = None, *, sample_weight: WeightsLike = None, ax: Axes | None = None
    ) -> Axes:
        """Plot the confusion matrix as a heat map (rows: actual, columns: predicted)."""
        return self._evaluated(X, y, sample_weight).plot_confusion(ax)

    def plot_calibration(
        self, X: FrameLike, y: TargetLike = None, *, sample_weight: WeightsLike = None, ax: Axes | None = None
    ) -> Axes:
        """Plot observed proportions against predicted probabilities, in ten bins of equal width."""
        return self._evaluated(X, y, sample_weight).plot(ax)

    def _evaluated(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> Evaluation:
        from baytree.metrics.evaluation import evaluate

        return evaluate(self._predictor, X, y, sample_weight=sample_weight)


class RegressorPlots(PredictionPlots):
    """Plots of regressors for rows whose target is known."""

    def plot_residuals(self, X: FrameLike, y: TargetLike = None, *, ax: Axes | None = None) -> Axes:
        """Plot residuals (actual − predicted) against predictions, with the mean of ten groups of rows."""
        from baytree.rendering.plots.evaluation_plots import plot_residual_points

        if remote_source(X) is not None:
            raise ValueError("plot_residuals draws single rows; pass rows in memory, such as one partition")
        name = self._predictor.schema.target.name
        truth, weight = self._read_true_labels(X, name if y is None else y, None)
        used = weight > 0
        predicted = np.asarray(self.predict(X), float)[used]
        return plot_residual_points(predicted, truth.values[used], name, self._predictor.name, ax)

    if TYPE_CHECKING:

        def predict(self, X: FrameLike) -> np.ndarray: ...

        def _read_true_labels(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> Any: ...


for _plots in (PredictionPlots, ClassifierPlots, RegressorPlots):
    complete_methods(_plots)
