"""Pages and sections of an evaluation: figures with the baseline, confusion matrix, curves, calibration, errors.

All of it follows from the additive sums (`Confusion`, `Residuals`), so it is the same for rows in memory, on disk and on a
cluster, and no row enters the page.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.display.terminal import number
from baytree.metrics import scores
from baytree.metrics.confusion import Confusion
from baytree.metrics.residuals import Residuals
from baytree.rendering.page.html_page import Page
from baytree.rendering.page.table_views import ConfusionPair, CurvePath, CurvesView, ErrorsView, Figure, Overview

MAX_POINTS = 120  # points of a drawn curve; more cannot be told apart at its size

MAX_CURVES = 7  # classes with a curve and a colour of their own, if there are more than eight

MAX_CONFUSIONS = 10  # pairs of classes in the list of the most frequent confusions

MIN_LISTED_CLASSES = 9  # classes from which on the list of confusions helps to read the matrix

N_CELLS = 32  # squares along each side of predicted against actual values

N_ERROR_BINS = 24  # of the histogram of errors

_BOX = 200.0  # side of the drawing


def evaluation_page(name: str, target: str, classes: tuple, counted: Confusion | Residuals) -> Page:
    """Page of an evaluation on given rows."""
    lead = f"Evaluation on {counted.n_rows:,} rows with a known {target}."
    if isinstance(counted, Residuals):
        overview = Overview(_figures(counted.scores))
        return Page(f"{name} for {target}", lead, (overview, errors_view(counted, target)))
    names = tuple(map(str, classes))
    overview = Overview(_class_figures(counted, names), names, tuple(map(tuple, counted.counts.tolist())))
    return Page(f"{name} for {target}", lead, (overview, curves_view(counted, names)))


def curves_view(counted: Confusion, classes: tuple[str, ...]) -> CurvesView:
    """ROC and precision–recall curves, calibration, and the most frequent confusions of many classes."""
    present = counted.counts.sum(axis=1) > 0
    shown = [code for code in scores.with_curves(len(classes)) if present[code]]
    shown = shown if len(classes) <= MAX_CURVES + 1 else [code for code in shown if code < MAX_CURVES]
    roc, precision = [], []
    for code in shown:
        points = counted.roc(code)
        x, y = points["false_positive_rate"], points["true_positive_rate"]
        roc.append(CurvePath(classes[code], code, _path(x, y), f"{np.trapezoid(y, x):.3f}"))
        points = counted.precision_recall(code)
        x, y = np.append(0.0, points["recall"]), np.append(points["precision"][:1], points["precision"])
        average = float(np.diff(x) @ y[1:])
        precision.append(CurvePath(classes[code], code, _path(x, y), f"{average:.3f}"))
    calibration = counted.calibration
    largest = float(calibration["rows"].max(initial=1))
    bins = tuple(
        (_BOX * float(p), _BOX - _BOX * float(o), 2 + 6 * float(np.sqrt(n / largest)), int(n))
        for p, o, n in zip(calibration["predicted"], calibration["observed"], calibration["rows"], strict=True)
    )
    return CurvesView(tuple(roc), tuple(precision), bins, _confusions(counted, classes))


def errors_view(counted: Residuals, target: str) -> ErrorsView:
    """Histogram of the absolute errors, up to their 99 % quantile, and quantiles."""
    size, weight = counted.sizes.value, counted.sizes.weights()[:, 0]
    order = np.argsort(size)
    size, weight = size[order], weight[order]
    cumulative = np.cumsum(weight) / max(weight.sum(), np.finfo(float).tiny)
    quantile = {q: float(size[min(int(np.searchsorted(cumulative, q)), len(size) - 1)]) for q in (0.5, 0.9, 0.99)}
    top = quantile[0.99] or 1.0
    counts, _ = np.histogram(np.minimum(size, top), N_ERROR_BINS, (0.0, top), weights=weight)
    bars = tuple((counts / max(float(counts.max()), 1e-300)).tolist())
    return ErrorsView(target, bars, top, tuple(quantile.items()))


def with_cells(view: ErrorsView, predicted: np.ndarray, truth: np.ndarray) -> ErrorsView:
    """The view with predictions against actual values, counted in squares: single rows do not enter a page."""
    both = np.concatenate([predicted, truth])
    low, high = float(both.min()), float(both.max())
    half = high / 2 - low / 2 or 1.0  # halves, since the range may overflow
    x, y = (np.clip((N_CELLS * (each / 2 - low / 2) / half).astype(int), 0, N_CELLS - 1) for each in (predicted, truth))
    counts = np.zeros((N_CELLS, N_CELLS))
    np.add.at(counts, (x, y), 1.0)
    side, largest = _BOX / N_CELLS, float(counts.max())
    cells = tuple(
        ((i + 0.5) * side, _BOX - (j + 0.5) * side, side * max(0.25, float(np.sqrt(counts[i, j] / largest))))
        for i, j in np.argwhere(counts > 0).tolist()
    )
    return msgspec.structs.replace(view, cells=cells, ends=(number(low), number(high)))


def _class_figures(counted: Confusion, classes: tuple[str, ...]) -> tuple[Figure, ...]:
    """Accuracy with its interval and the baseline, then the other scores."""
    low, high = counted.interval
    truth = counted.counts.sum(axis=1)
    baseline = float(truth.max() / truth.sum())
    accuracy = counted.scores["accuracy"]
    first = (
        Figure("accuracy", "accuracy", accuracy, f"{100 * accuracy:.1f} %"),
        Figure("accuracy_interval", "95 % interval", low, f"{100 * low:.1f} to {100 * high:.1f} %"),
        Figure("baseline", f"always {classes[int(truth.argmax())]}", baseline, f"{100 * baseline:.1f} %"),
    )
    return first + _figures({name: value for name, value in counted.scores.items() if name != "accuracy"})


def _figures(values: dict[str, float]) -> tuple[Figure, ...]:
    return tuple(
        Figure(name, name, value, f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}")
        for name, value in values.items()
        if np.isfinite(value)
    )


def _confusions(counted: Confusion, classes: tuple[str, ...]) -> tuple[ConfusionPair, ...]:
    if len(classes) < MIN_LISTED_CLASSES:
        return ()
    wrong = np.array(counted.counts, float)
    np.fill_diagonal(wrong, 0.0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MAX_CONFUSIONS]
    pairs = [(int(k) // len(classes), int(k) % len(classes)) for k in order]
    return tuple(ConfusionPair(classes[i], classes[j], float(wrong[i, j])) for i, j in pairs if wrong[i, j] > 0)


def _path(x: np.ndarray, y: np.ndarray) -> str:
    """Path of a curve in the unit square, in the box of the drawing."""
    shown = np.unique(np.linspace(0, len(x) - 1, min(len(x), MAX_POINTS)).astype(int))
    return "M" + "L".join(f"{_BOX * a:.1f} {_BOX - _BOX * b:.1f}" for a, b in zip(x[shown], y[shown], strict=True))
