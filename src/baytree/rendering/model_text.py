"""Model summaries as text, a printer per kind of summary, and class-conditional distributions as table rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import floor, inf, isfinite, log10
from typing import Any

from baytree.display.terminal import MAX_CLASS_COLUMNS, in_columns
from baytree.rendering.additive_text import additive_lines
from baytree.rendering.linear_text import coefficient_lines, regression_lines, spline_lines, wrapped
from baytree.rendering.scorecard_text import scorecard_lines
from baytree.rendering.tree_text import (
    certificate_sentence,
    distance,
    in_full,
    mean,
    proportion,
    rule_set_lines,
    sentence,
    shown,
)
from baytree.summary import Summary
from baytree.summary.additive import AdditiveSummary
from baytree.summary.linear import LinearSummary, QuadraticSummary, RegressionSummary, SplineSummary
from baytree.summary.naive_bayes import (
    MAX_WORDS_PER_CLASS,
    Amount,
    IntervalShares,
    JointSummary,
    KernelDensity,
    LevelShares,
    Likelihood,
    NaiveBayesSummary,
    Normal,
    TellingWords,
)
from baytree.summary.scorecard import ScorecardSummary
from baytree.summary.tree import BayesTreeSummary, RuleSetSummary, TreeSummary, TrialsSummary

_MAX_AXES = 6  # discriminant axes whose proportions are listed: one line


def text(summary: Summary) -> str:
    """Summary of a model as text for a terminal."""
    return "\n".join(_PRINTERS[type(summary)](summary))


def _naive_bayes(summary: NaiveBayesSummary) -> list[str]:
    """Priors and class-conditional distributions as a table."""
    belief = [wrapped(summary.belief)] if summary.belief else []
    return [f"naive Bayes for {summary.target}", *_distributions(summary), *belief]


def _distributions(summary: NaiveBayesSummary) -> list[str]:
    rows = [["", *summary.classes], ["prior", *(f"{p:.3f}" for p in summary.prior)]]
    rows += [row for likelihood in summary.likelihoods for row in likelihood_rows(likelihood)]
    return _by_class(rows, len(summary.classes))


def _by_class(rows: list[list[str]], n_classes: int) -> list[str]:
    """Table with a column per class; of very many classes the first, and the number of the others."""
    if n_classes <= MAX_CLASS_COLUMNS:
        return in_columns(rows, "<>")
    return [
        *in_columns([row[: MAX_CLASS_COLUMNS + 1] for row in rows], "<>"),
        f"… {n_classes - MAX_CLASS_COLUMNS:,} more classes",
    ]


def _joint_table(summary: JointSummary) -> list[str]:
    """The heaviest combinations."""
    counted = f"{summary.occurring} combinations occur of {summary.possible}"
    lines = [f"joint table for {summary.target}: {counted}" if summary.target else f"joint table: {counted}"]
    for each in summary.heaviest:
        values = zip(summary.columns, each.levels, strict=True)
        if summary.target:
            values = (*values, (summary.target, each.label))
        lines.append(f"{each.share:8.4f}  " + ", ".join(f"{name} = {value}" for name, value in values))
    return lines


def _linear(summary: LinearSummary) -> list[str]:
    """Coefficients as a table, and the proportion of each discriminant axis."""
    lines = [f"{summary.title} for {summary.target}", *coefficient_lines(summary)]
    if len(summary.axes) < 2:
        return lines
    proportions = ", ".join(f"{proportion:.1%}" for proportion in summary.axes[:_MAX_AXES])
    more = ", …" if len(summary.axes) > _MAX_AXES else ""
    return [*lines, f"between-class variance by axis: {proportions}{more}"]


def _quadratic(summary: QuadraticSummary) -> list[str]:
    """Priors and class means as a table."""
    means = zip(summary.features, summary.mean, strict=True)
    rows = [["", *summary.classes], ["prior", *(f"{p:.4g}" for p in summary.prior)]]
    rows += [[f"mean of {name}", *(f"{m:.6g}" for m in mean)] for name, mean in means]
    note = "each class has its own covariance; the mean of a level is its proportion"
    return [f"quadratic discriminant analysis for {summary.target}", *_by_class(rows, len(summary.classes)), note]


def _tree(summary: TreeSummary) -> list[str]:
    """A line per node: condition, prediction and class weights; p-values if splits were tested."""
    notes = [certificate_sentence(summary.certificate)] if summary.certificate else []
    return [*in_full(summary.nodes, summary.classes), *notes]


def _bayes_tree(summary: BayesTreeSummary) -> list[str]:
    """The tree, and below it each naive Bayes model with the path to its node; the common prior is stated once."""
    lines, beliefs = _tree(summary.tree), dict.fromkeys(leaf.model.belief for leaf in summary.leaves)
    for leaf in summary.leaves:
        path = " and ".join(map(sentence, leaf.conditions))
        part = "the whole" if leaf.share == 1 else f"{proportion(leaf.share)} of the"
        lines += ["", f"naive Bayes {f'where {path}' if path else 'of all rows'}: {part} prediction"]
        lines += _distributions(leaf.model)
    return [*lines, *(wrapped(belief) for belief in beliefs if belief)]


def _trials(summary: TrialsSummary) -> list[str]:
    """Each trial with its number."""
    lines = [f"{len(summary.trials)} trials vote for {summary.target}"]
    for k, trial in enumerate(summary.trials, 1):
        lines += ["", f"trial {k}:", *_PRINTERS[type(trial)](trial)]
    return lines


_PRINTERS: dict[type, Callable[[Any], list[str]]] = {
    NaiveBayesSummary: _naive_bayes,
    JointSummary: _joint_table,
    LinearSummary: _linear,
    RegressionSummary: regression_lines,
    SplineSummary: spline_lines,
    AdditiveSummary: additive_lines,
    ScorecardSummary: scorecard_lines,
    QuadraticSummary: _quadratic,
    TreeSummary: _tree,
    RuleSetSummary: rule_set_lines,
    TrialsSummary: _trials,
    BayesTreeSummary: _bayes_tree,
}

_MAX_LEVELS = 20  # levels of a column that are listed


def likelihood_rows(likelihood: Likelihood) -> list[list[str]]:
    """Table rows of one column."""
    return _LIKELIHOOD_PRINTERS[type(likelihood)](likelihood)


def _levels(likelihood: LevelShares) -> list[list[str]]:
    rows = list(zip(likelihood.levels, likelihood.probability, strict=True))
    listed = rows if len(rows) <= _MAX_LEVELS else rows[: _MAX_LEVELS - 1]
    table = [[f"{likelihood.column} = {level}", *(f"{p:.3f}" for p in row)] for level, row in listed]
    return table if len(listed) == len(rows) else [*table, _rest(likelihood, len(listed))]


def _rest(likelihood: LevelShares, first: int) -> list[str]:
    """Total probability of the levels that are not listed."""
    proportions = [sum(cells) for cells in zip(*likelihood.probability[first:], strict=True)]
    return [f"{likelihood.column} = … {len(likelihood.levels) - first:,} more levels", *(f"{p:.3f}" for p in proportions)]


def _intervals(likelihood: IntervalShares) -> list[list[str]]:
    rows = zip(interval_names(likelihood), likelihood.probability, strict=True)
    return [[name, *(f"{p:.3f}" for p in row)] for name, row in rows]


def interval_names(likelihood: IntervalShares) -> list[str]:
    column, cuts = likelihood.column, [shown(cut, likelihood.unit) for cut in likelihood.cuts]
    if not cuts:
        return [f"{column} = any"]
    inner = [f"{low} < {column} ≤ {high}" for low, high in pairwise(cuts)]
    return [f"{column} ≤ {cuts[0]}", *inner, f"{column} > {cuts[-1]}"]


def _normal(likelihood: Normal) -> list[list[str]]:
    pairs, unit = zip(likelihood.mean, likelihood.scale, strict=True), likelihood.unit
    position = _as_exact if unit is None else (lambda center, scale: mean(center, scale, unit))
    return [[likelihood.column, *(f"{position(center, scale)} ± {distance(scale, unit)}" for center, scale in pairs)]]


def _as_exact(center: float, scale: float) -> str:
    """Mean rounded to the third significant digit of its scale, since further digits are noise; six digits at most.

    >>> _as_exact(1.46522, 0.194), _as_exact(3702.32, 460.0)
    ('1.465', '3702')
    """
    if not 0 < scale < inf or not isfinite(center):
        return shown(center, None)
    positions = 2 - floor(log10(scale))
    digits = positions + 1 + (floor(log10(abs(center))) if center else 0)
    return f"{center:.{positions}f}" if 0 <= positions <= 12 and digits <= 6 else shown(center, None)


def _kernels(likelihood: KernelDensity) -> list[list[str]]:
    classes, unit = zip(likelihood.mean, likelihood.width, likelihood.number, strict=True), likelihood.unit
    cells = (
        f"{mean(center, width, unit)} ± {distance(width, unit)} ({number} kernels)" for center, width, number in classes
    )
    return [[likelihood.column, *cells]]


def _amount(likelihood: Amount) -> list[list[str]]:
    return [[f"{likelihood.column}, {likelihood.quantity}", *(f"{amount:.4g}" for amount in likelihood.amount)]]


def _words(likelihood: TellingWords) -> list[list[str]]:
    rows = ([words[k] if k < len(words) else "" for words in likelihood.words] for k in range(MAX_WORDS_PER_CLASS))
    return [[f"{likelihood.column}, word {k}", *row] for k, row in enumerate(rows, 1)]


_LIKELIHOOD_PRINTERS: dict[type, Callable[[Any], list[list[str]]]] = {
    LevelShares: _levels,
    IntervalShares: _intervals,
    Normal: _normal,
    KernelDensity: _kernels,
    Amount: _amount,
    TellingWords: _words,
}
