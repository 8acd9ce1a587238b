"""What classes weigh: priors and costs of mistakes as scales that the search and the risk use."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.settings import ByClass
from baytree.table.table import Table


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """The scale of each class in the search and in the risk, and the loss of each mistake."""

    scale: np.ndarray  # [n_classes]
    risk_scale: np.ndarray  # [n_classes]
    loss: np.ndarray  # [n_classes (true), n_classes (predicted)]


class Weighing(msgspec.Struct, frozen=True):
    """What classes weigh, as it was asked for: their probabilities, and the cost of each mistake."""

    priors: ByClass | None = None
    costs: ByClass | None = None

    @property
    def is_equal(self) -> bool:
        """Nothing was asked for."""
        return self.priors is None and self.costs is None

    def of(self, table: Table) -> Costs:
        """The scales of the classes of a table."""
        classes = table.schema.classes
        if not classes:
            return equal_costs(0)
        return self.of_counts(np.bincount(table.label, table.weight, len(classes)), classes)

    def of_counts(self, counts: np.ndarray, classes: tuple) -> Costs:
        """The scales of classes of these weights."""
        priors = None if self.priors is None else _shares(self.priors.of(classes))
        loss = None if self.costs is None else self.costs.of(classes)
        return altered_costs(counts, priors, loss)


def _shares(priors: np.ndarray) -> np.ndarray:
    """Priors over their sum, taken one after the other: the ties of many classes hang on its last bit."""
    total = sum(priors.tolist())
    return priors / total if total > 0 else np.full(len(priors), 1 / len(priors))


EQUAL = Weighing()


def equal_costs(n_classes: int) -> Costs:
    """No class weighs more than another, and every mistake costs 1."""
    return Costs(scale=np.ones(n_classes), risk_scale=np.ones(n_classes), loss=1.0 - np.eye(n_classes))


def altered_costs(counts: np.ndarray, priors: np.ndarray | None, loss: np.ndarray | None) -> Costs:
    """Class scales for priors and losses: the altered priors of Breiman et al. (1984, 4.4).

    The sums run in rpart's order (one over all products, one per class), because its ties hang on their last bit.
    """
    n = len(counts)
    loss = 1.0 - np.eye(n) if loss is None else np.asarray(loss, float)
    share = counts / counts.sum()
    priors = share if priors is None else np.asarray(priors, float)
    whole, altered = 0.0, np.zeros(n)
    for i in range(n):
        for j in range(n):
            whole += loss[i, j] * priors[i]
            altered[i] += loss[i, j] * priors[i]
    occurs = share > 0
    scale, risk_scale = np.zeros(n), np.zeros(n)
    scale[occurs] = altered[occurs] / (whole * share[occurs]) if whole > 0 else 1.0
    risk_scale[occurs] = priors[occurs] / share[occurs]
    return Costs(scale=scale, risk_scale=risk_scale, loss=loss)
