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
from baytree.model import softmax
from baytree.statistics.exact import bounded
from baytree.table.table import Table


def answers_after(
    learner: NaiveBayesLearner, seen: Seen, changes: Table, sign: int, asked: Table
) -> Iterator[tuple[np.ndarray, np.ndarray] | None] | None:
    """For each row of `changes`, added (sign 1) or taken away (−1), its own probabilities and those of the rows asked for.

    None where an event has no closed form, and in place of a change that needs a statistic of its own.
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
) -> Iterator[tuple[np.ndarray, np.ndarray] | None]:
    for change, start in enumerate(log_prior):
        if is_hard[change]:
            yield None
            continue
        own, others = start[None].copy(), np.tile(start, (n_asked, 1))
        for altered, mine, theirs in of_groups:
            altered.add_scores(change, [np.ascontiguousarray(each[change : change + 1]) for each in mine], own)
            altered.add_scores(change, theirs, others)
        yield _posterior(own, start)[0], _posterior(others, start)


def _posterior(scores: np.ndarray, log_prior: np.ndarray) -> np.ndarray:
    """The prior where every class is impossible."""
    scores[np.isneginf(scores).all(axis=1)] = log_prior
    return softmax(scores)


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
