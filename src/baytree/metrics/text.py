"""Text of an evaluation: scores, metrics per class, confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.display.terminal import escaped
from baytree.metrics import scores as metrics
from baytree.metrics.confusion import Confusion, by_class, cells
from baytree.metrics.residuals import Residuals


def of(counted: Confusion | Residuals, classes: Sequence[str]) -> str:
    """Text for a classifier or a regression model."""
    return _regression_text(counted) if isinstance(counted, Residuals) else _classification_text(counted, classes)


def _regression_text(counted: Residuals) -> str:
    return "\n".join([
        f"rows                    {counted.n_rows:,}",
        f"R²                      {counted.explained:.4f}",
        f"root mean square error  {counted.root_mean_square:.6g}",
        f"mean absolute error     {counted.mean_absolute:.6g}",
        f"median absolute error   {counted.scores['median error']:.6g}",
    ])  # fmt: skip


def _classification_text(counted: Confusion, classes: Sequence[str]) -> str:
    tables = by_class(counted.counts, classes), cells(counted.counts, classes, "actual, predicted")
    return "\n\n".join([_overall_scores(counted, classes), *tables])


def _overall_scores(counted: Confusion, classes: Sequence[str]) -> str:
    n, counts, (low, high) = counted.n_rows, counted.counts, counted.interval
    largest = int(counts.sum(axis=1).argmax())
    always = f"always {escaped(classes[largest])}: {counts[largest].sum() / n:.4f}"
    return "\n".join([
        f"rows               {n:,}",
        f"accuracy           {metrics.accuracy(counts):.4f}  (95% interval {low:.4f} to {high:.4f})",
        f"                   {always}",
        f"balanced accuracy  {metrics.balanced_accuracy(counts):.4f}",
        f"F1, mean of all    {metrics.macro_f1(counts):.4f}",
        f"MCC                {metrics.matthews(counts):.4f}",
        f"log loss           {counted.log_loss:.4f}",
        f"Brier score        {counted.brier_score:.4f}",
        f"AUC                {_number_or_dash(counted.area)}",
        *_costs(counted, classes),
    ])  # fmt: skip


def _costs(counted: Confusion, classes: Sequence[str]) -> list[str]:
    """Cost per row: of the class of minimum expected cost, of the predicted classes, and of one class for all rows."""
    if counted.priced is None:
        return []
    code, cost = counted.priced.of_one_answer(counted.counts)
    return [
        f"expected cost      {counted.priced.expected:.4f}  (as answered {counted.priced.of_answers(counted.counts):.4f})",
        f"                   always {escaped(classes[code])}: {cost:.4f}",
    ]


def _number_or_dash(score: float) -> str:
    return "–" if np.isnan(score) else f"{score:.4f}"
