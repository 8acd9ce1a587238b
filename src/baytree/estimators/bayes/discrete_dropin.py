"""What scikit-learn's naive Bayes classifiers of counts and codes share: pseudo-counts, and the shares of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baytree import notices, settings
from baytree.bayes.estimation import Estimation
from baytree.estimators.bayes.face import BayesClassifier
from baytree.given import PriorsLike
from baytree.settings import ByClass
from baytree.table.schema import Schema

LEAST_ALPHA = 1e-10


class DiscreteNB(BayesClassifier):
    """What the classifiers of counts share: α, and whether the shares of the classes are learnt."""

    alpha: ArrayLike
    force_alpha: bool
    fit_prior: bool
    class_prior: PriorsLike
    _takes_negative = False

    @property
    def class_count_(self) -> np.ndarray:
        """The weight of each class."""
        return self._class_weights

    @property
    def class_log_prior_(self) -> np.ndarray:
        """The logarithm of the probability of each class."""
        prior = self._class_shares(self.schema_)
        count = self.class_count_
        shares = count / count.sum() if prior is None else prior.shares(self.schema_.classes)
        with np.errstate(divide="ignore"):
            return np.log(shares)

    def _estimation(self, schema: Schema) -> Estimation:
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim > 1 or not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ValueError(f"alpha={self.alpha!r}: give a finite number that is not negative, or one for each column")
        if alpha.ndim == 1 and len(alpha) != len(schema):
            raise ValueError(f"alpha has {len(alpha)} numbers, but there are {len(schema)} columns")
        if alpha.min(initial=np.inf) < LEAST_ALPHA and not self.force_alpha:
            notices.warn(f"alpha below {LEAST_ALPHA} is raised to it; use force_alpha=True to keep it")
            alpha = np.maximum(alpha, LEAST_ALPHA)
        return Estimation(alpha=float(alpha) if alpha.ndim == 0 else tuple(alpha.tolist()), class_alpha=0.0)

    def _prior(self, schema: Schema) -> ByClass | None:
        return self._class_shares(schema)

    def _class_shares(self, schema: Schema) -> ByClass | None:
        """The probabilities of the classes that were given or are all equal; None where they are learnt."""
        given = settings.priors("class_prior", self.class_prior, schema.classes)
        return given if given is not None or self.fit_prior else equal_shares(schema)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self._takes_negative
        tags.classifier_tags.poor_score = True
        return tags


def equal_shares(schema: Schema) -> ByClass:
    """Every class as probable as the others."""
    return ByClass(schema.classes, np.ones(len(schema.classes)))
