"""Naive Bayes as a learner: which events look at which columns, how parameters follow, what the classes are beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np

from baytree.bayes.estimation import Estimation, Group
from baytree.bayes.events import EVENTS
from baytree.bayes.model import NaiveBayes
from baytree.bayes.seen import Seen
from baytree.engine.parts import Parts
from baytree.engine.rounds.outliers import Outliers
from baytree.learner import Additive, After
from baytree.limits.intervals import JEFFREYS, log_amount_moments, score_intervals
from baytree.settings import ByClass
from baytree.statistics.corpora import Corpus
from baytree.table.schema import Schema
from baytree.table.table import Table, refuse_infinite


@dataclass(frozen=True)
class NaiveBayesLearner(Additive):
    """Columns by event, how parameters follow from what was seen, and the probabilities of the classes if they are given."""

    groups: tuple[Group, ...]
    estimation: Estimation
    class_prior: ByClass | None = None

    def observe(self, table: Table) -> Seen:
        """Class weights, and one statistic per group of columns."""
        return Seen.of(table, self.groups)

    def total(self, rows: Parts) -> Seen:
        """The statistic of all rows; names an infinite number, and warns of columns that one far value has made useless."""
        outliers = Outliers(rows)
        try:
            seen = rows.total(self.observe)
        except ValueError:  # a kernel met an infinite number in its part: its place is one of the whole table
            rows.total(_refuse_infinite, rows_per_part=None)
            raise
        for group, statistic in zip(seen.groups, seen.statistics, strict=True):
            spread = EVENTS[group.event].spread(statistic)
            if spread is not None:
                outliers.warn(group.columns, spread)
        # files leave out a default only where it is the very object, which it is not after a journey
        return msgspec.structs.replace(seen, groups=self.groups) if seen.groups == self.groups else seen

    def derive(self, seen: Seen, schema: Schema) -> NaiveBayes:
        """The model that follows."""
        return NaiveBayes.derive(seen, schema, self.estimation, self.prior(schema))

    def prior(self, schema: Schema) -> np.ndarray | None:
        """The given probabilities of the classes of a schema; None where their shares are learnt."""
        return None if self.class_prior is None else self.class_prior.shares(schema.classes)

    def answers_after(self, seen: Seen, changes: Table, sign: int, asked: Table) -> Iterator[After]:
        """For each row that is added or taken away its answers and those of other rows, in closed form where it has one."""
        from baytree.bayes.altered import answers_after  # only conformal prediction needs it

        found = answers_after(self, seen, changes, sign, asked)
        if found is None:
            yield from super().answers_after(seen, changes, sign, asked)
            return
        for after, is_hard in found:
            for place in np.flatnonzero(is_hard):
                one = changes.take(np.array([after.changes.start + place]))
                after.own[place], after.others[place] = self._answers_after_one(seen, one, sign, asked)
            yield after

    def intervals(self, seen: Seen, table: Table, level: float) -> np.ndarray:
        """Of the probability of each class: what is expected of the scores of a row, and how far they vary, given what was
        seen. Classes and columns are independent of each other, so variances add up. [n_rows, n_classes, 2]
        """
        mean, variance = (np.tile(each, (len(table), 1)) for each in self._class_moments(seen, table.schema))
        for group, statistic in zip(seen.groups, seen.statistics, strict=True):
            EVENTS[group.event].add_posterior(statistic, group, table, self.estimation, mean, variance)
        return score_intervals(mean, variance, level)

    def _class_moments(self, seen: Seen, schema: Schema) -> tuple[np.ndarray, np.ndarray]:
        """Of the logarithm of each class's prior, up to what all share: [n_classes] each."""
        prior = self.prior(schema)
        if prior is not None:
            return np.log(np.maximum(prior, 1e-300)), np.zeros(len(prior))
        return log_amount_moments(seen.classes.known()[:, 0] + JEFFREYS)

    def n_kept(self, seen: Seen) -> int:
        """How many documents it keeps: their lengths depend on all others."""
        return sum(len(statistic.documents) for statistic in seen.statistics if isinstance(statistic, Corpus))

    def can_subtract(self, schema: Schema) -> bool:
        """Whether every event can: not where distinct values or words of all rows are read."""
        return all(EVENTS[group.event].can_subtract for group in self.groups)


def _refuse_infinite(table: Table) -> int:
    refuse_infinite(table.schema, table.values)
    return 0
