"""How well a model did, in words and aligned numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.display.terminal import escaped
from baytree.metrics import scores as metrics
from baytree.metrics.confusion import Confusion, by_class, cells
from baytree.metrics.residuals import Residuals


def of(counted: Confusion | Residuals, classes: Sequence[str]) -> str:
    """The scores of a classifier, by class and in all, or of a regression."""
    return _of_numbers(counted) if isinstance(counted, Residuals) else _of_classes(counted, classes)


def _of_numbers(counted: Residuals) -> str:
    return "\n".join([
        f"rows                    {counted.n_rows:,}",
        f"R²                      {counted.explained:.4f}",
        f"root mean square error  {counted.root_mean_square:.6g}",
        f"mean absolute error     {counted.mean_absolute:.6g}",
        f"median absolute error   {counted.scores['median error']:.6g}",
    ])  # fmt: skip


def _of_classes(counted: Confusion, classes: Sequence[str]) -> str:
    tables = by_class(counted.counts, classes), cells(counted.counts, classes, "is, predicted as")
    return "\n\n".join([_in_all(counted, classes), *tables])


def _in_all(counted: Confusion, classes: Sequence[str]) -> str:
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
        f"AUC                {_known(counted.area)}",
        *_costs(counted, classes),
    ])  # fmt: skip


def _costs(counted: Confusion, classes: Sequence[str]) -> list[str]:
    """What a row costs by the class of least expected cost, by the model's own answers, and by one answer for all."""
    if counted.priced is None:
        return []
    code, cost = counted.priced.of_one_answer(counted.counts)
    return [
        f"expected cost      {counted.priced.expected:.4f}  (as answered {counted.priced.of_answers(counted.counts):.4f})",
        f"                   always {escaped(classes[code])}: {cost:.4f}",
    ]


def _known(score: float) -> str:
    return "–" if np.isnan(score) else f"{score:.4f}"
