"""What a summary states, as facts by their place: numbers and words that two models of a kind can be compared by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from baytree.model_diff.changes import ComparableFact, Facts
from baytree.rendering.model_text import interval_names
from baytree.rendering.tree_text import sentence
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
from baytree.summary.tree import BayesTreeSummary, RuleSetSummary

Stated = Iterator[tuple[tuple[str, str], ComparableFact]]


def naive_bayes(summary: NaiveBayesSummary) -> Facts:
    """Priors and distributions, of each class."""
    stated = dict(_by_class("prior", summary.classes, summary.prior))
    if summary.belief:
        stated["prior of distributions", ""] = ComparableFact(summary.belief)
    for likelihood in summary.likelihoods:
        stated.update(_LIKELIHOODS[type(likelihood)](likelihood, summary.classes))
    return stated


def joint_table(summary: JointSummary) -> Facts:
    """The number of combinations, and the shares of the heaviest."""
    stated = {("combinations that occur", ""): ComparableFact(float(summary.occurring), float(summary.possible))}
    for each in summary.heaviest:
        values = ", ".join(f"{name} = {level}" for name, level in zip(summary.columns, each.levels, strict=True))
        stated[values, each.label] = ComparableFact(each.share)
    return stated


def linear(summary: LinearSummary) -> Facts:
    """The coefficients of each class, and what they are compared with."""
    lines = {(line.feature, str(line.label)): _coefficient(line.estimate, line.importance) for line in summary.coefficients}
    base = {} if summary.base is None else {("class that others are compared with", ""): ComparableFact(summary.base)}
    return lines | base | _references(summary.references)


def regression(summary: RegressionSummary) -> Facts:
    """The slopes."""
    slopes = {(line.feature, summary.target): _coefficient(line.estimate, line.importance) for line in summary.slopes}
    return slopes | _references(summary.references)


def splines(summary: SplineSummary) -> Facts:
    """The coefficients of the terms."""
    stated: dict[tuple[str, str], ComparableFact] = {}
    for term in summary.terms:
        name = " × ".join(term.hinges) or "constant"
        stated.update(_by_class(name, summary.scores, term.coefficient))
    return stated | _references(summary.references)


def quadratic(summary: QuadraticSummary) -> Facts:
    """Priors, means and, where they are told, covariances of each class."""
    stated = dict(_by_class("prior", summary.classes, summary.prior))
    spread = _spreads(summary)
    for j, (name, means) in enumerate(zip(summary.features, summary.mean, strict=True)):
        stated.update(_by_class(f"mean of {name}", summary.classes, means, [row[j] for row in spread]))
    for c, matrix in enumerate(summary.covariance):
        for i, row in enumerate(matrix):
            for j, value in enumerate(row[: i + 1]):
                names = " and ".join(dict.fromkeys((summary.features[j], summary.features[i])))
                kind = "variance" if i == j else "covariance"
                stated[f"{kind} of {names}", summary.classes[c]] = ComparableFact(value, spread[c][i] * spread[c][j])
    return stated


def rule_set(summary: RuleSetSummary) -> Facts:
    """The confidence of each rule, and the class where none holds."""
    stated = {("where no rule holds", ""): ComparableFact(summary.default)}
    for rule in summary.rules:
        stated[" and ".join(map(sentence, rule.conditions)) or "always", rule.label] = ComparableFact(rule.confidence)
    return stated


def bayes_leaves(summary: BayesTreeSummary) -> Facts:
    """What the naive Bayes model of each node counts for, and its distributions, under the way to the node."""
    stated: dict[tuple[str, str], ComparableFact] = {}
    for leaf in summary.leaves:
        way = " and ".join(map(sentence, leaf.conditions)) or "all rows"
        stated[f"naive Bayes, {way}", ""] = ComparableFact(leaf.share)
        stated |= {(f"{place}, {way}", label): fact for (place, label), fact in naive_bayes(leaf.model).items()}
    return stated


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
        yield (f"{likelihood.column}, telling words", label), ComparableFact(", ".join(words))


def _by_class(place: str, classes: Sequence[str], values: Sequence[float], units: Sequence[float] | None = None) -> Stated:
    units = units or [1.0] * len(values)
    for label, value, unit in zip(classes, values, units, strict=True):
        yield (place, label), ComparableFact(float(value), float(unit))


def _coefficient(estimate: float, importance: float) -> ComparableFact:
    """A coefficient, whose changes are measured per standard deviation of the feature."""
    return ComparableFact(estimate, abs(estimate / importance) if importance else 1.0)


def _references(references: Sequence[tuple[str, str]]) -> dict[tuple[str, str], ComparableFact]:
    return {(f"{column}: level that others are compared with", ""): ComparableFact(level) for column, level in references}


def _spreads(summary: QuadraticSummary) -> list[list[float]]:
    """[n_classes][n_features] standard deviations, or 1 where no covariance is told."""
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
    QuadraticSummary: quadratic,
    RuleSetSummary: rule_set,
}
