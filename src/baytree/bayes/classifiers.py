"""The naive Bayes estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import parts
from ..estimator import AdditiveClassifier
from ..table import Schema, Table
from .events import EVENTS, TOGETHER, Estimation, default_event
from .model import Group, NaiveBayes, Seen, refusing_infinite


class NaiveBayesClassifier(AdditiveClassifier):
    """Naive Bayes on a raw table: an event model per column, missing values marginalised exactly.

    Parameters
    ----------
    events : dict of column name to event, optional
        The event model of a column, such as ``{"age": "gaussian"}``; other columns follow their kind.
    estimate : {"bayes", "map", "mle"}
        ``bayes`` is the posterior predictive, ``map`` the posterior's mode, ``mle`` the plain frequencies.
    numeric : {"gaussian"}
        The event of numeric columns that `events` does not name.
    alpha : float
        Pseudo-counts of the prior; ``alpha=1`` with ``estimate="bayes"`` is Laplace's rule.
    class_prior : array or dict, optional
        The probabilities of the classes, instead of their shares in training.
    schema, unseen, n_jobs :
        As for every estimator: declared kinds, what to do with new levels, threads.

    Examples
    --------
    >>> import baytree as bt
    >>> play = {"outlook": ["sunny", "rain", "rain", "sunny"], "play": ["no", "yes", "yes", "no"]}
    >>> model = bt.NaiveBayesClassifier().fit(play, "play")
    >>> model.predict({"outlook": ["rain", None]}).tolist()
    ['yes', 'no']
    """

    _accepts_infinite = True  # at the door: the kernels refuse infinities as they read, which saves a read of the table

    def __init__(
        self,
        events: dict | None = None,
        estimate: str = "bayes",
        numeric: str = "gaussian",
        alpha: float = 1.0,
        class_prior: Any = None,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.events = events
        self.estimate = estimate
        self.numeric = numeric
        self.alpha = alpha
        self.class_prior = class_prior
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _observe(self, table: Table) -> Seen:
        groups = self._groups(table.schema)
        with refusing_infinite(table):
            return parts.of(table, self.n_jobs).map(lambda part: Seen.of(part, groups)).sum()

    def _derive(self, seen: Seen, schema: Schema) -> NaiveBayes:
        estimation = self._estimation()
        return NaiveBayes.derive(seen, schema, estimation, self._prior(schema))

    def _groups(self, schema: Schema) -> list[Group]:
        """Columns by event, in order; the columns of some events are looked at together."""
        together: dict[str, list[int]] = {}
        groups = []
        for j, column in enumerate(schema.columns):
            event = self._event(column)
            if event in TOGETHER:
                together.setdefault(event, []).append(j)
            else:
                groups.append(Group(event, (j,)))
        return [Group(event, tuple(columns)) for event, columns in together.items()] + groups

    def _event(self, column: Any) -> str:
        event = (self.events or {}).get(column.name) or default_event(column, self.numeric)
        if event not in EVENTS:
            raise ValueError(f"column {column.name!r}: no event {event!r}; the events are {', '.join(EVENTS)}")
        return event

    def _estimation(self) -> Estimation:
        if self.estimate not in ("mle", "map", "bayes"):
            raise ValueError(f"estimate={self.estimate!r}: give 'mle', 'map' or 'bayes'")
        alpha = float(self.alpha)
        if not (np.isfinite(alpha) and alpha >= 0):
            raise ValueError(f"alpha={self.alpha!r}: give a finite number that is not negative")
        return Estimation(self.estimate, alpha)

    def _prior(self, schema: Schema) -> np.ndarray | None:
        if self.class_prior is None:
            return None
        classes = schema.classes
        given = self.class_prior
        if isinstance(given, dict):
            given = [given.get(label, 0.0) for label in classes]
        prior = np.asarray(given, dtype=np.float64)
        if prior.shape != (len(classes),) or not (np.isfinite(prior).all() and (prior >= 0).all()) or not prior.any():
            raise ValueError(f"class_prior={self.class_prior!r}: give a probability for each of {list(classes)}")
        return prior / prior.sum()
