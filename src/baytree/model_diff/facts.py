"""Facts of a model summary, by place: numbers and text by which two models of the same kind are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from baytree.model_diff.changes import ComparableFact, Facts
from baytree.rendering.model_text import interval_names
from baytree.rendering.tree_text import sentence
from baytree.summary.additive import AdditiveSummary
from baytree.summary.linear import LinearSummary, QuadraticSummary, RegressionSummary, SplineSummary
from baytree.summary.naive_bayes import (
    Amount,
    IntervalShares,
    JointSummary,
    KernelDensity,
    LevelShares,
    NaiveBayesSummary,
    Normal,
    TellingWords,
)
from baytree.summary.scorecard import ScorecardSummary
from baytree.summary.tree import BayesTreeSummary, RuleSetSummary

Stated = Iterator[tuple[tuple[str, str], ComparableFact]]


def naive_bayes(summary: NaiveBayesSummary) -> Facts:
    """Priors and distributions of each class."""
    facts = dict(_by_class("prior", summary.classes, summary.prior))
    if summary.belief:
        facts["prior of distributions", ""] = ComparableFact(summary.belief)
    for likelihood in summary.likelihoods:
        facts.update(_LIKELIHOODS[type(likelihood)](likelihood, summary.classes))
    return facts


def joint_table(summary: JointSummary) -> Facts:
    """Number of combinations, and the proportions of the heaviest."""
    facts = {("combinations that occur", ""): ComparableFact(float(summary.occurring), float(summary.possible))}
    for each in summary.heaviest:
        values = ", ".join(f"{name} = {level}" for name, level in zip(summary.columns, each.levels, strict=True))
        facts[values, each.label] = ComparableFact(each.share)
    return facts


def linear(summary: LinearSummary) -> Facts:
    """Coefficients of each class, and their reference class and levels."""
    lines = {(line.feature, str(line.label)): _coefficient(line.estimate, line.importance) for line in summary.coefficients}
    base = {} if summary.base is None else {("reference class", ""): ComparableFact(summary.base)}
    return lines | base | _references(summary.references)


def regression(summary: RegressionSummary) -> Facts:
    """Slopes and reference levels."""
    slopes = {(line.feature, summary.target): _coefficient(line.estimate, line.importance) for line in summary.slopes}
    return slopes | _references(summary.references)


def splines(summary: SplineSummary) -> Facts:
    """Coefficients of the terms and reference levels."""
    facts: dict[tuple[str, str], ComparableFact] = {}
    for term in summary.terms:
        name = " × ".join(term.hinges) or "constant"
        facts.update(_by_class(name, summary.scores, term.coefficient))
    return facts | _references(summary.references)


def additive(summary: AdditiveSummary) -> Facts:
    """Intercepts and the value of each piece of each term; changes are measured by the importance of the term."""
    facts = dict(_by_class("intercept", summary.scores, summary.intercept))
    for term in summary.terms:
        name, units = " × ".join(term.columns), [term.importance or 1.0] * len(summary.scores)
        for piece, values in zip(term.pieces, term.values, strict=True):
            facts.update(_by_class(f"{name}: {piece}", summary.scores, values, units))
    return facts


def scorecard(summary: ScorecardSummary) -> Facts:
    """Points of every row and of each bin; changes are measured by the points that double the odds."""
    unit = summary.points_to_double
    facts = {
        ("points of every row", ""): ComparableFact(float(summary.start), unit),
        ("points to double the odds", ""): ComparableFact(unit, unit),
        ("good class", ""): ComparableFact(summary.good),
    }
    for column in summary.columns:
        for name, points in zip(column.bins, column.points, strict=True):
            facts[f"{column.column}: {name}", summary.good] = ComparableFact(float(points), unit)
    return facts


def quadratic(summary: QuadraticSummary) -> Facts:
    """Priors, means and, if the summary has them, covariances of each class."""
    facts = dict(_by_class("prior", summary.classes, summary.prior))
    deviations = _standard_deviations(summary)
    for j, (name, means) in enumerate(zip(summary.features, summary.mean, strict=True)):
        facts.update(_by_class(f"mean of {name}", summary.classes, means, [row[j] for row in deviations]))
    for c, matrix in enumerate(summary.covariance):
        for i, row in enumerate(matrix):
            for j, value in enumerate(row[: i + 1]):
                names = " and ".join(dict.fromkeys((summary.features[j], summary.features[i])))
                kind = "variance" if i == j else "covariance"
                facts[f"{kind} of {names}", summary.classes[c]] = ComparableFact(value, deviations[c][i] * deviations[c][j])
    return facts


def rule_set(summary: RuleSetSummary) -> Facts:
    """Confidence of each rule, and the default class."""
    facts = {("default class", ""): ComparableFact(summary.default)}
    for rule in summary.rules:
        facts[" and ".join(map(sentence, rule.conditions)) or "always", rule.label] = ComparableFact(rule.confidence)
    return facts


def bayes_leaves(summary: BayesTreeSummary) -> Facts:
    """Weight and distributions of the naive Bayes model of each node, by the path to the node."""
    facts: dict[tuple[str, str], ComparableFact] = {}
    for leaf in summary.leaves:
        path = " and ".join(map(sentence, leaf.conditions)) or "all rows"
        facts[f"naive Bayes, {path}", ""] = ComparableFact(leaf.share)
        facts |= {(f"{position}, {path}", label): fact for (position, label), fact in naive_bayes(leaf.model).items()}
    return facts


def _levels(likelihood: LevelShares, classes: Sequence[str]) -> Stated:
    for level, row in zip(likelihood.levels, likelihood.probability, strict=True):
        yield from _by_class(f"{likelihood.column} = {level}", classes, row)


def _intervals(likelihood: IntervalShares, classes: Sequence[str]) -> Stated:
    yield (f"cuts of {likelihood.column}", ""), ComparableFact(", ".join(map(repr, likelihood.cuts)))
    for name, row in zip(interval_names(likelihood), likelihood.probability, strict=True):
        yield from _by_class(name, classes, row)


def _normal(likelihood: Normal, classes: Sequence[str]) -> Stated:
    yield from _by_class(f"mean of {likelihood.column}", classes, likelihood.mean, likelihood.scale)
    yield from _by_class(f"spread of {likelihood.column}", classes, likelihood.scale, likelihood.scale)


def _kernels(likelihood: KernelDensity, classes: Sequence[str]) -> Stated:
    yield from _by_class(f"mean of {likelihood.column}", classes, likelihood.mean, likelihood.width)
    yield from _by_class(f"width of kernels of {likelihood.column}", classes, likelihood.width, likelihood.width)
    yield from _by_class(f"kernels of {likelihood.column}", classes, likelihood.number, likelihood.number)


def _amount(likelihood: Amount, classes: Sequence[str]) -> Stated:
    yield from _by_class(f"{likelihood.column}, {likelihood.quantity}", classes, likelihood.amount)


def _words(likelihood: TellingWords, classes: Sequence[str]) -> Stated:
    for label, words in zip(classes, likelihood.words, strict=True):
        yield (f"{likelihood.column}, indicative words", label), ComparableFact(", ".join(words))


def _by_class(
    position: str, classes: Sequence[str], values: Sequence[float], units: Sequence[float] | None = None
) -> Stated:
    units = units or [1.0] * len(values)
    for label, value, unit in zip(classes, values, units, strict=True):
        yield (position, label), ComparableFact(float(value), float(unit))


def _coefficient(estimate: float, importance: float) -> ComparableFact:
    """Coefficient; its changes are measured per standard deviation of the feature."""
    return ComparableFact(estimate, abs(estimate / importance) if importance else 1.0)


def _references(references: Sequence[tuple[str, str]]) -> dict[tuple[str, str], ComparableFact]:
    return {(f"{column}: reference level", ""): ComparableFact(level) for column, level in references}


def _standard_deviations(summary: QuadraticSummary) -> list[list[float]]:
    """Standard deviations [n_classes][n_features], or 1 if the summary has no covariances."""
    if not summary.covariance:
        return [[1.0] * len(summary.features) for _ in summary.classes]
    return [[max(matrix[j][j], 0.0) ** 0.5 or 1.0 for j in range(len(matrix))] for matrix in summary.covariance]


_LIKELIHOODS: dict[type, Callable[[Any, Sequence[str]], Stated]] = {
    LevelShares: _levels,
    IntervalShares: _intervals,
    Normal: _normal,
    KernelDensity: _kernels,
    Amount: _amount,
    TellingWords: _words,
}

FACTS: dict[type, Callable[[Any], Facts]] = {
    NaiveBayesSummary: naive_bayes,
    JointSummary: joint_table,
    LinearSummary: linear,
    RegressionSummary: regression,
    SplineSummary: splines,
    AdditiveSummary: additive,
    ScorecardSummary: scorecard,
    QuadraticSummary: quadratic,
    RuleSetSummary: rule_set,
}
