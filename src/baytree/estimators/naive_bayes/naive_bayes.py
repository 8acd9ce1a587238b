"""`NaiveBayesClassifier`: naive Bayes on raw tables, with an event model per column."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from baytree import param_validation
from baytree._typing import CostsLike, PriorsLike
from baytree.data.frames.arrays import are_number_columns
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.estimators.naive_bayes.base import BayesClassifier
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation, read_pseudo_counts
from baytree.naive_bayes.events.normal import NormalLikelihood
from baytree.naive_bayes.events.registry import (
    CONVENTIONS,
    EVENTS,
    NUMERIC,
    ProgramConvention,
    default_event,
    event_of,
    grouped,
)
from baytree.param_validation import ClassAmounts


class NaiveBayesClassifier(BayesClassifier):
    """Naive Bayes on a raw table: an event model per column, missing values marginalised exactly.

    Parameters
    ----------
    events : dict of column name to event, optional
        Event model by column name, such as ``{"age": "gaussian"}``: gaussian, kernel, discretized, categorical, bernoulli,
        poisson, multinomial or complement. The event model of other columns follows from their kind.
    estimate : {"bayes", "map", "mle"}, default="bayes"
        ``bayes`` is the posterior predictive distribution, ``map`` the posterior mode, ``mle`` maximum likelihood.
    numeric : {"gaussian", "kernel", "discretized"}, default="gaussian"
        Event model of numeric columns that `events` does not name: normal densities, kernel densities, or bins between cut
        points chosen by minimum description length.
    alpha : float, default=1.0
        Pseudo-count of the Dirichlet prior; ``alpha=1`` with ``estimate="bayes"`` is Laplace's rule.
    priors : dict of column name to prior, optional
        Prior of single columns: ``{"m0": 40, "k0": 1, "a0": 2, "b0": 50}`` (Normal–Inverse-Gamma) for a gaussian column,
        pseudo-counts of levels (``{"red": 2}``, or one number for all) for a categorical one, and pseudo-counts of the
        classes under the name of the target.
    class_prior : array-like of shape (n_classes,) or dict by class, optional
        Prior probabilities of the classes, which need not sum to 1; by default their proportions in the training rows.
    conventions : {"sklearn", "e1071", "weka"}, optional
        Reproduce the rules of another program to the last digit; `estimate` is then that program's own.

    Attributes
    ----------
    class_prior_ : ndarray of shape (n_classes,)
        Prior probabilities of the classes.
    theta_ : ndarray of shape (n_classes, n_features_in_)
        Mean of each column with a normal density in each class; NaN for other columns.
    var_ : ndarray of shape (n_classes, n_features_in_)
        Variance of each such density (of Student's t with ``estimate="bayes"``); NaN for other columns.

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
        class_prior: PriorsLike = None,
        conventions: str | None = None,
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
        costs: CostsLike = None,
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
        self.profile = profile
        self.costs = costs

    @property
    def class_prior_(self) -> np.ndarray:
        """Prior probabilities of the classes. float64 [n_classes]"""
        return np.exp(self.model_.log_prior)

    @property
    def theta_(self) -> np.ndarray:
        """Mean of each column with a normal density in each class, NaN for others. float64 [n_classes, n_features_in_]"""
        return self._per_input(lambda normal: normal.mean)

    @property
    def var_(self) -> np.ndarray:
        """Variance of each normal or Student-t density, NaN for other columns. float64 [n_classes, n_features_in_]"""
        return self._per_input(lambda normal: normal.variance())

    def _per_input(self, values: Callable[[NormalLikelihood], np.ndarray]) -> np.ndarray:
        """Values [n_classes, n_columns] of normal densities, in the order of the given columns."""
        schema = self.schema_
        result = np.full((len(schema.classes), len(schema.inputs)), np.nan)
        for likelihood in self.model_.likelihoods:
            if isinstance(likelihood, NormalLikelihood):
                result[:, [schema.inputs.index(schema.sources[j]) for j in likelihood.columns]] = values(likelihood)
        return result

    def _groups(self, schema: Schema) -> tuple[ColumnGroup, ...]:
        """Columns grouped by event model, in order."""
        events = {} if self.events is None else param_validation.by_name("events", self.events, schema.names)
        numeric = param_validation.one_of("numeric", self.numeric, NUMERIC)
        replaced = self._convention().events
        if not events and (
            are_number_columns(schema.columns) or schema.is_numbers
        ):  # one event for all columns, without a loop over many of them
            return grouped([event_of(schema.columns[0], numeric, replaced)] * len(schema.columns))
        named = [(column, events.get(column.name) or default_event(column, numeric)) for column in schema.columns]
        return grouped([event_of(column, name, replaced) for column, name in named])

    def _estimation(self, schema: Schema) -> Estimation:
        estimate = param_validation.one_of("estimate", self.estimate, ("mle", "map", "bayes"))
        alpha = param_validation.finite("alpha", self.alpha, 0)
        priors = self._priors(schema)
        convention = self._convention()
        return Estimation(
            estimate if self.conventions is None else "bayes",
            max(alpha, convention.least_alpha),
            convention.class_alpha,
            priors,
        )

    def _priors(self, schema: Schema) -> dict[str, object]:
        """Priors of single columns, parsed by their event models, and pseudo-counts of the classes."""
        if self.priors is None:
            return {}
        given = param_validation.by_name("priors", self.priors, (*schema.names, schema.target.name))
        event_of_column = {schema.names[j]: EVENTS[group.event] for group in self._groups(schema) for j in group.columns}
        read: dict[str, object] = {}
        for name, own in given.items():
            if own is not None and name in event_of_column:
                read[name] = event_of_column[name].read_prior(own, schema[name])
            elif own is not None:
                read[name] = read_pseudo_counts(own, name)
        return read

    def _prior(self, schema: Schema) -> ClassAmounts | None:
        return param_validation.priors("class_prior", self.class_prior, schema.classes)

    def _convention(self) -> ProgramConvention:
        param_validation.one_of("conventions", self.conventions, (*CONVENTIONS, None))
        return ProgramConvention() if self.conventions is None else CONVENTIONS[self.conventions]
