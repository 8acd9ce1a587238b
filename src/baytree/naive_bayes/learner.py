"""Naive Bayes learner: column groups with their event models, statistic to model, leave-one-out and row updates.

Leave-one-out predictions are exact and computed from the statistic alone. Each event subtracts a row from its statistic: in
closed form for normal columns and levels, otherwise once for each set of equal rows (`leave_one_out`).

`predict_updates` gives the predictions after adding or removing each of many rows, as full conformal prediction and the
jackknife need them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np

from baytree.base.learner import MergeableLearner, UpdatedPredictions
from baytree.base.model import softmax
from baytree.data.encoding.table import Table, refuse_infinite
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import Detail, Marginals, as_query
from baytree.engine.outliers import Outliers
from baytree.engine.partitions import MIN_TOTAL_WEIGHT, Partitions
from baytree.naive_bayes.events.base import Ready, RowUpdate, group_equal_rows
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation, class_priors, pseudo_counts
from baytree.naive_bayes.events.registry import EVENTS
from baytree.naive_bayes.model import NaiveBayes
from baytree.naive_bayes.statistic import NaiveBayesStatistic
from baytree.param_validation import ClassAmounts
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import bounded
from baytree.statistics.text import DocumentBags
from baytree.uncertainty.intervals import JEFFREYS, log_amount_moments, score_intervals


def _form(learner: NaiveBayesLearner) -> Marginals | None:
    """Counts by column, unless an event needs whole rows."""
    details = {j: EVENTS[group.event].detail for group in learner.groups for j in group.columns}
    if None in details.values():
        return None
    return Marginals(tuple(details.get(j) or Detail.NOTHING for j in range(max(details) + 1)))


@dataclass(frozen=True)
class NaiveBayesLearner(MergeableLearner):
    """Column groups by event, settings of the estimation, and the class probabilities if they are given."""

    groups: tuple[ColumnGroup, ...]
    estimation: Estimation
    class_prior: ClassAmounts | None = None

    @as_query(_form)
    def observe(self, table: Table) -> NaiveBayesStatistic:
        """Class weights and one statistic per group of columns."""
        return NaiveBayesStatistic.of(table, self.groups)

    def observe_all(self, rows: Partitions) -> NaiveBayesStatistic:
        """Statistic of all rows.

        Raises ValueError with the location of an infinite value; warns of columns that one outlier makes useless.
        """
        outliers = Outliers(rows)
        try:
            observed = rows.map_reduce(self.observe)
        except ValueError:  # a kernel found an infinite value in a partition: locate it in the whole table
            rows.map_reduce(_refuse_infinite, rows_per_part=None)
            raise
        for group, statistic in zip(observed.groups, observed.statistics, strict=True):
            deviations = EVENTS[group.event].spread(statistic)
            if deviations is not None:
                outliers.warn(group.columns, deviations)
        # `omit_defaults` drops a default field only if it is the identical object, which a copy from a worker is not
        return msgspec.structs.replace(observed, groups=self.groups) if observed.groups == self.groups else observed

    def derive(self, statistic: NaiveBayesStatistic, schema: Schema) -> NaiveBayes:
        """Model derived from the statistic."""
        return NaiveBayes.derive(statistic, schema, self.estimation, self.prior(schema))

    def prior(self, schema: Schema) -> np.ndarray | None:
        """Given probabilities of the classes [n_classes], or None if they are estimated."""
        return None if self.class_prior is None else self.class_prior.shares(schema.classes)

    def predict_after(
        self, statistic: NaiveBayesStatistic, changes: Table, sign: int, test_rows: Table
    ) -> Iterator[UpdatedPredictions]:
        """Predictions of each added or removed row and of the rows in `asked`, in closed form where all events have one."""

        updates = predict_updates(self, statistic, changes, sign, test_rows)
        if updates is None:
            yield from super().predict_after(statistic, changes, sign, test_rows)
            return
        for after, is_hard in updates:
            for k in np.flatnonzero(is_hard):
                change = changes.take(np.array([after.changes.start + k]))
                after.own[k], after.others[k] = self._answers_after_one(statistic, change, sign, test_rows)
            yield after

    def intervals(self, observed: NaiveBayesStatistic, table: Table, level: float) -> np.ndarray:
        """Credible intervals of the class probabilities: [n_rows, n_classes, 2].

        From the posterior mean and variance of the scores. Classes and columns are independent, so variances add up.
        """
        mean, variance = (np.tile(moment, (len(table), 1)) for moment in self._class_moments(observed, table.schema))
        for group, statistic in zip(observed.groups, observed.statistics, strict=True):
            EVENTS[group.event].add_posterior(statistic, group, table, self.estimation, mean, variance)
        return score_intervals(mean, variance, level)

    def _class_moments(self, observed: NaiveBayesStatistic, schema: Schema) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and variance of each class's log prior, up to a common constant: [n_classes] each."""
        prior = self.prior(schema)
        if prior is not None:
            return np.log(np.maximum(prior, 1e-300)), np.zeros(len(prior))
        return log_amount_moments(observed.classes.known()[:, 0] + JEFFREYS)

    def n_retained_rows(self, statistic: NaiveBayesStatistic) -> int:
        """Number of stored documents; documents of unit length are stored, as their scaling depends on all others."""
        return sum(len(part.documents) for part in statistic.statistics if isinstance(part, DocumentBags))

    def can_subtract(self, schema: Schema) -> bool:
        """Whether every event can subtract rows; events that need all distinct values or words cannot."""
        return all(EVENTS[group.event].can_subtract for group in self.groups)


