"""Naive Bayes: what it has seen, and the model that follows.

Naive Bayes and the joint table as formulas: the prior, what each column adds to the scores, and the posterior.
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
    """argmax_c log p(c) + Σ_j log p(x_j | c), a missing value adding nothing."""

    log_prior: np.ndarray  # [n_classes]
    likelihoods: tuple[Likelihood, ...]
    belief: str = ""  # the prior that it was derived with, in words

    def __post_init__(self) -> None:
        if self.log_prior.dtype != np.float64 or self.log_prior.ndim != 1 or not len(self.log_prior):
            raise ValueError("naive Bayes needs a prior for each class")
        if np.isnan(self.log_prior).any() or not np.isfinite(self.log_prior.max()):
            raise ValueError("a prior is a probability, and not all are 0")

    @classmethod
    def derive(cls, seen: NaiveBayesStatistic, schema: Schema, estimation: Estimation, prior: np.ndarray | None) -> Self:
        """The model that follows from what was seen; `prior` replaces the classes' own shares."""
        seen = _as_rows(seen)
        shares = class_priors(seen.classes, schema, estimation) if prior is None else prior
        likelihoods = tuple(
            EVENTS[group.event].estimate(statistic, group, schema, estimation)
            for group, statistic in zip(seen.groups, seen.statistics, strict=True)
        )
        with np.errstate(divide="ignore"):
            return cls(np.log(shares), likelihoods, _belief(seen.groups, estimation))

    def check(self, schema: Schema) -> None:
        """Raises an error unless the likelihoods fit the columns and classes of a schema."""
        if len(self.log_prior) != len(schema.classes):
            raise ValueError("the prior does not fit the classes")
        for likelihood in self.likelihoods:
            if not set(likelihood.columns) <= set(range(len(schema))):
                raise ValueError("a likelihood looks at a column that is not there")
            likelihood.check(schema)

    def scores(self, table: Table) -> np.ndarray:
        """log p(c) + Σ log p(x_j | c): [n_rows, n_classes]."""
        scores = np.empty((len(table), len(self.log_prior)))

        def write(part: Table, first: int, last: int) -> None:
            scores[first:last] = self._scored(part)

        with locate_infinite(table):
            by_rows(table, write)
        return scores

    def predict(self, table: Table) -> np.ndarray:
        """The posterior of each class; where every class is impossible, the prior."""
        probabilities = np.empty((len(table), len(self.log_prior)))

        def write(part: Table, first: int, last: int) -> None:
            probabilities[first:last] = self._posterior(self._scored(part))

        with locate_infinite(table):
            by_rows(table, write)
        return probabilities

    def predict_with_codes(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """The posterior of each class, and the code of the most probable one."""
        answers = self.predict(table)
        return answers, np.argmax(answers, axis=1)

    def predict_codes(self, table: Table) -> np.ndarray:
        """The code of the most probable class of each row; of equally probable ones the first."""
        choices = np.empty(len(table), np.int32)

        def write(part: Table, first: int, last: int) -> None:
            scores, choice = self._scored(part), choices[first:last]
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
        """Each column's log-likelihood in each class, in the order of the columns."""
        ledgers: dict[int, list[tuple[Evidence, ...]]] = {}
        for likelihood in self.likelihoods:
            ledgers.update(likelihood.evidence(table))
        probability = self.predict(table)
        order = sorted(ledgers)
        return [
            Explanation(
                table.schema.classes,
                self.log_prior,
                tuple(line for j in order for line in ledgers[j][row]),
                probability[row],
                "log-likelihood",
            )
            for row in range(len(table))
        ]

    def formula(self, schema: Schema) -> Formula:
        """The model as an expression of the raw columns."""

        return naive_bayes(self, schema)

    def summary(self, schema: Schema) -> NaiveBayesSummary:
        """Priors and class-conditional distributions."""
        ordered = sorted(self.likelihoods, key=lambda likelihood: likelihood.columns)
        told = tuple(record for likelihood in ordered for record in likelihood.summary(schema))
        prior = tuple(np.exp(self.log_prior).tolist())
        return NaiveBayesSummary(schema.target.name, tuple(map(str, schema.classes)), prior, told, self.belief)


def _belief(groups: Sequence[ColumnGroup], estimation: Estimation) -> str:
    """The priors of the events in words, and which columns have their own."""
    if estimation.estimate == "mle":
        return "estimate: mle, without a prior"
    told = dict.fromkeys(EVENTS[group.event].prior_text(estimation) for group in groups)
    own = [f"{name} has its own" for name in estimation.priors]
    words = [*filter(None, told), *own]
    return f"prior: {'; '.join(words)}" if words else ""


def naive_bayes(model: NaiveBayes, schema: Schema) -> Formula:
    """log p(c) + Σ log p(x_j | c), and its softmax; where every class is impossible, the prior."""
    steps = FormulaBuilder(schema)
    added: Effects = []
    for likelihood in model.likelihoods:
        added += likelihood.formula(steps)
    scores = _possible(model, steps.scores(model.log_prior, added))
    counts = tuple(j for likelihood in model.likelihoods if _counts(likelihood) for j in likelihood.columns)
    return classification_formula("naive Bayes", steps, Softmax(scores), counts=counts)


def posterior(model: NaiveBayes, steps: FormulaBuilder) -> Expression:
    """The posterior of a model that is a part of another, whose columns have no one effect each."""
    terms = [value for likelihood in model.likelihoods for _, value in likelihood.formula(steps)]
    return Softmax(_possible(model, steps.add_step(Sum((constant(model.log_prior), *terms)))))


def joint_table(model: JointTable, schema: Schema) -> Formula:
    """The shares of the classes among the combinations that agree with what is known; where there are none, among all."""
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
    share = Case((When(is_any, Quotient(weight, total)),), constant(model.class_shares()))
    return classification_formula("joint table", steps, share)


def _possible(model: NaiveBayes, scores: Named) -> Expression:
    if not any(_may_exclude(likelihood) for likelihood in model.likelihoods):
        return scores
    impossible = Compare(Highest(scores), "==", constant(-np.inf))
    return Case((When(impossible, constant(model.log_prior)),), scores)


def _may_exclude(likelihood: Likelihood) -> bool:
    """Whether a value may be impossible in a class: a probability of 0, or a kind that its urn does not hold."""
    arrays = [value for value in msgspec.structs.asdict(likelihood).values() if isinstance(value, np.ndarray)]
    urn = getattr(likelihood, "concentration", None)
    return any(np.isneginf(array).any() for array in arrays) or (urn is not None and bool((urn == 0).any()))


def _counts(likelihood: Likelihood) -> bool:
    """Whether the numbers of these columns may not be negative."""
    is_amount = isinstance(likelihood, CountLikelihood) and likelihood.rule in ("count", "poisson")
    return is_amount or isinstance(likelihood, DirichletMultinomialLikelihood)
