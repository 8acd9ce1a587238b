"""The answers of naive Bayes with one row more or less than it has seen, for many such rows: what full conformal prediction
and the jackknife ask for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from baytree.bayes.estimation import pseudo_counts
from baytree.bayes.events import EVENTS
from baytree.bayes.events.altered import Altered, Ready
from baytree.bayes.learner import NaiveBayesLearner
from baytree.bayes.seen import Seen
from baytree.engine.rounds.number_of_rows import LEAST_ROWS
from baytree.learner import After
from baytree.model import softmax
from baytree.statistics.exact import bounded
from baytree.table.table import Table

_BLOCK = 1 << 15  # probabilities at a time, which stay near the processor


def answers_after(
    learner: NaiveBayesLearner, seen: Seen, changes: Table, sign: int, asked: Table
) -> Iterator[tuple[After, np.ndarray]] | None:
    """For each row of `changes`, added (sign 1) or taken away (−1), its own probabilities and those of the rows asked for.

    With each block of changes comes which of them need a statistic of their own; None where an event has no closed form.
    """
    counts, exponent = bounded(seen.classes.cells)
    if exponent or not counts.sum() >= LEAST_ROWS:
        return None
    of_groups = []
    for group, statistic in zip(seen.groups, seen.statistics, strict=True):
        event = EVENTS[group.event]
        altered = event.altered(statistic, group, changes, sign, learner.estimation)
        if altered is None:
            return None
        of_groups.append((altered, event.ready(changes, group), event.ready(asked, group)))
    is_hard = np.any([np.zeros(len(changes), bool), *(altered.is_hard for altered, *_ in of_groups)], axis=0)
    return _answered(of_groups, _log_priors(learner, counts[1:, 0], changes, sign), is_hard, len(asked))


def _answered(
    of_groups: list[tuple[Altered, Ready, Ready]], log_prior: np.ndarray, is_hard: np.ndarray, n_asked: int
) -> Iterator[tuple[After, np.ndarray]]:
    n_changes, n_classes = log_prior.shape
    step = max(1, _BLOCK // max(n_asked * n_classes, 1))
    for first in range(0, n_changes, step):
        block = slice(first, min(first + step, n_changes))
        own, others = (np.repeat(log_prior[block, None], n, axis=1) for n in (1, n_asked))  # [n_changes, n, n_classes]
        for altered, mine, theirs in of_groups:
            for place, change in enumerate(range(block.start, block.stop)):
                altered.add_scores(change, [each[change : change + 1] for each in mine], own[place])
                altered.add_scores(change, theirs, others[place])
        yield After(block, _posterior(own, log_prior[block])[:, 0], _posterior(others, log_prior[block])), is_hard[block]


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