def _refuse_infinite(table: Table) -> int:
    refuse_infinite(table.schema, table.values)
    return 0


def leave_one_out(learner: NaiveBayesLearner, table: Table, observed: NaiveBayesStatistic) -> np.ndarray:
    """Class probabilities of each row by the model of all other rows: [n_rows, n_classes]."""
    scores = _class_scores(learner, table, observed)
    for group, statistic in zip(observed.groups, observed.statistics, strict=True):
        EVENTS[group.event].add_leave_one_out_scores(statistic, group, table, learner.estimation, scores)
    return _predict_leave_one_out(learner, table, observed, scores)


def leave_one_out_by_weight(learner: NaiveBayesLearner, table: Table, observed: NaiveBayesStatistic) -> np.ndarray:
    """Leave-one-out that removes weight 1 of a heavier row, since weight 2 stands for two equal rows: [n_rows, n_classes].

    In closed form throughout, also if all weights differ.
    """
    weight = np.minimum(table.weight, 1.0)
    single_copies = msgspec.structs.replace(table, weight=weight, is_unweighted=bool((weight == 1).all()))
    scores = leave_one_out_log_priors(observed.classes.known()[:, 0], single_copies, learner.estimation)
    for group, statistic in zip(observed.groups, observed.statistics, strict=True):
        EVENTS[group.event].add_fractional_leave_one_out_scores(statistic, group, single_copies, learner.estimation, scores)
    return _predict_leave_one_out(learner, single_copies, observed, scores)


def leave_one_out_log_priors(counts: np.ndarray, table: Table, estimation: Estimation) -> np.ndarray:
    """Log prior of each class, from counts [n_classes], after removing each row: [n_rows, n_classes]."""
    pseudo_count = estimation.class_alpha
    pseudo = (
        pseudo_counts(estimation, table.schema.target.name, table.schema.classes) if pseudo_count is None else pseudo_count
    )
    remaining = np.tile(counts + pseudo, (len(table), 1))
    remaining[np.arange(len(table)), table.label] -= table.weight
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(remaining, 0.0) / remaining.sum(axis=1, keepdims=True))


def _predict_leave_one_out(
    learner: NaiveBayesLearner, table: Table, observed: NaiveBayesStatistic, scores: np.ndarray
) -> np.ndarray:
    """Class probabilities of scores; rows without a closed form get a model without them.

    Those are rows with a NaN score or with score −inf in every class.
    """
    if np.isfinite(scores).all():
        return softmax(scores)
    unknown = np.flatnonzero(np.isnan(scores).any(axis=1) | np.isneginf(scores).all(axis=1))
    probabilities = softmax(np.where(np.isnan(scores), 0.0, scores)) if len(unknown) < len(scores) else np.empty_like(scores)
    for row in unknown:
        probabilities[row] = _predict_without(learner, table.rows(int(row), int(row) + 1), observed)
    return probabilities


def _predict_without(learner: NaiveBayesLearner, row: Table, observed: NaiveBayesStatistic) -> np.ndarray:
    return learner.derive(observed - NaiveBayesStatistic.of(row, observed.groups), row.schema).predict(row)[0]


