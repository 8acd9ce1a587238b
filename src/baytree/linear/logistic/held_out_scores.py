"""Losses by which cross-validation compares penalty strengths: log loss, error rate, Brier score and 1 − AUC.

All are losses: the smallest is the best. Rows count by their weights. In one-vs-rest, the log loss is the sum of the
two-class losses that the problems minimise; the others are of the normalised probabilities.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from baytree.base.model import softmax
from baytree.linear.linear_model import shares_of_sigmoids
from baytree.linear.logistic.build_rows import Rows

ScoreLoss = Callable[[np.ndarray, np.ndarray, np.ndarray], float]  # label, weight, probability [n_rows, n_classes]


def score_losses(
    rows: Rows, paths: list[list[list[np.ndarray]]], scoring: str, n_folds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Loss of each fold's rows under the path of all other rows [n_folds, n], and the weights of the folds [n_folds].

    `paths` [n_problems][n_folds] holds the coefficients at each strength: of one problem, or of each class against the
    rest. A fold without a loss, as of a single class for the AUC, has weight 0.
    """
    weight, n_strengths = rows.fold_weights(n_folds), max(len(path) for path in paths[0])
    loss = np.zeros((n_folds, n_strengths))
    for f in range(n_folds):
        if not paths[0][f]:
            continue
        held_out = rows.only(f)
        label, row_weight = held_out.labels(), held_out.weights()
        for i in range(n_strengths):
            theta = np.vstack([path[f][i] for path in paths])
            loss[f, i] = SCORE_LOSSES[scoring](label, row_weight, _probabilities(held_out.scores(theta), len(paths) > 1))
    is_defined = np.isfinite(loss.sum(axis=1))
    if not is_defined.any():
        raise ValueError(f"scoring={scoring!r} needs two classes among the rows of a fold; give a smaller cv, or 'log_loss'")
    loss[~is_defined] = 0.0
    return loss, np.where(is_defined, weight, 0.0)


def _probabilities(scores: np.ndarray, is_one_vs_rest: bool) -> np.ndarray:
    if scores.shape[1] == 1:
        return softmax(np.column_stack([np.zeros(len(scores)), scores]))
    return shares_of_sigmoids(scores) if is_one_vs_rest else softmax(scores)


def _error_rate(label: np.ndarray, weight: np.ndarray, probability: np.ndarray) -> float:
    return float(weight @ (np.argmax(probability, axis=1) != label) / weight.sum())


def _brier_score(label: np.ndarray, weight: np.ndarray, probability: np.ndarray) -> float:
    """Mean squared error of the probabilities; for two classes, of one of them."""
    error = probability - (label[:, None] == np.arange(probability.shape[1]))
    return float(weight @ (error**2).sum(axis=1) / weight.sum() / (2 if probability.shape[1] == 2 else 1))


def _missing_area(label: np.ndarray, weight: np.ndarray, probability: np.ndarray) -> float:
    """1 − area under the ROC curve; for three or more classes the mean over those that occur, each against the rest."""
    n_classes = probability.shape[1]
    areas = [_area(label == c, weight, probability[:, c]) for c in ([1] if n_classes == 2 else range(n_classes))]
    return 1 - float(np.mean([area for area in areas if not np.isnan(area)] or [np.nan]))


def _area(is_positive: np.ndarray, weight: np.ndarray, score: np.ndarray) -> float:
    """Probability that a positive row scores higher than a negative one, ties counting half; NaN without both."""
    values, index = np.unique(score, return_inverse=True)
    positive, negative = (np.bincount(index, weight * side, len(values)) for side in (is_positive, ~is_positive))
    pairs = positive.sum() * negative.sum()
    return float(positive @ (np.cumsum(negative) - negative / 2) / pairs) if pairs > 0 else np.nan


SCORE_LOSSES: dict[str, ScoreLoss] = {"accuracy": _error_rate, "auc": _missing_area, "brier": _brier_score}

SCORINGS = ("log_loss", *SCORE_LOSSES)
