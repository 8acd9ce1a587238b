"""A model in words: the summary of each kind of model, printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baytree.show.likelihood_text import likelihood_rows
from baytree.show.linear.coefficient_text import coefficient_lines, wrapped
from baytree.show.linear.regression_text import regression_lines
from baytree.show.linear.spline_text import spline_lines
from baytree.show.terminal import in_columns
from baytree.show.tree.certificate_text import proved
from baytree.show.tree.condition_text import sentence
from baytree.show.tree.outline_text import in_full, share
from baytree.show.tree.rule_text import rule_set_lines
from baytree.summary import Summary
from baytree.summary.bayes import JointSummary, NaiveBayesSummary
from baytree.summary.hybrid import BayesTreeSummary
from baytree.summary.linear import LinearSummary, QuadraticSummary, RegressionSummary, SplineSummary
from baytree.summary.tree import RuleSetSummary, TreeSummary, TrialsSummary

_MOST_AXES = 6  # discriminant axes whose shares are told
_MOST_CLASSES = 8  # that stand side by side


def text(summary: Summary) -> str:
    """The model that the record tells of, as a person reads it on a terminal."""
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
    """A table with a column for each class; of very many the first, and how many there are."""
    if n_classes <= _MOST_CLASSES:
        return in_columns(rows, "<>")
    return [*in_columns([row[: _MOST_CLASSES + 1] for row in rows], "<>"), f"… {n_classes - _MOST_CLASSES:,} more classes"]


def _joint_table(summary: JointSummary) -> list[str]:
    """The combinations that weigh most."""
    counted = f"{summary.occurring} combinations occur of {summary.possible}"
    lines = [f"joint table for {summary.target}: {counted}"]
    for each in summary.heaviest:
        values = zip((*summary.columns, summary.target), (*each.levels, each.label), strict=True)
        lines.append(f"{each.share:8.4f}  " + ", ".join(f"{name} = {value}" for name, value in values))
    return lines


def _linear(summary: LinearSummary) -> list[str]:
    """The coefficients as a table, and how much each axis counts."""
    lines = [f"{summary.title} for {summary.target}", *coefficient_lines(summary)]
    if len(summary.axes) < 2:
        return lines
    shares = ", ".join(f"{share:.1%}" for share in summary.axes[:_MOST_AXES])
    more = ", …" if len(summary.axes) > _MOST_AXES else ""
    return [*lines, f"share of each axis in what keeps the classes apart: {shares}{more}"]


def _quadratic(summary: QuadraticSummary) -> list[str]:
    """Priors and class means as a table."""
    means = zip(summary.features, summary.mean, strict=True)
    rows = [["", *summary.classes], ["prior", *(f"{p:.4g}" for p in summary.prior)]]
    rows += [[f"mean of {name}", *(f"{m:.6g}" for m in mean)] for name, mean in means]
    note = "each class has a covariance of its own; the mean of a level is its share"
    return [f"quadratic discriminant analysis for {summary.target}", *_by_class(rows, len(summary.classes)), note]


def _tree(summary: TreeSummary) -> list[str]:
    """A line per node: its condition, its answer and the weights of the classes; of tested splits also the significance."""
    told = [proved(summary.certificate)] if summary.certificate else []
    return [*in_full(summary.nodes, summary.classes), *told]


def _bayes_tree(summary: BayesTreeSummary) -> list[str]:
    """The tree, and below it each naive Bayes model with the way to its node; what all of them believe is told once."""
    lines, beliefs = _tree(summary.tree), dict.fromkeys(leaf.model.belief for leaf in summary.leaves)
    for leaf in summary.leaves:
        way = " and ".join(map(sentence, leaf.conditions))
        part = "the whole" if leaf.share == 1 else f"{share(leaf.share)} of the"
        lines += ["", f"naive Bayes {f'where {way}' if way else 'of all rows'}: {part} answer"]
        lines += _distributions(leaf.model)
    return [*lines, *(wrapped(belief) for belief in beliefs if belief)]


def _trials(summary: TrialsSummary) -> list[str]:
    """Each trial under its number."""
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
    QuadraticSummary: _quadratic,
    TreeSummary: _tree,
    RuleSetSummary: rule_set_lines,
    TrialsSummary: _trials,
    BayesTreeSummary: _bayes_tree,
}
