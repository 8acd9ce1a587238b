"""Plots of additive models: a curve with its band and the rows below it, or a surface as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.display.palette import class_colour
from baytree.rendering.plots.charts import axes, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAND = 1.96  # standard errors on each side of a curve: 95 %


class PlottedTerm(msgspec.Struct, frozen=True):
    """Curve or surface over the bins of its columns, missing values last."""

    columns: tuple[str, ...]
    cuts: tuple[np.ndarray, ...]  # of each column; empty for levels
    names: tuple[tuple[str, ...], ...]  # of the bins of each column
    values: np.ndarray  # float64 [bins of each column …, n_scores]
    errors: np.ndarray  # float64, of the same shape
    weight: np.ndarray  # float64 [bins of each column …]
    scores: tuple[str, ...]


def plot_term(term: PlottedTerm, ax: Axes | None = None) -> Axes:
    """Plot a curve, or a surface for the last score."""
    ax = axes(ax)
    if len(term.columns) == 2:
        return _plot_map(term, ax)
    (_plot_line if len(term.cuts[0]) else _plot_points)(term, ax)
    ax.axhline(0, linestyle=":", linewidth=1, color="0.5")
    ax.set_xlabel(literal(term.columns[0]))
    ax.set_ylabel(literal("added to " + (term.scores[0] if len(term.scores) == 1 else "the log-odds")), fontsize="small")
    if len(term.scores) > 1:
        ax.legend(fontsize="small")
    return ax


def _plot_line(term: PlottedTerm, ax: Axes) -> None:
    """Steps over the intervals; the outer ones are drawn as wide as their neighbours."""
    cuts = term.cuts[0]
    width = (cuts[-1] - cuts[0]) / max(len(cuts) - 1, 1) or 1.0
    edges = np.concatenate([[cuts[0] - width], cuts, [cuts[-1] + width]])
    for k, score in enumerate(term.scores):
        values, errors = term.values[:-1, k], _BAND * term.errors[:-1, k]
        ax.stairs(values, edges, baseline=None, label=literal(score), color=class_colour(k))
        ax.stairs(values + errors, edges, baseline=values - errors, fill=True, alpha=0.2, color=class_colour(k))
    low, high = ax.get_ylim()
    density = term.weight[:-1] / max(float(term.weight[:-1].max()), 1e-300)
    ax.stairs(low + 0.15 * (high - low) * density, edges, baseline=low, fill=True, alpha=0.3, color="0.5")


def _plot_points(term: PlottedTerm, ax: Axes) -> None:
    """A point with its interval for each level that occurs."""
    shown = np.flatnonzero(term.weight > 0)
    for k, score in enumerate(term.scores):
        errors, style = _BAND * term.errors[shown, k], {"fmt": "o", "capsize": 2, "color": class_colour(k)}
        ax.errorbar(np.arange(len(shown)), term.values[shown, k], errors, label=literal(score), **style)
    ax.set_xticks(np.arange(len(shown)), [literal(term.names[0][b]) for b in shown], rotation=30, ha="right")


def _plot_map(term: PlottedTerm, ax: Axes) -> Axes:
    values = term.values[..., -1]
    largest = float(np.abs(values).max()) or 1.0
    mesh = ax.pcolormesh(values.T, cmap="RdBu_r", vmin=-largest, vmax=largest)
    ax.figure.colorbar(mesh, ax=ax, label=literal(f"added to {term.scores[-1]}"))
    for side, names, label in ((0, term.names[0], ax.set_xticks), (1, term.names[1], ax.set_yticks)):
        label(np.arange(len(names)) + 0.5, [literal(name) for name in names], fontsize="x-small")
        (ax.set_ylabel if side else ax.set_xlabel)(literal(term.columns[side]))
    ax.tick_params(axis="x", rotation=60)
    return ax
