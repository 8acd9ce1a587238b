"""The naive Bayes estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from baytree.bayes.conventions import CONVENTIONS, Convention
from baytree.bayes.estimation import Estimation, Group
from baytree.bayes.events import NUMERIC, TOGETHER, default_event, event_of
from baytree.estimators.bayes_face import BayesClassifier, given_prior
from baytree.table.schema import Column, Schema


class NaiveBayesClassifier(BayesClassifier):
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

    def _groups(self, schema: Schema) -> list[Group]:
        """Columns by event, in order; the columns of some events are looked at together."""
        _refuse_strangers(_by_column(self.events, "events"), "events", schema.names)
        _refuse_strangers(_by_column(self.priors, "priors"), "priors", (*schema.names, schema.target.name))
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
        event = _by_column(self.events, "events").get(column.name) or default_event(column, self.numeric)
        return event_of(column, event, self._convention().events)

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
        return Estimation(
            estimate, max(alpha, convention.least_alpha), convention.class_alpha, _by_column(self.priors, "priors")
        )

    def _prior(self, schema: Schema) -> np.ndarray | None:
        return given_prior(self.class_prior, "class_prior", schema)


def _by_column(given: Any, name: str) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"{name}={given!r}: give a dict by the names of columns, such as {{'age': …}}")
    return given or {}


def _refuse_strangers(given: Mapping[str, Any], name: str, columns: Sequence[str]) -> None:
    for column in given:
        if column not in columns:
            raise ValueError(f"{name} names {column!r}, but the columns are {', '.join(map(repr, columns))}")
