"""Naive Bayes as a learner: which events look at which columns, how parameters follow, what the classes are beforehand.

Exact leave-one-out: every row's posterior by the model of all other rows, from the statistics alone.

Each event knows what its statistic is without a row: in closed form for normal columns and for levels, else derived once
for each set of rows that are alike.

The answers of naive Bayes with one row more or less than it has seen, for many such rows: what full conformal prediction
and the jackknife ask for.
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


@dataclass(frozen=True)
class NaiveBayesLearner(MergeableLearner):
    """Columns by event, how parameters follow from what was seen, and the probabilities of the classes if they are given."""

    groups: tuple[ColumnGroup, ...]
    estimation: Estimation
    class_prior: ClassAmounts | None = None

    def observe(self, table: Table) -> NaiveBayesStatistic:
        """Class weights, and one statistic per group of columns."""
        return NaiveBayesStatistic.of(table, self.groups)

    def observe_all(self, rows: Partitions) -> NaiveBayesStatistic:
        """The statistic of all rows; names an infinite number, and warns of columns that one far value has made useless."""
        outliers = Outliers(rows)
        try:
            seen = rows.map_reduce(self.observe)
        except ValueError:  # a kernel met an infinite number in its part: its place is one of the whole table
            rows.map_reduce(_refuse_infinite, rows_per_part=None)
            raise
        for group, statistic in zip(seen.groups, seen.statistics, strict=True):
            spread = EVENTS[group.event].spread(statistic)
            if spread is not None:
                outliers.warn(group.columns, spread)
        # files leave out a default only where it is the very object, which it is not after a journey
        return msgspec.structs.replace(seen, groups=self.groups) if seen.groups == self.groups else seen

    def derive(self, seen: NaiveBayesStatistic, schema: Schema) -> NaiveBayes:
        """The model that follows."""
        return NaiveBayes.derive(seen, schema, self.estimation, self.prior(schema))

    def prior(self, schema: Schema) -> np.ndarray | None:
        """The given probabilities of the classes of a schema; None where their shares are learnt."""
        return None if self.class_prior is None else self.class_prior.shares(schema.classes)

    def predict_after(
        self, seen: NaiveBayesStatistic, changes: Table, sign: int, asked: Table
    ) -> Iterator[UpdatedPredictions]:
        """For each row that is added or taken away its answers and those of other rows, in closed form where it has one."""

        found = answers_after(self, seen, changes, sign, asked)
        if found is None:
            yield from super().predict_after(seen, changes, sign, asked)
            return
        for after, is_hard in found:
            for place in np.flatnonzero(is_hard):
                one = changes.take(np.array([after.changes.start + place]))
                after.own[place], after.others[place] = self._answers_after_one(seen, one, sign, asked)
            yield after

    def intervals(self, seen: NaiveBayesStatistic, table: Table, level: float) -> np.ndarray:
        """Of the probability of each class: what is expected of the scores of a row, and how far they vary, given what was
        seen. Classes and columns are independent of each other, so variances add up. [n_rows, n_classes, 2]
        """
        mean, variance = (np.tile(each, (len(table), 1)) for each in self._class_moments(seen, table.schema))
        for group, statistic in zip(seen.groups, seen.statistics, strict=True):
            EVENTS[group.event].add_posterior(statistic, group, table, self.estimation, mean, variance)
        return score_intervals(mean, variance, level)

    def _class_moments(self, seen: NaiveBayesStatistic, schema: Schema) -> tuple[np.ndarray, np.ndarray]:
        """Of the logarithm of each class's prior, up to what all share: [n_classes] each."""
        prior = self.prior(schema)
        if prior is not None:
            return np.log(np.maximum(prior, 1e-300)), np.zeros(len(prior))
        return log_amount_moments(seen.classes.known()[:, 0] + JEFFREYS)

    def n_retained_rows(self, seen: NaiveBayesStatistic) -> int:
        """How many documents it keeps: their lengths depend on all others."""
        return sum(len(statistic.documents) for statistic in seen.statistics if isinstance(statistic, DocumentBags))

    def can_subtract(self, schema: Schema) -> bool:
        """Whether every event can: not where distinct values or words of all rows are read."""
        return all(EVENTS[group.event].can_subtract for group in self.groups)


def _refuse_infinite(table: Table) -> int:
    refuse_infinite(table.schema, table.values)
    return 0


def leave_one_out(learner: NaiveBayesLearner, table: Table, seen: NaiveBayesStatistic) -> np.ndarray:
    """The probabilities of each row by the model of everything that was seen but that row: [n_rows, n_classes]."""
    scores = _class_scores(learner, table, seen)
    for group, statistic in zip(seen.groups, seen.statistics, strict=True):
        EVENTS[group.event].add_leave_one_out_scores(statistic, group, table, learner.estimation, scores)
    return _predict_left_out(learner, table, seen, scores)


def leave_one_out_by_weight(learner: NaiveBayesLearner, table: Table, seen: NaiveBayesStatistic) -> np.ndarray:
    """The same where a row that stands for several leaves one of them out: weight 2 is the row twice. [n_rows, n_classes]

    In closed form throughout, also of weights that all differ.
    """
    weight = np.minimum(table.weight, 1.0)
    once = msgspec.structs.replace(table, weight=weight, is_unweighted=bool((weight == 1).all()))
    scores = leave_one_out_log_priors(seen.classes.known()[:, 0], once, learner.estimation)
    for group, statistic in zip(seen.groups, seen.statistics, strict=True):
        EVENTS[group.event].add_fractional_leave_one_out_scores(statistic, group, once, learner.estimation, scores)
    return _predict_left_out(learner, once, seen, scores)


