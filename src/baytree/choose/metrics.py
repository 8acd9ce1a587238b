"""How good answers are: scikit-learn's metrics on class codes, probabilities or numbers, NaN where one is not defined."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn import metrics as sk

Metric = Callable[[np.ndarray, np.ndarray, np.ndarray | None], float]


def _auc(label: np.ndarray, _: np.ndarray, probability: np.ndarray | None) -> float:
    """The area under the ROC curve; with more than two classes the mean over each class against the rest."""
    if probability is None:
        return np.nan
    n_classes = probability.shape[1]
    tested = [1] if n_classes == 2 else range(n_classes)
    areas = [sk.roc_auc_score(label == c, probability[:, c]) for c in tested if 0 < np.sum(label == c) < len(label)]
    return float(np.mean(areas)) if areas else np.nan


def _log_loss(label: np.ndarray, _: np.ndarray, probability: np.ndarray | None) -> float:
    if probability is None:
        return np.nan
    given = probability[np.arange(len(label)), label]
    return float(-np.log(np.maximum(given, np.finfo(np.float64).eps)).mean())


def _brier(label: np.ndarray, _: np.ndarray, probability: np.ndarray | None) -> float:
    """The mean squared error of the probabilities; of two classes only one is counted."""
    if probability is None:
        return np.nan
    error = probability - (label[:, None] == np.arange(probability.shape[1]))
    return float((error**2).sum(axis=1).mean() / (2 if probability.shape[1] == 2 else 1))


CLASSIFICATION: dict[str, Metric] = {
    "accuracy": lambda label, answer, _: float((label == answer).mean()),
    "balanced accuracy": lambda label, answer, _: float(sk.balanced_accuracy_score(label, answer)),
    "log loss": _log_loss,
    "Brier score": _brier,
    "AUC": _auc,
    "F1 (macro)": lambda label, answer, _: float(sk.f1_score(label, answer, average="macro", zero_division=0)),
    "MCC": lambda label, answer, _: float(sk.matthews_corrcoef(label, answer)),
}
REGRESSION: dict[str, Metric] = {
    "RMSE": lambda label, answer, _: float(sk.root_mean_squared_error(label, answer)),
    "MAE": lambda label, answer, _: float(sk.mean_absolute_error(label, answer)),
    "median error": lambda label, answer, _: float(sk.median_absolute_error(label, answer)),
    "R²": lambda label, answer, _: float(sk.r2_score(label, answer)) if len(label) > 1 else np.nan,
}
RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("accuracy", "balanced accuracy", "AUC", "F1 (macro)"), (0.0, 1.0)),
    **dict.fromkeys(("log loss", "RMSE", "MAE", "median error"), (0.0, np.inf)),
    "Brier score": (0.0, 2.0),
    "MCC": (-1.0, 1.0),
    "R²": (-np.inf, 1.0),
}
LOSSES = frozenset({"log loss", "Brier score", "RMSE", "MAE", "median error"})  # smaller is better


def score(metric: str, label: np.ndarray, answer: np.ndarray, probability: np.ndarray | None) -> float:
    """The value of a metric; NaN where it is not defined."""
    known = {**CLASSIFICATION, **REGRESSION}
    if metric not in known:
        raise ValueError(f"no metric {metric!r}; the metrics are {', '.join(map(repr, known))}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return known[metric](label, answer, probability)