def _class_scores(learner: NaiveBayesLearner, table: Table, observed: NaiveBayesStatistic) -> np.ndarray:
    """Log prior of the classes for each row, estimated without the row: [n_rows, n_classes]."""
    prior = learner.prior(table.schema)
    if prior is not None:
        with np.errstate(divide="ignore"):
            return np.tile(np.log(prior), (len(table), 1))
    first, index = group_equal_rows(table)
    priors = [
        class_priors(_classes_without(observed.classes, table, row), table.schema, learner.estimation) for row in first
    ]
    with np.errstate(divide="ignore"):
        return np.take(np.log(np.array(priors)), index, axis=0)


def _classes_without(classes: Counts, table: Table, row: int) -> Counts:
    return classes - NaiveBayesStatistic.of(table.rows(row, row + 1), ()).classes


_BLOCK_CELLS = 1 << 15  # probabilities per block, so that they stay in the cache


def predict_updates(
    learner: NaiveBayesLearner, observed: NaiveBayesStatistic, changes: Table, sign: int, test_rows: Table
) -> Iterator[tuple[UpdatedPredictions, np.ndarray]] | None:
    """Predictions after each row of `changes` is added (sign 1) or removed (−1): its own and those of the rows in `asked`.

    Yields blocks of changes, each with a mask of the changes that need a statistic of their own. Returns None if an event
    has no closed form.
    """
    counts, exponent = bounded(observed.classes.cells)
    if exponent or not counts.sum() >= MIN_TOTAL_WEIGHT:
        return None
    updates = []
    for group, statistic in zip(observed.groups, observed.statistics, strict=True):
        event = EVENTS[group.event]
        update = event.row_update(statistic, group, changes, sign, learner.estimation)
        if update is None:
            return None
        updates.append((update, event.update_inputs(changes, group), event.update_inputs(test_rows, group)))
    is_hard = np.any([np.zeros(len(changes), bool), *(update.is_hard for update, *_ in updates)], axis=0)
    return _predict_updated(updates, _log_priors(learner, counts[1:, 0], changes, sign), is_hard, len(test_rows))


def _predict_updated(
    of_groups: list[tuple[RowUpdate, Ready, Ready]], log_prior: np.ndarray, is_hard: np.ndarray, n_test_rows: int
) -> Iterator[tuple[UpdatedPredictions, np.ndarray]]:
    n_changes, n_classes = log_prior.shape
    block_size = max(1, _BLOCK_CELLS // max(n_test_rows * n_classes, 1))
    for first in range(0, n_changes, block_size):
        block = slice(first, min(first + block_size, n_changes))
        own, others = (np.repeat(log_prior[block, None], n, axis=1) for n in (1, n_test_rows))  # [n_changes, n, n_classes]
        for update, changed_inputs, test_inputs in of_groups:
            for k, change in enumerate(range(block.start, block.stop)):
                update.add_scores(change, [each[change : change + 1] for each in changed_inputs], own[k])
                update.add_scores(change, test_inputs, others[k])
        yield (
            UpdatedPredictions(block, _posterior(own, log_prior[block])[:, 0], _posterior(others, log_prior[block])),
            is_hard[block],
        )


def _posterior(scores: np.ndarray, log_prior: np.ndarray) -> np.ndarray:
    """Softmax of scores [n_changes, n_rows, n_classes]; the prior where every class is impossible."""
    impossible = np.isneginf(scores).all(axis=2)
    if impossible.any():
        scores[impossible] = np.broadcast_to(log_prior[:, None], scores.shape)[impossible]
    return softmax(scores.reshape(-1, scores.shape[2])).reshape(scores.shape)


def _log_priors(learner: NaiveBayesLearner, counts: np.ndarray, changes: Table, sign: int) -> np.ndarray:
    """Log prior of each class after each change: [n_changes, n_classes]."""
    with np.errstate(divide="ignore"):
        given_prior = learner.prior(changes.schema)
        if given_prior is not None:
            return np.tile(np.log(given_prior), (len(changes), 1))
        n = np.tile(counts, (len(changes), 1))
        n[np.arange(len(changes)), changes.label] += sign * changes.weight
        estimation, schema = learner.estimation, changes.schema
        pseudo_count = estimation.class_alpha
        n += pseudo_counts(estimation, schema.target.name, schema.classes) if pseudo_count is None else pseudo_count
        n = np.maximum(n, 0.0)
        return np.log(n / n.sum(axis=1, keepdims=True))
