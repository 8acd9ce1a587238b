"""Linear classifiers, linear regression and splines as text: coefficient tables and goodness of fit.

Zero coefficients are counted, not listed; if there are very many, only the largest are printed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from baytree.display.terminal import MAX_CLASS_COLUMNS, TERMINAL_WIDTH, in_columns
from baytree.summary.linear import Coefficient, LinearSummary, RegressionSummary, Slope, SplineSummary

_MAX_FEATURES = 40  # features of a printed table, those of largest effect: about one screen

_MAX_NAMED_FEATURES = 8  # features without effect that are listed by name: about one line


def coefficient_lines(table: LinearSummary) -> list[str]:
    """Table of coefficients, and notes on what its numbers compare."""
    by_feature: dict[str, list[Coefficient]] = {}
    for row in table.coefficients:
        by_feature.setdefault(row.feature, []).append(row)
    zero = [
        name
        for name, class_lines in by_feature.items()
        if class_lines[0].column and not any(row.estimate for row in class_lines)
    ]
    bound = [name for name in zero if by_feature[name][0].is_bound]
    unused = [name for name in zero if name not in set(bound)]
    active = {name: class_lines for name, class_lines in by_feature.items() if name not in set(zero)}
    shown = {name: active[name] for name in _largest(active)}
    notes = [*_more(len(active)), *_unused(unused), *_bound(bound, table), *_comparison_note(table), *_references(table)]
    return [*_lines(table, shown), *notes]


def _largest(active: dict[str, list[Coefficient]]) -> list[str]:
    """All features, or if there are too many the most important ones, in table order."""
    if len(active) <= _MAX_FEATURES:
        return list(active)
    order = sorted(active, key=lambda name: (bool(active[name][0].column), -_per_deviation(active[name])))
    shown = set(order[:_MAX_FEATURES])
    return [name for name in active if name in shown]


def _per_deviation(class_lines: list[Coefficient]) -> float:
    return max(abs(row.importance) for row in class_lines)


def _lines(table: LinearSummary, shown: dict[str, list[Coefficient]]) -> list[str]:
    has_errors = any(row.standard_error is not None for row in table.coefficients)
    labels = list(dict.fromkeys(str(row.label) for row in table.coefficients))
    if has_errors:
        return [line for k, label in enumerate(labels) for line in _with_errors(table, shown, k, label, len(labels) > 1)]
    return _side_by_side(shown, labels) if len(labels) > 1 else _plain(shown)


def _side_by_side(shown: dict[str, list[Coefficient]], labels: list[str]) -> list[str]:
    """Features as rows and classes as columns, and the largest effect of a standard deviation."""
    rows = [
        [
            name,
            *(f"{row.estimate:.4g}" for row in class_lines),
            f"{_per_deviation(class_lines):.4g}" if class_lines[0].column else "",
        ]
        for name, class_lines in shown.items()  # the intercept has no standard deviation
    ]
    table = [["", *labels, "largest per sd"], *rows]
    if len(labels) <= MAX_CLASS_COLUMNS:
        return in_columns(table, "<>")
    truncated = [[*row[: MAX_CLASS_COLUMNS + 1], row[-1]] for row in table]
    return [*in_columns(truncated, "<>"), f"… {len(labels) - MAX_CLASS_COLUMNS:,} more classes"]


def _plain(shown: dict[str, list[Coefficient]]) -> list[str]:
    rows = [
        [name, *_odds(class_lines[0]), f"{class_lines[0].importance:.4g}" if class_lines[0].column else ""]
        for name, class_lines in shown.items()
    ]
    return in_columns([["", "estimate", "odds ratio", "per sd"], *rows], "<>")


def _with_errors(
    table: LinearSummary, shown: dict[str, list[Coefficient]], at: int, label: str, has_title: bool
) -> list[str]:
    """Coefficients of one class with their standard errors and tests."""
    rows = [[name, *_odds(class_lines[at]), *_error_cells(class_lines[at])] for name, class_lines in shown.items()]
    head = ["", "estimate", "odds ratio", "std. error", "z", "p", "95 % interval"]
    return [*([f"{label} against {table.base}"] if has_title else []), *in_columns([head, *rows], "<>")]


def _odds(row: Coefficient) -> list[str]:
    """Estimate and odds ratio; the intercept has no meaningful odds ratio."""
    return [f"{row.estimate:.4g}", f"{row.odds_ratio:.4g}" if row.column else ""]


def _error_cells(row: Coefficient) -> list[str]:
    if row.interval is None:
        return ["", "", "", ""]
    low, high = row.interval
    return [f"{row.standard_error:.4g}", f"{row.z:.3g}", f"{row.p:.3g}", f"{low:.4g} … {high:.4g}"]


def _more(count: int) -> list[str]:
    return [f"… {count - _MAX_FEATURES} more with a smaller effect per standard deviation"] if count > _MAX_FEATURES else []


def _unused(names: list[str]) -> list[str]:
    return [wrapped(f"zero coefficients, not used ({len(names)}): {_listed(names)}")] if names else []


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_MAX_NAMED_FEATURES]) + (
        f" and {len(names) - _MAX_NAMED_FEATURES} more" if len(names) > _MAX_NAMED_FEATURES else ""
    )


def _bound(names: list[str], table: LinearSummary) -> list[str]:
    """Note on coefficients that a monotonicity constraint holds at 0, and on what that means for standard errors."""
    if not names:
        return []
    has_errors = any(row.standard_error is not None for row in table.coefficients)
    caveat = "; the standard errors of the others are conditional on that" if has_errors else ""
    why = "held at 0 by the monotonicity constraint"
    return [wrapped(f"{why}: {_listed(names)}{caveat}")]


def _comparison_note(table: LinearSummary) -> list[str]:
    """Note on what estimates compare: log-odds of two classes, else scores."""
    if table.base is not None:
        label = table.coefficients[0].label if len({str(row.label) for row in table.coefficients}) == 1 else "each class"
        return [f"estimates are log-odds of {label} against {table.base}"]
    return ["the class with the largest score is the most probable"]


def _references(table: LinearSummary) -> list[str]:
    if not table.references:
        return []
    return [wrapped("reference levels: " + ", ".join(f"{name}={level}" for name, level in table.references))]


def wrapped(note: str) -> str:
    """Note below a table, wrapped to the width of a terminal."""
    return textwrap.fill(note, TERMINAL_WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def regression_lines(summary: RegressionSummary) -> list[str]:
    """Table of coefficients, and notes on unused features, reference levels and goodness of fit."""
    title = f"linear regression for {summary.target}" + (f", {summary.penalty}" if summary.penalty else "")
    table = slope_lines(summary.slopes, summary.references, summary.level, summary.collinear)
    return [title, *table, *_quality(summary)]


def slope_lines(
    slopes: Sequence[Slope], references: Sequence[tuple[str, str]], level: float, collinear: Iterable[str] = ()
) -> list[str]:
    """Table of coefficients: zeros are counted, not listed, and of very many the largest are printed."""
    collinear = tuple(collinear)
    unused = [slope.feature for slope in slopes if slope.column and not slope.estimate and slope.feature not in collinear]
    active = [slope for slope in slopes if not slope.column or slope.estimate]
    more = len(active) - _MAX_FEATURES
    return [
        *_table(_largest_slopes(active), level),
        *([f"… {more} more with a smaller effect per standard deviation"] if more > 0 else []),
        *_list_names("zero coefficients, not used", unused),
        *_list_names("linearly dependent on earlier features, not used", collinear),
        *([wrapped("reference levels: " + ", ".join(f"{name}={at}" for name, at in references))] if references else []),
    ]


def _table(slopes: Sequence[Slope], level: float) -> list[str]:
    if any(slope.standard_error is not None for slope in slopes):
        head = ["", "estimate", "std. error", "t", "p", f"{100 * level:g} % interval", "per sd"]
        return in_columns(
            [head, *([*_estimate(slope), *_slope_error_cells(slope), _per_sd(slope)] for slope in slopes)], "<>"
        )
    return in_columns([["", "estimate", "per sd"], *([*_estimate(slope), _per_sd(slope)] for slope in slopes)], "<>")


def _estimate(slope: Slope) -> list[str]:
    return [slope.feature, _shown(slope.estimate)]


def _per_sd(slope: Slope) -> str:
    return _shown(slope.importance) if slope.column else ""  # the intercept has no standard deviation


def _shown(number: float) -> str:
    """Four significant digits, without exponent for numbers in thousands."""
    return f"{number:.0f}" if 1e4 <= abs(number) < 1e7 else f"{number:.4g}"


def _slope_error_cells(slope: Slope) -> list[str]:
    if slope.interval is None:
        return ["", "", "", ""]
    low, high = slope.interval
    return [_shown(slope.standard_error or 0.0), f"{slope.t:.3g}", f"{slope.p:.3g}", f"{_shown(low)} … {_shown(high)}"]


def _largest_slopes(active: Sequence[Slope]) -> list[Slope]:
    """All features, or if there are too many the most important ones, in table order."""
    order = sorted(range(len(active)), key=lambda k: (bool(active[k].column), -abs(active[k].importance)))
    return [active[k] for k in sorted(order[:_MAX_FEATURES])]


def _list_names(what: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    rest = f" and {len(names) - _MAX_NAMED_FEATURES} more" if len(names) > _MAX_NAMED_FEATURES else ""
    return [wrapped(f"{what} ({len(names)}): {', '.join(names[:_MAX_NAMED_FEATURES])}{rest}")]


def _quality(summary: RegressionSummary) -> list[str]:
    """R² and, for least squares, the statistics of the residuals."""
    rows = f"{summary.weight:g} rows"
    if summary.is_perfect:
        return [
            f"R² = {summary.r2:.4g} on {rows}: a perfect fit up to rounding, so standard errors and p-values are meaningless"
        ]
    if summary.residual_error is None:
        why = "" if summary.penalty else "; no residual degrees of freedom"
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


def spline_lines(summary: SplineSummary) -> list[str]:
    """Sum of terms of each score, and notes on goodness of fit, reference levels and unused columns."""
    number = len(summary.terms) - 1
    of_columns = f" of {_counted(len(summary.columns), 'column')}" if number else ""
    head = f"MARS for {summary.target}: {_counted(number, 'term')}{of_columns}, and a constant"
    sums = [line for k in range(len(summary.scores)) for line in _sum(summary, k)]
    return [head, *sums, *_notes(summary)]


def _sum(summary: SplineSummary, k: int) -> list[str]:
    amounts = [term.coefficient[k] for term in summary.terms]
    sizes = [f"{abs(amount):.4g}" for amount in amounts]
    width = max(map(len, sizes))
    lines = []
    for term, amount, size in zip(summary.terms, amounts, sizes, strict=True):
        sign = "−" if amount < 0 else "+" if term.hinges else " "
        lines.append(" · ".join([f"  {sign} {size:>{width}}", *term.hinges]))
    return ["", f"{summary.scores[k]} =", *lines]


def _notes(summary: SplineSummary) -> list[str]:
    of = "least squares on class indicators: " if summary.scores[0] != summary.target else ""
    by_gcv = f"GCV = {summary.gcv:.6g} (R² by it {summary.relative_gcv:.4g})"
    notes = ["", wrapped(f"{of}R² = {summary.r2:.4g}, RSS = {summary.rss:.6g}, {by_gcv} on {_counted(summary.rows, 'row')}")]
    if summary.references:
        notes.append(wrapped("reference levels: " + ", ".join(f"{name}={at}" for name, at in summary.references)))
    if summary.unused:
        more = f" and {len(summary.unused) - _MAX_NAMED_FEATURES} more" if len(summary.unused) > _MAX_NAMED_FEATURES else ""
        notes.append(wrapped(f"not used ({len(summary.unused)}): {', '.join(summary.unused[:_MAX_NAMED_FEATURES])}{more}"))
    return notes


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
