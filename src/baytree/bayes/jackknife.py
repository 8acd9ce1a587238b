"""Exact leave-one-out: every row's posterior by the model of all other rows, from the statistics alone.

Normal columns have a closed form: taking x away moves the mean of its class by (x − m)/(n − 1) and its sum of squares by
(x − m)² n/(n − 1), and the same for the column as a whole; so have levels, whose own count falls by one. For all other
columns, and for the classes, rows that are alike leave the same model behind, so it is derived once for each distinct
value, label and weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree import _core
from baytree.bayes.estimation import Estimation, Group, class_shares, refusing_infinite
from baytree.bayes.events import EVENTS
from baytree.bayes.events.categorical import Categorical
from baytree.bayes.events.gaussian import VARIANCE_FLOOR, in_units
from baytree.bayes.learner import NaiveBayesLearner
from baytree.bayes.model import Seen
from baytree.engine.parts import by_rows
from baytree.model import softmax
from baytree.statistics.counts import Counts
from baytree.statistics.exact import bounded
from baytree.statistics.moments import Moments
from baytree.table.frames import factorise_fixed
from baytree.table.table import SparseColumns, Table, Tokens, matrices


def leave_one_out(learner: NaiveBayesLearner, table: Table, seen: Seen) -> np.ndarray:
    """The probabilities of each row by the model of everything that was seen but that row: [n_rows, n_classes]."""
    scores = _class_scores(learner, table, seen)
    estimation = learner.estimation
    for group, statistic in zip(seen.groups, seen.statistics, strict=True):
        if isinstance(statistic, Moments) and _has_closed_form(group, table, estimation):
            _add_normal(group, statistic, table, estimation, scores)
        elif isinstance(EVENTS[group.event], Categorical) and table.is_unweighted:
            _add_levels(group, statistic, table, estimation, scores)
        else:
            _add_derived(group, statistic, table, estimation, scores)
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
    first, place = _alike(table, [])
    shares = [class_shares(_without(seen.classes, table, row), table.schema, learner.estimation) for row in first]
    with np.errstate(divide="ignore"):
        return np.take(np.log(np.array(shares)), place, axis=0)


def _without(classes: Counts, table: Table, row: int) -> Counts:
    return classes - Seen.of(table.rows(row, row + 1), ()).classes


def _has_closed_form(group: Group, table: Table, estimation: Estimation) -> bool:
    named = any(table.schema.columns[j].name in estimation.priors for j in group.columns)
    return group.event in ("gaussian", "smoothed gaussian") and not named and not isinstance(table.values, SparseColumns)


def _add_normal(group: Group, seen: Moments, table: Table, estimation: Estimation, scores: np.ndarray) -> None:
    pooled = seen.pooled()
    centre, unit = np.nan_to_num(pooled.mean()[0]), np.nan_to_num(pooled.deviation()[0])
    n, exponent = bounded(seen.weight)
    unit = np.where(unit > 0, unit, np.inf)  # a constant column adds nothing
    with np.errstate(over="ignore", invalid="ignore"):
        mean = in_units(seen.mean(), centre, unit)
        squares = n * np.nan_to_num(seen.deviation() / unit) ** 2
    weight = np.empty(0) if table.is_unweighted else np.ldexp(table.weight, -exponent)
    is_raised = group.event == "smoothed gaussian"
    rule = "raised" if is_raised else estimation.estimate
    floor = estimation.var_smoothing if is_raised else VARIANCE_FLOOR
    alpha = float(np.ldexp(max(float(np.max(estimation.alpha)), 1e-9), -exponent))

    def add(part: Table, first: int, last: int) -> None:
        done = 0
        for matrix in matrices(part, group.columns):
            here = slice(done, done + matrix.shape[1])
            cells = (np.ascontiguousarray(a[..., here]) for a in (n, mean, squares, centre, unit))
            label = np.ascontiguousarray(part.label)
            _core.add_left_out_scores(matrix, label, weight[first:last], *cells, rule, alpha, floor, scores[first:last])
            done += matrix.shape[1]

    with refusing_infinite(table):
        by_rows(table, add)


def _add_levels(group: Group, seen: Counts, table: Table, estimation: Estimation, scores: np.ndarray) -> None:
    """Of the row's own class what its level has without the row; of the others what it has."""
    event: Any = EVENTS[group.event]
    ordinary = event.derive(seen, group, table.schema, estimation).log_probability
    own = event.left_out(seen, group, table.schema, estimation)
    n_levels, n_classes = ordinary.shape
    effects = np.zeros((n_classes, n_levels + 1, n_classes))  # missing first, adds nothing
    effects[:, 1:] = ordinary
    for c in range(n_classes):
        effects[c, 1:, c] = own[:, c]
    kind = table.label * np.int32(n_levels + 1) + table.values[group.columns[0]]
    _core.add_level_scores(kind + np.int32(1), effects.reshape(-1, n_classes), scores)


def _add_derived(group: Group, seen: Any, table: Table, estimation: Estimation, scores: np.ndarray) -> None:
    """One derived likelihood for each distinct combination of the group's values, the label and the weight."""
    event = EVENTS[group.event]
    first, place = _alike(table, [table.values[j] for j in group.columns])
    effects = np.zeros((len(first), table.n_classes))
    for k, row in enumerate(first):
        alone = table.rows(row, row + 1)
        left = event.derive(seen - event.observe(alone, group), group, table.schema, estimation)
        left.add_scores(alone, effects[k : k + 1])
    scores += effects[place]


def _alike(table: Table, values: list) -> tuple[list[int], np.ndarray]:
    """The first of each set of rows that are alike, and for each row which set it belongs to."""
    if any(isinstance(column, Tokens) for column in values):
        return list(range(len(table))), np.arange(len(table))
    kind = table.label.astype(np.int64)
    for column in values if table.is_unweighted else [table.weight, *values]:
        code, distinct = factorise_fixed(column)
        kind = factorise_fixed(kind * len(distinct) + code)[0].astype(np.int64)  # small again, so that it cannot overflow
    place = np.full(int(kind.max()) + 1, -1)
    place[kind[::-1]] = np.arange(len(kind))[::-1]
    return place[place >= 0].tolist(), (np.cumsum(place >= 0) - 1)[kind]
