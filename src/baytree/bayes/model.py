"""Naive Bayes: what it has seen, and the model that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import msgspec
import numpy as np

from baytree import _core
from baytree.bayes.estimation import Estimation, Group, class_shares, refusing_infinite
from baytree.bayes.events import EVENTS, Likelihood
from baytree.bayes.seen import Seen, _as_rows
from baytree.engine.parts import by_rows
from baytree.model import Evidence, Explanation, softmax
from baytree.summary.bayes import NaiveBayesSummary
from baytree.table.schema import Schema
from baytree.table.table import Table

if TYPE_CHECKING:
    from baytree.formula import Formula


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
    def derive(cls, seen: Seen, schema: Schema, estimation: Estimation, prior: np.ndarray | None) -> Self:
        """The model that follows from what was seen; `prior` replaces the classes' own shares."""
        seen = _as_rows(seen)
        shares = class_shares(seen.classes, schema, estimation) if prior is None else prior
        likelihoods = tuple(
            EVENTS[group.event].derive(statistic, group, schema, estimation)
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

        with refusing_infinite(table):
            by_rows(table, write)
        return scores

    def answers(self, table: Table) -> np.ndarray:
        """The posterior of each class; where every class is impossible, the prior."""
        probabilities = np.empty((len(table), len(self.log_prior)))

        def write(part: Table, first: int, last: int) -> None:
            probabilities[first:last] = self._posterior(self._scored(part))

        with refusing_infinite(table):
            by_rows(table, write)
        return probabilities

    def answered(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """The posterior of each class, and the code of the most probable one."""
        answers = self.answers(table)
        return answers, np.argmax(answers, axis=1)

    def choices(self, table: Table) -> np.ndarray:
        """The code of the most probable class of each row; of equally probable ones the first."""
        choices = np.empty(len(table), np.int32)

        def write(part: Table, first: int, last: int) -> None:
            scores, choice = self._scored(part), choices[first:last]
            _core.choose_classes(scores, choice)
            close = np.flatnonzero(choice < 0)
            choice[close] = np.argmax(self._posterior(scores[close]), axis=1)

        with refusing_infinite(table):
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
        probability = self.answers(table)
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
        from baytree.bayes.formula import naive_bayes

        return naive_bayes(self, schema)

    def summary(self, schema: Schema) -> NaiveBayesSummary:
        """Priors and class-conditional distributions."""
        ordered = sorted(self.likelihoods, key=lambda likelihood: likelihood.columns)
        told = tuple(record for likelihood in ordered for record in likelihood.summary(schema))
        prior = tuple(np.exp(self.log_prior).tolist())
        return NaiveBayesSummary(schema.target.name, tuple(map(str, schema.classes)), prior, told, self.belief)


def _belief(groups: Sequence[Group], estimation: Estimation) -> str:
    """The priors of the events in words, and which columns have their own."""
    if estimation.estimate == "mle":
        return "estimate: mle, without a prior"
    told = dict.fromkeys(EVENTS[group.event].belief(estimation) for group in groups)
    own = [f"{name} has its own" for name in estimation.priors]
    words = [*filter(None, told), *own]
    return f"prior: {'; '.join(words)}" if words else ""
