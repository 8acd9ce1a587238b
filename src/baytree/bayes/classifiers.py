"""The naive Bayes estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import parts
from ..estimator import AdditiveClassifier
from ..table import Column, Schema, Table
from .conventions import CONVENTIONS, Convention
from .estimation import Estimation, Group, refusing_infinite
from .events import KINDS, NUMERIC, TOGETHER, default_event
from .model import NaiveBayes, Seen


class NaiveBayesClassifier(AdditiveClassifier):
    """Naive Bayes on a raw table: an event model per column, missing values marginalised exactly.

    Parameters
    ----------
    events : dict of column name to event, optional
        The event model of a column, such as ``{"age": "gaussian"}``; other columns follow their kind.
    estimate : {"bayes", "map", "mle"}
        ``bayes`` is the posterior predictive, ``map`` the posterior's mode, ``mle`` the plain frequencies.
    numeric : {"gaussian", "kernel", "discretized"}
        The event of numeric columns that `events` does not name: normal densities, kernel densities, or bins between
        cuts that pay for their description.
    alpha : float
        Pseudo-counts of the prior; ``alpha=1`` with ``estimate="bayes"`` is Laplace's rule.
    priors : dict of column name to prior, optional
        A column's own prior: ``{"m0": 40, "k0": 1, "a0": 2, "b0": 50}`` (Normal–Inverse-Gamma) for a gaussian column,
        pseudo-counts of levels (``{"red": 2}``, or one number for all) for a categorical one, and for the classes under
        the name of the target.
    class_prior : array or dict, optional
        The probabilities of the classes, instead of their shares in training.
    conventions : {"sklearn", "e1071", "weka"}, optional
        The rules of another program, digit for digit; `estimate` is then that program's own.
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
        priors: dict | None = None,
        class_prior: Any = None,
        conventions: str | None = None,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.events = events
        self.estimate = estimate
        self.numeric = numeric
        self.alpha = alpha
        self.priors = priors
        self.class_prior = class_prior
        self.conventions = conventions
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

    def _event(self, column: Column) -> str:
        if self.numeric not in NUMERIC:
            raise ValueError(f"numeric={self.numeric!r}: give one of {', '.join(NUMERIC)}")
        event = (self.events or {}).get(column.name) or default_event(column, self.numeric)
        if event not in KINDS:
            raise ValueError(f"column {column.name!r}: no event {event!r}; the events are {', '.join(KINDS)}")
        if column.kind not in KINDS[event]:
            kinds = " or ".join(KINDS[event])
            raise ValueError(f"column {column.name!r} is {column.kind}, but the event {event!r} takes {kinds} columns")
        return self._convention().events.get(event, event)

    def _convention(self) -> Convention:
        if self.conventions is None:
            return Convention()
        if self.conventions not in CONVENTIONS:
            raise ValueError(f"conventions={self.conventions!r}: give {', '.join(map(repr, CONVENTIONS))} or None")
        return CONVENTIONS[self.conventions]

    def _estimation(self) -> Estimation:
        if self.estimate not in ("mle", "map", "bayes"):
            raise ValueError(f"estimate={self.estimate!r}: give 'mle', 'map' or 'bayes'")
        alpha = float(self.alpha)
        if not (np.isfinite(alpha) and alpha >= 0):
            raise ValueError(f"alpha={self.alpha!r}: give a finite number that is not negative")
        convention = self._convention()
        estimate = self.estimate if self.conventions is None else "bayes"
        return Estimation(estimate, max(alpha, convention.least_alpha), convention.class_alpha, self.priors or {})

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
