"""Confusion matrix, probability scores and expected cost of a classifier, as exact sums that are additive over parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import msgspec
import numpy as np

from baytree.display.terminal import aligned, escaped
from baytree.metrics import scores as metrics
from baytree.metrics.decision_curve import DecisionCurve, decision_curve
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import ExactSum
from baytree.statistics.value_counts import WeightedProbabilities
from baytree.uncertainty.decision import min_expected_cost_class

_TINY = np.finfo(float).tiny  # instead of a weight of 0, which divides nothing

BINS = 10  # of predicted probabilities, of equal width


class Confusion(msgspec.Struct, frozen=True, dict=True):
    """Exact sums over rows of known class, from which all classification metrics are computed; additive over parts."""

    n_rows: int
    cells: ExactSum  # [n_classes, n_classes]: weights by true and by predicted class
    losses: ExactSum  # [2, 1]: sums of log losses and of Brier scores
    bin_rows: np.ndarray  # int64 [BINS]
    bins: ExactSum  # [3 · BINS, 1]: sums of weights, predicted probabilities and outcomes
    chances: tuple[
        WeightedProbabilities, ...
    ]  # for each class with a ROC curve: weights of its probability where it is true (1) and where not (0)
    n_unlabelled: int = 0  # rows that were skipped
    priced: ExpectedCost | None = None  # if costs are given

    @classmethod
    def of(
        cls,
        truth: np.ndarray,
        answer: np.ndarray,
        probability: np.ndarray,
        weight: np.ndarray | None = None,
        costs: np.ndarray | None = None,
    ) -> Self:
        """Sums over rows, from codes of true and predicted classes [n_rows] and probabilities [n_rows, n_classes]."""
        n_classes = probability.shape[1]
        cells = Counts.of(truth.astype(np.int32), answer.astype(np.int32), weight, n_classes, n_classes).cells
        losses = [metrics.log_losses(truth, probability), metrics.brier_scores(truth, probability)]
        predicted, happened = metrics.calibration_inputs(truth, answer, probability)
        bin_index = metrics.bins_of(predicted, BINS)
        sums = [np.ones(len(truth)), predicted, happened.astype(float)]
        return cls(
            len(truth),
            cells.take(np.arange(1, n_classes + 1)),
            _totals(losses, np.zeros(len(truth), np.int64), 1, weight),
            np.bincount(bin_index, minlength=BINS),
            _totals(sums, bin_index, BINS, weight),
            tuple(
                WeightedProbabilities.of(probability[:, c], truth == c, weight, 2) for c in metrics.with_curves(n_classes)
            ),
            priced=None if costs is None else ExpectedCost.of(truth, probability, weight, costs),
        )

    @classmethod
    def of_groups(
        cls,
        truth: np.ndarray,
        answer: np.ndarray,
        probability: np.ndarray,
        rows: np.ndarray,
        costs: np.ndarray | None,
        n_unlabelled: int,
    ) -> Self:
        """The same for groups of equal rows, given the number of rows of each. rows float64 [n_groups]"""
        grouped = cls.of(truth, answer, probability, rows, costs)
        bin_index = metrics.bins_of(metrics.calibration_inputs(truth, answer, probability)[0], BINS)
        bin_rows = np.bincount(bin_index, rows, BINS).astype(np.int64)
        return msgspec.structs.replace(grouped, n_rows=int(rows.sum()), bin_rows=bin_rows, n_unlabelled=n_unlabelled)

    @classmethod
    def none(cls, n_classes: int, n_unlabelled: int = 0, costs: np.ndarray | None = None) -> Self:
        """Sums over no rows."""
        empty = cls.of(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, n_classes)), None, costs)
        return msgspec.structs.replace(empty, n_unlabelled=n_unlabelled)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.cells + other.cells,
            self.losses + other.losses,
            self.bin_rows + other.bin_rows,
            self.bins + other.bins,
            tuple(mine + theirs for mine, theirs in zip(self.chances, other.chances, strict=True)),
            self.n_unlabelled + other.n_unlabelled,
            None if self.priced is None or other.priced is None else self.priced + other.priced,
        )

    @cached_property
    def counts(self) -> np.ndarray:
        """Confusion matrix (rows: true, columns: predicted): [n_classes, n_classes]; integers if rows are unweighted."""
        weights = self.cells.rounded()
        is_unweighted = weights.sum() == self.n_rows and bool((weights == np.floor(weights)).all())
        return weights.astype(np.int64) if is_unweighted else weights

    @property
    def log_loss(self) -> float:
        """Mean of −log of the probability of the true class."""
        return float(self.losses.rounded()[0, 0] / self.counts.sum())

    @property
    def brier_score(self) -> float:
        """Mean squared error of the probabilities."""
        return float(self.losses.rounded()[1, 0] / self.counts.sum())

    @property
    def area(self) -> float:
        """Area under the ROC curve; for more than two classes the mean of one-versus-rest areas."""
        return metrics.mean_area([metrics.area_of_counts(*chances.weights().T[::-1]) for chances in self.chances])

    def roc(self, code: int) -> dict[str, np.ndarray]:
        """ROC curve of a class against the rest, by descending threshold; starts at (0, 0) with the threshold infinity."""
        threshold, positive, negative = self._ranked(code)
        rates = [np.append(0.0, np.cumsum(weight) / max(weight.sum(), _TINY)) for weight in (negative, positive)]
        return {
            "false_positive_rate": rates[0],
            "true_positive_rate": rates[1],
            "threshold": np.append(np.inf, threshold),
        }

    def precision_recall(self, code: int) -> dict[str, np.ndarray]:
        """Precision and recall of a class against the rest, by descending threshold."""
        threshold, positive, negative = self._ranked(code)
        found, chosen = np.cumsum(positive), np.cumsum(positive + negative)
        return {
            "recall": found / max(positive.sum(), _TINY),
            "precision": found / np.maximum(chosen, _TINY),
            "threshold": threshold,
        }

    def lift(self, code: int) -> dict[str, np.ndarray]:
        """Lift of the rows ranked first by the probability of a class, against their proportion of all rows."""
        _, positive, negative = self._ranked(code)
        chosen = np.cumsum(positive + negative)
        proportion = positive.sum() / chosen[-1]
        lift = np.cumsum(positive) / np.maximum(chosen, _TINY) / max(proportion, _TINY)
        return {"proportion": chosen / chosen[-1], "lift": lift}

    def _ranked(self, code: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distinct probabilities of a class, descending, and the weights of rows of the class and of the others."""
        n_classes = len(self.counts)
        if n_classes == 2:  # the statistic has the second class; the first has the complements
            values, weights = self.chances[0].value, self.chances[0].weights()
            values, weights = (values, weights) if code == 1 else (1.0 - values[::-1], weights[::-1, ::-1])
        else:
            values, weights = self.chances[code].value, self.chances[code].weights()
        return values[::-1], weights[::-1, 1], weights[::-1, 0]

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% confidence interval of the accuracy."""
        n, accuracy, z = self.n_rows, metrics.accuracy(self.counts), 1.959963984540054
        centre, half = accuracy + z * z / (2 * n), z * np.sqrt(accuracy * (1 - accuracy) / n + z * z / (4 * n * n))
        return float((centre - half) / (1 + z * z / n)), float((centre + half) / (1 + z * z / n))

    @property
    def calibration(self) -> dict[str, np.ndarray]:
        """Mean predicted probability and observed frequency, in bins of equal width."""
        used = self.bin_rows > 0
        weight, predicted, happened = self.bins.rounded()[:, 0].reshape(3, BINS)[:, used]
        return {"predicted": predicted / weight, "observed": happened / weight, "rows": self.bin_rows[used]}

    @property
    def scores(self) -> dict[str, float]:
        """All classification metrics by name."""
        values: dict[str, Any] = {
            "accuracy": metrics.accuracy(self.counts),
            "balanced accuracy": metrics.balanced_accuracy(self.counts),
            "log loss": self.log_loss,
            "Brier score": self.brier_score,
            "AUC": self.area,
            "F1 (macro)": metrics.macro_f1(self.counts),
            "MCC": metrics.matthews(self.counts),
        }
        priced = {} if self.priced is None else {"expected cost": self.priced.expected}
        return {metric: values[metric] for metric in metrics.CLASSIFICATION} | priced

    def decision_curve(self, code: int, label: object, threshold: np.ndarray) -> DecisionCurve:
        """Decision curve for a class. With two classes, the probability of the first is one minus that of the second."""
        curves = metrics.with_curves(len(self.counts))
        if code in curves:
            chances = self.chances[curves.index(code)]
            return decision_curve(label, chances.value, chances.weights(), threshold)
        (chances,) = self.chances
        return decision_curve(label, 1 - chances.value[::-1], chances.weights()[::-1, ::-1], threshold)


def _totals(values: Sequence[np.ndarray], position: np.ndarray, n_places: int, weight: np.ndarray | None) -> ExactSum:
    """Sum of each array over the rows of each index: [n_values · n_places, 1]."""
    weighted = [np.ascontiguousarray(value if weight is None else value * weight, np.float64) for value in values]
    code = np.concatenate([position + k * n_places for k in range(len(weighted))]).astype(np.int32)
    cells = Counts.of(code, np.zeros(len(code), np.int32), np.concatenate(weighted), n_places * len(weighted), 1).cells
    return cells.take(np.arange(1, n_places * len(weighted) + 1))


def by_class(counts: np.ndarray, classes: Sequence[str]) -> str:
    """Text table with one line per class: rows, precision, recall and F1."""
    scores = [_formatted(score(counts)) for score in (metrics.precision, metrics.recall, metrics.f1)]
    rows = zip(classes, map(_formatted_count, counts.sum(axis=1).tolist()), *scores, strict=True)
    return aligned(["class", "rows", "precision", "recall", "F1"], rows)


def cells(counts: np.ndarray, classes: Sequence[str], corner: str) -> str:
    """Text of the confusion matrix, one line per true class."""
    escaped_names = list(map(escaped, classes))
    rows = [[name, *map(_formatted_count, row)] for name, row in zip(escaped_names, counts.tolist(), strict=True)]
    return aligned([corner, *escaped_names], rows)


def _formatted(scores: np.ndarray) -> list[str]:
    return ["–" if np.isnan(score) else f"{score:.4f}" for score in scores]


def _formatted_count(rows: float) -> str:
    """Number of rows, or their weight."""
    return f"{rows:,}" if isinstance(rows, int) else f"{rows:,.6g}"


class ExpectedCost(msgspec.Struct, frozen=True):
    """Exact weights by true class and by the class of minimum expected cost; additive over parts."""

    costs: np.ndarray  # [n_classes, n_classes]: cost of predicting the second class where the first is true
    cells: ExactSum  # [n_classes, n_classes]: weights by true class and by the class of minimum expected cost

    @classmethod
    def of(cls, truth: np.ndarray, probability: np.ndarray, weight: np.ndarray | None, costs: np.ndarray) -> Self:
        """Sums over rows, from codes of true classes [n_rows] and probabilities [n_rows, n_classes]."""
        predicted = min_expected_cost_class(probability, costs)
        cells = Counts.of(truth.astype(np.int32), predicted.astype(np.int32), weight, len(costs), len(costs)).cells
        return cls(costs, cells.take(np.arange(1, len(costs) + 1)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.costs, self.cells + other.cells)

    @property
    def expected(self) -> float:
        """Mean cost per row if the class of minimum expected cost is predicted."""
        return self.of_answers(self.cells.rounded())

    def of_answers(self, counts: np.ndarray) -> float:
        """Mean cost per row of a confusion matrix of weights."""
        return float((counts * self.costs).sum() / counts.sum())

    def of_one_answer(self, counts: np.ndarray) -> tuple[int, float]:
        """Class with the lowest cost if it is predicted for every row, and that mean cost."""
        cost = counts.sum(axis=1) @ self.costs / counts.sum()
        return int(cost.argmin()), float(cost.min())
