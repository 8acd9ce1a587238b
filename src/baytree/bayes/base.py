"""What all naive Bayes classifiers share: from a table to what was seen, and from there to the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import parts
from ..estimator import AdditiveClassifier
from ..table import Schema, Table
from .estimation import Estimation, Group, refusing_infinite
from .model import NaiveBayes, Seen


class BayesClassifier(AdditiveClassifier):
    """A naive Bayes classifier: a subclass says which events look at which columns, and how parameters follow."""

    _accepts_infinite = True  # at the door: the kernels refuse infinities as they read, which saves a read of the table
    model_: NaiveBayes
    seen_: Seen

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """log p(c) + Σ log p(x_j | c) for each row and class, before it is normalised: [n_rows, n_classes]."""
        return self.model_.scores(self._encoded(X))

    def _groups(self, schema: Schema) -> list[Group]:
        raise NotImplementedError(f"{type(self).__name__} must say which events look at which columns")

    def _estimation(self) -> Estimation:
        raise NotImplementedError(f"{type(self).__name__} must say how parameters follow")

    def _prior(self, schema: Schema) -> np.ndarray | None:
        raise NotImplementedError(f"{type(self).__name__} must say what it believes of the classes")

    def _observe(self, table: Table) -> Seen:
        groups = self._groups(table.schema)
        with refusing_infinite(table):
            return parts.of(table, self.n_jobs).map(lambda part: Seen.of(part, groups)).sum()

    def _derive(self, seen: Seen, schema: Schema) -> NaiveBayes:
        estimation = self._estimation()
        return NaiveBayes.derive(seen, schema, estimation, self._prior(schema))


def given_prior(given: Any, name: str, schema: Schema) -> np.ndarray | None:
    """The probabilities of the classes that a user gave, as a vector or by class; None where they gave none."""
    if given is None:
        return None
    classes = schema.classes
    if isinstance(given, dict):
        given = [given.get(label, 0.0) for label in classes]
    prior = np.asarray(given, dtype=np.float64)
    if prior.shape != (len(classes),) or not (np.isfinite(prior).all() and (prior >= 0).all()) or not prior.any():
        raise ValueError(f"{name}={given!r}: give a probability for each of the classes {list(classes)}")
    return prior / prior.sum()