def leave_one_out_log_priors(counts: np.ndarray, table: Table, estimation: Estimation) -> np.ndarray:
    """The logarithm of each class's share [n_classes] once each row is taken away: [n_rows, n_classes]."""
    added = estimation.class_alpha
    pseudo = pseudo_counts(estimation, table.schema.target.name, table.schema.classes) if added is None else added
    left = np.tile(counts + pseudo, (len(table), 1))
    left[np.arange(len(table)), table.label] -= table.weight
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(left, 0.0) / left.sum(axis=1, keepdims=True))


def _predict_left_out(learner: NaiveBayesLearner, table: Table, seen: NaiveBayesStatistic, scores: np.ndarray) -> np.ndarray:
    """The probabilities of scores; a row whose score no closed form tells has its statistic derived anew."""
    if np.isfinite(scores).all():
        return softmax(scores)
    unknown = np.flatnonzero(np.isnan(scores).any(axis=1) | np.isneginf(scores).all(axis=1))
    answer = softmax(np.where(np.isnan(scores), 0.0, scores)) if len(unknown) < len(scores) else np.empty_like(scores)
    for row in unknown:
        answer[row] = _derived_anew(learner, table.rows(int(row), int(row) + 1), seen)
    return answer


def _derived_anew(learner: NaiveBayesLearner, row: Table, seen: NaiveBayesStatistic) -> np.ndarray:
    return learner.derive(seen - NaiveBayesStatistic.of(row, seen.groups), row.schema).predict(row)[0]


def _class_scores(learner: NaiveBayesLearner, table: Table, seen: NaiveBayesStatistic) -> np.ndarray:
    """The log-prior of each row's classes without the row."""
    prior = learner.prior(table.schema)
    if prior is not None:
        with np.errstate(divide="ignore"):
            return np.tile(np.log(prior), (len(table), 1))
    first, place = group_equal_rows(table)
    shares = [class_priors(_without(seen.classes, table, row), table.schema, learner.estimation) for row in first]
    with np.errstate(divide="ignore"):
        return np.take(np.log(np.array(shares)), place, axis=0)


def _without(classes: Counts, table: Table, row: int) -> Counts:
    return classes - NaiveBayesStatistic.of(table.rows(row, row + 1), ()).classes


_BLOCK = 1 << 15  # probabilities at a time, which stay near the processor


def answers_after(
    learner: NaiveBayesLearner, seen: NaiveBayesStatistic, changes: Table, sign: int, asked: Table
) -> Iterator[tuple[UpdatedPredictions, np.ndarray]] | None:
    """For each row of `changes`, added (sign 1) or taken away (−1), its own probabilities and those of the rows asked for.

    With each block of changes comes which of them need a statistic of their own; None where an event has no closed form.
    """
    counts, exponent = bounded(seen.classes.cells)
    if exponent or not counts.sum() >= MIN_TOTAL_WEIGHT:
        return None
    of_groups = []
    for group, statistic in zip(seen.groups, seen.statistics, strict=True):
        event = EVENTS[group.event]
        altered = event.row_update(statistic, group, changes, sign, learner.estimation)
        if altered is None:
            return None
        of_groups.append((altered, event.update_inputs(changes, group), event.update_inputs(asked, group)))
    is_hard = np.any([np.zeros(len(changes), bool), *(altered.is_hard for altered, *_ in of_groups)], axis=0)
    return _predict_updated(of_groups, _log_priors(learner, counts[1:, 0], changes, sign), is_hard, len(asked))


def _predict_updated(
    of_groups: list[tuple[RowUpdate, Ready, Ready]], log_prior: np.ndarray, is_hard: np.ndarray, n_asked: int
) -> Iterator[tuple[UpdatedPredictions, np.ndarray]]:
    n_changes, n_classes = log_prior.shape
    step = max(1, _BLOCK // max(n_asked * n_classes, 1))
    for first in range(0, n_changes, step):
        block = slice(first, min(first + step, n_changes))
        own, others = (np.repeat(log_prior[block, None], n, axis=1) for n in (1, n_asked))  # [n_changes, n, n_classes]
        for altered, mine, theirs in of_groups:
            for place, change in enumerate(range(block.start, block.stop)):
                altered.add_scores(change, [each[change : change + 1] for each in mine], own[place])
                altered.add_scores(change, theirs, others[place])
        yield (
            UpdatedPredictions(block, _posterior(own, log_prior[block])[:, 0], _posterior(others, log_prior[block])),
            is_hard[block],
        )


def _posterior(scores: np.ndarray, log_prior: np.ndarray) -> np.ndarray:
    """The probabilities of scores [n_changes, n_rows, n_classes]; the prior where every class is impossible."""
    never = np.isneginf(scores).all(axis=2)
    if never.any():
        scores[never] = np.broadcast_to(log_prior[:, None], scores.shape)[never]
    return softmax(scores.reshape(-1, scores.shape[2])).reshape(scores.shape)


def _log_priors(learner: NaiveBayesLearner, counts: np.ndarray, changes: Table, sign: int) -> np.ndarray:
    """The logarithm of each class's prior after each change. [n_changes, n_classes]"""
    with np.errstate(divide="ignore"):
        given = learner.prior(changes.schema)
        if given is not None:
            return np.tile(np.log(given), (len(changes), 1))
        n = np.tile(counts, (len(changes), 1))
        n[np.arange(len(changes)), changes.label] += sign * changes.weight
        estimation, schema = learner.estimation, changes.schema
        added = estimation.class_alpha
        n += pseudo_counts(estimation, schema.target.name, schema.classes) if added is None else added
        n = np.maximum(n, 0.0)
        return np.log(n / n.sum(axis=1, keepdims=True))
