"""Exact leave-one-out: every row's posterior by the model of all other rows, from the statistics alone.

Each event knows what its statistic is without a row: in closed form for normal columns and for levels, else derived once
for each set of rows that are alike.
"""

from __future__ import annotations

import numpy as np

from baytree.bayes.estimation import class_shares
from baytree.bayes.events import EVENTS
from baytree.bayes.events.event import alike
from baytree.bayes.learner import NaiveBayesLearner
from baytree.bayes.seen import Seen
from baytree.model import softmax
from baytree.statistics.counts import Counts
from baytree.table.table import Table


def leave_one_out(learner: NaiveBayesLearner, table: Table, seen: Seen) -> np.ndarray:
    """The probabilities of each row by the model of everything that was seen but that row: [n_rows, n_classes]."""
    return with_class_scores(learner, table, seen, _class_scores(learner, table, seen))


def with_class_scores(learner: NaiveBayesLearner, table: Table, seen: Seen, scores: np.ndarray) -> np.ndarray:
    """The same, where the log-prior of each row's classes without the row is known; `scores` are added to."""
    for group, statistic in zip(seen.groups, seen.statistics, strict=True):
        EVENTS[group.event].add_left_out(statistic, group, table, learner.estimation, scores)
    if np.isfinite(scores).all():
        return softmax(scores)
    unknown = np.flatnonzero(np.isnan(scores).any(axis=1) | np.isneginf(scores).all(axis=1))
    answer = softmax(np.where(np.isnan(scores), 0.0, scores)) if len(unknown) < len(scores) else np.empty_like(scores)
    for row in unknown:
        answer[row] = _derived_anew(learner, table.rows(int(row), int(row) + 1), seen)
    return answer


def _derived_anew(learner: NaiveBayesLearner, row: Table, seen: Seen) -> np.ndarray:
    return learner.derive(seen - Seen.of(row, seen.groups), row.schema).answers(row)[0]


def _class_scores(learner: NaiveBayesLearner, table: Table, seen: Seen) -> np.ndarray:
    """The log-prior of each row's classes without the row."""
    prior = learner.prior(table.schema)
    if prior is not None:
        with np.errstate(divide="ignore"):
            return np.tile(np.log(prior), (len(table), 1))
    first, place = alike(table)
    shares = [class_shares(_without(seen.classes, table, row), table.schema, learner.estimation) for row in first]
    with np.errstate(divide="ignore"):
        return np.take(np.log(np.array(shares)), place, axis=0)


def _without(classes: Counts, table: Table, row: int) -> Counts:
    return classes - Seen.of(table.rows(row, row + 1), ()).classes
