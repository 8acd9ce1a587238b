"""A linear regression in words: its coefficients as a table, and how well they fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from baytree.show.linear.coefficient_text import wrapped
from baytree.show.terminal import in_columns
from baytree.summary.linear import RegressionSummary, Slope

_SHOWN = 40  # features of a printed table
_NAMED = 8  # features without effect that are named


def regression_lines(summary: RegressionSummary) -> list[str]:
    """The table of coefficients, and below it what was left out, compared and reached."""
    title = f"linear regression for {summary.target}" + (f", {summary.penalty}" if summary.penalty else "")
    table = slope_lines(summary.slopes, summary.references, summary.level, summary.collinear)
    return [title, *table, *_quality(summary)]


def slope_lines(
    slopes: Sequence[Slope], references: Sequence[tuple[str, str]], level: float, collinear: Iterable[str] = ()
) -> list[str]:
    """The lines of the table: what is 0 is counted, not listed, and of very many the largest are shown."""
    collinear = tuple(collinear)
    resting = [slope.feature for slope in slopes if slope.column and not slope.estimate and slope.feature not in collinear]
    active = [slope for slope in slopes if not slope.column or slope.estimate]
    more = len(active) - _SHOWN
    return [
        *_table(_largest(active), level),
        *([f"… {more} more with a smaller effect per standard deviation"] if more > 0 else []),
        *_listed("0 throughout, so not used", resting),
        *_listed("determined by features before them, so not used", collinear),
        *([wrapped("reference levels: " + ", ".join(f"{name}={at}" for name, at in references))] if references else []),
    ]


def _table(slopes: Sequence[Slope], level: float) -> list[str]:
    if any(slope.standard_error is not None for slope in slopes):
        head = ["", "estimate", "std. error", "t", "p", f"{100 * level:g} % interval", "per sd"]
        return in_columns([head, *([*_estimate(slope), *_certainty(slope), _per_sd(slope)] for slope in slopes)], "<>")
    return in_columns([["", "estimate", "per sd"], *([*_estimate(slope), _per_sd(slope)] for slope in slopes)], "<>")


def _estimate(slope: Slope) -> list[str]:
    return [slope.feature, _shown(slope.estimate)]


def _per_sd(slope: Slope) -> str:
    return _shown(slope.importance) if slope.column else ""  # the intercept has no spread


def _shown(number: float) -> str:
    """Four digits, and no exponent where a target in thousands would have one."""
    return f"{number:.0f}" if 1e4 <= abs(number) < 1e7 else f"{number:.4g}"


def _certainty(slope: Slope) -> list[str]:
    if slope.interval is None:
        return ["", "", "", ""]
    low, high = slope.interval
    return [_shown(slope.standard_error or 0.0), f"{slope.t:.3g}", f"{slope.p:.3g}", f"{_shown(low)} … {_shown(high)}"]


def _largest(active: Sequence[Slope]) -> list[Slope]:
    """All features, or those that matter most where they are too many, in the order of the table."""
    order = sorted(range(len(active)), key=lambda k: (bool(active[k].column), -abs(active[k].importance)))
    return [active[k] for k in sorted(order[:_SHOWN])]


def _listed(what: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [wrapped(f"{what} ({len(names)}): {', '.join(names[:_NAMED])}{rest}")]


def _quality(summary: RegressionSummary) -> list[str]:
    """R² and, of least squares, what else is known of the residuals."""
    rows = f"{summary.weight:g} rows"
    if summary.is_perfect:
        return [f"R² = {summary.r2:.4g} on {rows}: a perfect fit but for rounding, so errors and p-values mean nothing"]
    if summary.residual_error is None:
        why = "" if summary.penalty else "; no degrees of freedom are left for the residuals"
        return [f"R² = {summary.r2:.4g} on {rows}{why}"]
    lines = [
        f"residual standard error {_shown(summary.residual_error)} on {summary.degrees:g} degrees of freedom ({rows})",
        f"R² = {summary.r2:.4g}, adjusted {summary.adjusted_r2:.4g}",
        f"log-likelihood {summary.log_likelihood:.6g}, AIC {summary.aic:.6g}, BIC {summary.bic:.6g}",
    ]
    if summary.f is not None:
        used = summary.weight - 1 - (summary.degrees or 0.0)
        lines[1] += f"; F = {summary.f:.4g} on {used:g} and {summary.degrees:g} degrees of freedom, p = {summary.f_p:.3g}"
    return lines
