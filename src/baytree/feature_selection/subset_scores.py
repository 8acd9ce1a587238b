"""Scores of column subsets on folds: by refitting any estimator, or by addition for naive Bayes.

The log-likelihood of naive Bayes is a sum of one term per column that does not depend on the other columns. So each term is
computed once per fold, and a candidate subset costs one vector addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np

from baytree import _core
from baytree._typing import EstimatorLike
from baytree.base.learner import MergeableLearner
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.estimators.learner_access import cost_matrix, learner_of
from baytree.folds.splitters import Fold
from baytree.metrics import scores as metrics
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.trials import (
    can_subtract,
    encodes_identically,
    held_out_table,
    models_without_folds,
    predict_folds,
    with_fixed_kinds,
)
from baytree.naive_bayes.events.normal import NormalLikelihood
from baytree.naive_bayes.model import NaiveBayes
from baytree.parallel import threads


@runtime_checkable
class ByColumn(Protocol):
    """Likelihood with a separate term for each column."""

    columns: tuple[int, ...]

    def effects(self, table: Table) -> list[np.ndarray]:
        """Contribution of each column to the scores: [n_rows, n_classes] each."""
        ...


class NaiveBayesFold(NamedTuple):
    """Naive Bayes model of a fold: the prior and a term for each column."""

    schema: Schema
    log_prior: np.ndarray  # [n_classes]
    likelihoods: list[ByColumn]


class Scorer(Protocol):
    """Scorer of candidate subsets on every fold; larger is better."""

    def added(self, chosen: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        """Scores with each candidate added to the chosen columns: [n_candidates, n_folds]."""
        ...

    def removed(self, chosen: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        """Scores with each candidate removed from the chosen columns: [n_candidates, n_folds]."""
        ...


def scorer(
    estimator: EstimatorLike, problem: SupervisedProblem, folds: tuple[Fold, ...], metric: str, n_jobs: int | None
) -> Scorer:
    """The fastest scorer that is exact for this estimator and metric."""
    models = _column_models(estimator, problem, folds) if metric == "accuracy" else None
    if models is not None:
        return AddingScorer(models, problem, folds, n_jobs)
    return RefittingScorer(estimator, problem, folds, metric, n_jobs)


class RefittingScorer:
    """Scorer that refits the estimator for every subset."""

    def __init__(
        self,
        estimator: EstimatorLike,
        problem: SupervisedProblem,
        folds: tuple[Fold, ...],
        metric: str,
        n_jobs: int | None = None,
    ):
        self._estimator, self._problem, self._folds = estimator, problem, folds
        self._metric, self._n_jobs = metric, n_jobs

    def added(self, chosen: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        """Scores with each candidate added to the chosen columns: [n_candidates, n_folds]."""
        return np.array([self._scores([*chosen, j]) for j in candidates])

    def removed(self, chosen: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        """Scores with each candidate removed from the chosen columns: [n_candidates, n_folds]."""
        return np.array([self._scores([other for other in chosen if other != j]) for j in candidates])

    def _scores(self, columns: Sequence[int]) -> list[float]:
        sign = -1.0 if self._metric in metrics.LOSSES else 1.0
        label = self._problem.label.values
        predictions = predict_folds(self._estimator, self._problem.select(sorted(columns)), self._folds, self._n_jobs)
        scored = (metrics.ScoredRows(label[t.rows], t.answer, t.probability) for t in predictions)
        return [sign * metrics.score(self._metric, rows) for rows in scored]


class AddingScorer:
    """Scorer that adds up precomputed log-likelihoods: accuracy of naive Bayes on any subset."""

    def __init__(
        self, models: list[NaiveBayesFold], problem: SupervisedProblem, folds: tuple[Fold, ...], n_jobs: int | None
    ):
        sizes = [len(fold.test) for fold in folds]
        rows = np.concatenate([fold.test for fold in folds])
        self._sizes = np.array(sizes)
        self._start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._label = problem.label.values[rows]
        self._prior = np.empty((len(rows), len(problem.classes)))
        self._effect = np.empty((len(problem.table.schema), *self._prior.shape))  # [n_columns, n_rows, n_classes]
        self._n_threads = threads.count(n_jobs)

        def fill(k: int) -> None:
            self._place(models[k], problem, folds[k], slice(self._start[k], self._start[k + 1]))

        threads.map_ordered(fill, range(len(folds)), n_jobs)  # each fold writes to its own rows
        self._fallback = np.argmax(self._prior[self._start[:-1]], axis=1).astype(np.int32)
        self._base: tuple[list[int], np.ndarray] = ([], self._prior)

    def _place(self, model: NaiveBayesFold, problem: SupervisedProblem, fold: Fold, rows: slice) -> None:
        """Write the prior and each column's effect for the rows of a fold; classes not in training are impossible."""
        test = held_out_table(problem.table, fold.test, model.schema)
        code_of = {label: code for code, label in enumerate(problem.label.target.classes or ())}
        known = [code_of[label] for label in model.schema.classes]
        self._prior[rows] = self._effect[:, rows] = -np.inf
        self._prior[rows][:, known] = model.log_prior
        for likelihood in model.likelihoods:
            for j, effect in zip(likelihood.columns, likelihood.effects(test), strict=True):
                self._effect[j, rows][:, known] = effect

    def added(self, chosen: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        """Scores with each candidate added to the chosen columns: [n_candidates, n_folds]."""
        base = self._sum(list(chosen))
        return self._shares([(base, self._effect[j]) for j in candidates])

    def removed(self, chosen: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        """Scores with each candidate removed from the chosen columns: [n_candidates, n_folds].

        The other columns are added up from both ends, since −∞ can be added but not subtracted.
        """
        below = [self._prior]
        for j in chosen:
            below.append(below[-1] + self._effect[j])
        above = [np.zeros_like(self._prior)]
        for j in reversed(chosen):
            above.append(above[-1] + self._effect[j])
        positions = {j: k for k, j in enumerate(chosen)}
        return self._shares([(below[positions[j]], above[len(chosen) - 1 - positions[j]]) for j in candidates])

    def _sum(self, chosen: list[int]) -> np.ndarray:
        known, base = self._base
        if chosen[: len(known)] != known:
            known, base = [], self._prior
        for j in chosen[len(known) :]:
            base = base + self._effect[j]
        self._base = (chosen, base)
        return base

    def _shares(self, pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        n_correct = np.empty((len(pairs), len(self._sizes)), np.int64)

        def count(first: int) -> None:
            for k in range(first, len(pairs), self._n_threads):
                _core.count_right_with(*pairs[k], self._label, self._start, self._fallback, n_correct[k])

        threads.map_ordered(count, range(self._n_threads), self._n_threads)
        return n_correct / self._sizes


def _column_models(
    estimator: EstimatorLike, problem: SupervisedProblem, folds: tuple[Fold, ...]
) -> list[NaiveBayesFold] | None:
    """Naive Bayes model of each fold; None if the estimator is not a sum of column terms."""
    prepared = with_fixed_kinds(estimator, problem)
    if not problem.is_classification or not encodes_identically(prepared, problem):
        return None
    costs = cost_matrix(prepared, problem.schema, problem.schema.classes)
    if costs is not None and not costs.by_model:  # the sums of log-likelihoods give the most probable class
        return None
    learner = learner_of(prepared, problem.table.schema)
    return _additive_folds(learner, problem.table, folds) if can_subtract(learner, problem.table.schema) else None


def _additive_folds(learner: MergeableLearner, table: Table, folds: tuple[Fold, ...]) -> list[NaiveBayesFold] | None:
    models: list[NaiveBayesFold] = []
    for schema, model in models_without_folds(learner, table, folds):
        likelihoods = (
            [part for part in model.likelihoods if _has_column_terms(part)] if isinstance(model, NaiveBayes) else []
        )
        if not isinstance(model, NaiveBayes) or len(likelihoods) < len(model.likelihoods):
            return None
        models.append(NaiveBayesFold(schema, model.log_prior, likelihoods))
    return models


def _has_column_terms(likelihood: object) -> TypeGuard[ByColumn]:
    """Whether each column has a separate term; columns of a multinomial share one distribution, so they do not."""
    is_own = isinstance(likelihood, NormalLikelihood) or len(getattr(likelihood, "columns", ())) == 1
    return is_own and isinstance(likelihood, ByColumn)
