"""Pictures of results; the only room that knows matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_COLOUR, _QUIET = "#2f6f4f", "#9aa5a0"


def axes(ax: Any, size: tuple[float, float] = (7.0, 4.0)) -> Any:
    """The given axes, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ModuleNotFoundError("a picture needs matplotlib; pip install 'baytree[plot]'") from None
    return Figure(figsize=size, layout="constrained").subplots()


def bars(names: Sequence[str], values: Sequence[float], title: str, ax: Any = None) -> Any:
    """Horizontal bars, the first on top; unknown values have no bar."""
    ax = axes(ax, (7.0, 1.0 + 0.28 * len(names)))
    places = np.arange(len(names))
    ax.barh(places, np.nan_to_num(values), color=_COLOUR)
    ax.set_yticks(places, [_plain(name) for name in names])
    ax.invert_yaxis()
    ax.set_title(_plain(title))
    return ax


def intervals(names: Sequence[str], means: np.ndarray, low: np.ndarray, high: np.ndarray, title: str, ax: Any = None) -> Any:
    """A point with its interval for each name, the first on top."""
    ax = axes(ax, (7.0, 1.0 + 0.35 * len(names)))
    places = np.arange(len(names))
    ax.errorbar(means, places, xerr=[means - low, high - means], fmt="o", color=_COLOUR, ecolor=_QUIET, capsize=3)
    ax.set_yticks(places, [_plain(name) for name in names])
    ax.invert_yaxis()
    ax.set_title(_plain(title))
    ax.grid(axis="x", alpha=0.3)
    return ax


def band(x: np.ndarray, mean: np.ndarray, error: np.ndarray, labels: tuple[str, str], mark: int, ax: Any = None) -> Any:
    """A line with its standard error around it, one place marked."""
    ax = axes(ax)
    ax.fill_between(x, mean - error, mean + error, color=_QUIET, alpha=0.3, linewidth=0)
    ax.plot(x, mean, color=_COLOUR, marker="o", markersize=3)
    ax.plot(x[mark], mean[mark], marker="o", color=_COLOUR, markersize=9)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    return ax


def calibration(predicted: np.ndarray, observed: np.ndarray, weight: np.ndarray, title: str, ax: Any = None) -> Any:
    """What was predicted against what happened; points on the diagonal are honest probabilities."""
    ax = axes(ax, (4.5, 4.5))
    ax.plot([0, 1], [0, 1], color=_QUIET, linewidth=1)
    ax.scatter(predicted, observed, s=10 + 90 * weight / max(weight.max(), 1), color=_COLOUR)
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("observed share")
    ax.set_title(_plain(title))
    return ax


def _plain(text: object) -> str:
    """Text that matplotlib takes as it is: a dollar sign would start a formula."""
    return str(text).replace("$", r"\$")
