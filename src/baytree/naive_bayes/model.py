"""Naive Bayes model: prior and likelihoods, prediction, explanation and conversion to a formula.

`joint_table` converts the joint table of `joint_model` to a formula as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import msgspec
import numpy as np

from baytree import _core
from baytree.base.model import Evidence, Explanation, softmax
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import by_rows
from baytree.formula import Formula
from baytree.formula.builder import Effects, FormulaBuilder, classification_formula, constant, numbers
from baytree.formula.expressions import (
    Case,
    Compare,
    Expression,
    Highest,
    Matching,
    Named,
    Quotient,
    Softmax,
    Sum,
    Total,
    When,
)
from baytree.naive_bayes.events.count_likelihoods import CountLikelihood, DirichletMultinomialLikelihood
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation, class_priors, locate_infinite
from baytree.naive_bayes.events.registry import EVENTS, Likelihood
from baytree.naive_bayes.statistic import NaiveBayesStatistic, _as_rows
from baytree.summary.naive_bayes import NaiveBayesSummary

if TYPE_CHECKING:
    from baytree.naive_bayes.joint_model import JointTable


class NaiveBayes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="naive_bayes"):
    """Naive Bayes model: argmax_c log p(c) + Σ_j log p(x_j | c). A missing value contributes nothing."""

    log_prior: np.ndarray  # [n_classes]
    likelihoods: tuple[Likelihood, ...]
    belief: str = ""  # description of the prior that was used

    def __post_init__(self) -> None:
        if self.log_prior.dtype != np.float64 or self.log_prior.ndim != 1 or not len(self.log_prior):
            raise ValueError("naive Bayes needs a prior for each class")
        if np.isnan(self.log_prior).any() or not np.isfinite(self.log_prior.max()):
            raise ValueError("priors must be probabilities, and not all of them 0")

    @classmethod
    def derive(cls, observed: NaiveBayesStatistic, schema: Schema, estimation: Estimation, prior: np.ndarray | None) -> Self:
        """Model derived from a statistic; `prior` [n_classes], if given, replaces the class proportions."""
        observed = _as_rows(observed)
        priors = class_priors(observed.classes, schema, estimation) if prior is None else prior
        likelihoods = tuple(
            EVENTS[group.event].estimate(statistic, group, schema, estimation)
            for group, statistic in zip(observed.groups, observed.statistics, strict=True)
        )
        with np.errstate(divide="ignore"):
            return cls(np.log(priors), likelihoods, _prior_description(observed.groups, estimation))

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the likelihoods fit the columns and classes of the schema."""
        if len(self.log_prior) != len(schema.classes):
            raise ValueError("the prior does not fit the classes")
        for likelihood in self.likelihoods:
            if not set(likelihood.columns) <= set(range(len(schema))):
                raise ValueError("a likelihood refers to a column that does not exist")
            likelihood.check(schema)

    def scores(self, table: Table) -> np.ndarray:
        """log p(c) + Σ log p(x_j | c): float64 [n_rows, n_classes]."""
        scores = np.empty((len(table), len(self.log_prior)))

        def write(rows: Table, first: int, last: int) -> None:
            scores[first:last] = self._scored(rows)

        with locate_infinite(table):
            by_rows(table, write)
        return scores

    def predict(self, table: Table) -> np.ndarray:
        """Posterior probability of each class [n_rows, n_classes]; the prior where every class is impossible."""
        probabilities = np.empty((len(table), len(self.log_prior)))

        def write(rows: Table, first: int, last: int) -> None:
            probabilities[first:last] = self._posterior(self._scored(rows))

        with locate_infinite(table):
            by_rows(table, write)
        return probabilities

    def predict_with_codes(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Posterior probability of each class, and the code of the most probable one."""
        probabilities = self.predict(table)
        return probabilities, np.argmax(probabilities, axis=1)

    def predict_codes(self, table: Table) -> np.ndarray:
        """Code of the most probable class of each row, the first one on ties: int32 [n_rows]."""
        choices = np.empty(len(table), np.int32)

        def write(rows: Table, first: int, last: int) -> None:
            scores, choice = self._scored(rows), choices[first:last]
            _core.choose_classes(scores, choice)
            close = np.flatnonzero(choice < 0)
            choice[close] = np.argmax(self._posterior(scores[close]), axis=1)

        with locate_infinite(table):
            by_rows(table, write)
        return choices

    def _scored(self, table: Table) -> np.ndarray:
        scores = np.tile(self.log_prior, (len(table), 1))
        for likelihood in self.likelihoods:
            likelihood.add_scores(table, scores)
        return scores

    def _posterior(self, scores: np.ndarray) -> np.ndarray:
        scores[np.isneginf(scores).all(axis=1)] = self.log_prior
        return softmax(scores)

    def explain(self, table: Table) -> list[Explanation]:
        """Log-likelihood of each column in each class, in column order."""
        evidence: dict[int, list[tuple[Evidence, ...]]] = {}
        for likelihood in self.likelihoods:
            evidence.update(likelihood.evidence(table))
        probability = self.predict(table)
        order = sorted(evidence)
        return [
            Explanation(
                table.schema.classes,
                self.log_prior,
                tuple(item for j in order for item in evidence[j][row]),
                probability[row],
                "log-likelihood",
            )
            for row in range(len(table))
        ]

    def formula(self, schema: Schema) -> Formula:
        """Model as an expression of the raw columns."""

        return naive_bayes(self, schema)

    def summary(self, schema: Schema) -> NaiveBayesSummary:
        """Priors and class-conditional distributions."""
        ordered = sorted(self.likelihoods, key=lambda likelihood: likelihood.columns)
        records = tuple(record for likelihood in ordered for record in likelihood.summary(schema))
        prior = tuple(np.exp(self.log_prior).tolist())
        return NaiveBayesSummary(schema.target.name, tuple(map(str, schema.classes)), prior, records, self.belief)


def _prior_description(groups: Sequence[ColumnGroup], estimation: Estimation) -> str:
    """Description of the priors of the events, and of the columns with a prior of their own."""
    if estimation.estimate == "mle":
        return "estimate: mle, without a prior"
    default_priors = dict.fromkeys(EVENTS[group.event].prior_text(estimation) for group in groups)
    own_priors = [f"{name} has its own" for name in estimation.priors]
    priors = [*filter(None, default_priors), *own_priors]
    return f"prior: {'; '.join(priors)}" if priors else ""


def naive_bayes(model: NaiveBayes, schema: Schema) -> Formula:
    """Formula of log p(c) + Σ log p(x_j | c) and its softmax; the prior where every class is impossible."""
    builder = FormulaBuilder(schema)
    added: Effects = []
    for likelihood in model.likelihoods:
        added += likelihood.formula(builder)
    scores = _prior_if_impossible(model, builder.scores(model.log_prior, added))
    counts = tuple(j for likelihood in model.likelihoods if _are_counts(likelihood) for j in likelihood.columns)
    return classification_formula("naive Bayes", builder, Softmax(scores), counts=counts)


def posterior(model: NaiveBayes, steps: FormulaBuilder) -> Expression:
    """Posterior as an expression inside another model, whose columns do not have a single effect each."""
    terms = [value for likelihood in model.likelihoods for _, value in likelihood.formula(steps)]
    return Softmax(_prior_if_impossible(model, steps.add_step(Sum((constant(model.log_prior), *terms)))))


def joint_table(model: JointTable, schema: Schema) -> Formula:
    """Formula of the class proportions among combinations that agree with the known columns, or among all if none does."""
    steps = FormulaBuilder(schema)
    codes, n_columns = model.code.tolist(), len(schema)
    matching = Matching(
        tuple(range(n_columns)),
        tuple(tuple(code[:-1]) for code in codes),
        tuple(code[-1] for code in codes),
        numbers(model.weight),
        tuple(model.levels[:-1]),
        model.levels[-1],
        model.alpha,
    )
    weight = steps.add_step(matching)
    total = steps.add_step(Total(weight))
    is_any = Compare(total, ">", constant(0.0))
    proportions = Case((When(is_any, Quotient(weight, total)),), constant(model.class_proportions()))
    return classification_formula("joint table", steps, proportions)


def _prior_if_impossible(model: NaiveBayes, scores: Named) -> Expression:
    if not any(_has_impossible_values(likelihood) for likelihood in model.likelihoods):
        return scores
    impossible = Compare(Highest(scores), "==", constant(-np.inf))
    return Case((When(impossible, constant(model.log_prior)),), scores)


def _has_impossible_values(likelihood: Likelihood) -> bool:
    """Whether some value is impossible in a class: a probability of 0, or a zero concentration."""
    arrays = [value for value in msgspec.structs.asdict(likelihood).values() if isinstance(value, np.ndarray)]
    concentration = getattr(likelihood, "concentration", None)
    return any(np.isneginf(array).any() for array in arrays) or (
        concentration is not None and bool((concentration == 0).any())
    )


def _are_counts(likelihood: Likelihood) -> bool:
    """Whether the values of these columns must not be negative."""
    is_count = isinstance(likelihood, CountLikelihood) and likelihood.rule in ("count", "poisson")
    return is_count or isinstance(likelihood, DirichletMultinomialLikelihood)
