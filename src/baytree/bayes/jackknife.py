"""Exact leave-one-out: every row's posterior by the model of all other rows, from the statistics alone.

Each event knows what its statistic is without a row: in closed form for normal columns and for levels, else derived once
for each set of rows that are alike.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.bayes.estimation import Estimation, class_shares, pseudo_counts
from baytree.bayes.events import EVENTS
from baytree.bayes.events.event import alike
from baytree.bayes.learner import NaiveBayesLearner
from baytree.bayes.seen import Seen
from baytree.model import softmax
from baytree.statistics.counts import Counts
from baytree.table.table import Table


def leave_one_out(learner: NaiveBayesLearner, table: Table, seen: Seen) -> np.ndarray:
    """The probabilities of each row by the model of everything that was seen but that row: [n_rows, n_classes]."""
    scores = _class_scores(learner, table, seen)
    for group, statistic in zip(seen.groups, seen.statistics, strict=True):
        EVENTS[group.event].add_left_out(statistic, group, table, learner.estimation, scores)
    return _answered(learner, table, seen, scores)


def leave_one_of_each_out(learner: NaiveBayesLearner, table: Table, seen: Seen) -> np.ndarray:
    """The same where a row that stands for several leaves one of them out: weight 2 is the row twice. [n_rows, n_classes]

    In closed form throughout, also of weights that all differ.
    """
    weight = np.minimum(table.weight, 1.0)
    once = msgspec.structs.replace(table, weight=weight, is_unweighted=bool((weight == 1).all()))
    scores = log_shares_without(seen.classes.known()[:, 0], once, learner.estimation)
    for group, statistic in zip(seen.groups, seen.statistics, strict=True):
        EVENTS[group.event].add_left_out_parts(statistic, group, once, learner.estimation, scores)
    return _answered(learner, once, seen, scores)


def log_shares_without(counts: np.ndarray, table: Table, estimation: Estimation) -> np.ndarray:
    """The logarithm of each class's share [n_classes] once each row is taken away: [n_rows, n_classes]."""
    added = estimation.class_alpha
    pseudo = pseudo_counts(estimation, table.schema.target.name, table.schema.classes) if added is None else added
    left = np.tile(counts + pseudo, (len(table), 1))
    left[np.arange(len(table)), table.label] -= table.weight
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(left, 0.0) / left.sum(axis=1, keepdims=True))


def _answered(learner: NaiveBayesLearner, table: Table, seen: Seen, scores: np.ndarray) -> np.ndarray:
    """The probabilities of scores; a row whose score no closed form tells has its statistic derived anew."""
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
