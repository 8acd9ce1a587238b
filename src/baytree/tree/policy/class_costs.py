"""What classes weigh: priors and costs of mistakes as scales that the search and the risk use."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.param_validation import ClassAmounts


class ClassCosts(msgspec.Struct, frozen=True, kw_only=True):
    """The scale of each class in the search and in the risk, and the loss of each mistake."""

    scale: np.ndarray  # [n_classes]
    risk_scale: np.ndarray  # [n_classes]
    loss: np.ndarray | None  # [n_classes (true), n_classes (predicted)]; None: every mistake costs 1

    def least_risk(self, counts: np.ndarray) -> np.ndarray:
        """What is lost by the best single answer to rows of these class weights: [..., n_classes] to [...]."""
        lost = self.risk_scale * counts
        if self.loss is None and np.array_equal(lost, np.floor(lost)):  # whole numbers: the same sums in any order
            return lost.sum(axis=-1) - lost.max(axis=-1)
        return (lost @ self.losses()).min(axis=-1)

    def best(self, probability: np.ndarray) -> np.ndarray:
        """The class of least expected loss, the likeliest where all mistakes cost the same: [n, n_classes] to [n]."""
        return np.argmax(probability, axis=1) if self.loss is None else np.argmin(probability @ self.loss, axis=1)

    def losses(self) -> np.ndarray:
        """The loss of each mistake: [n_classes (true), n_classes (predicted)]."""
        return 1.0 - np.eye(len(self.scale)) if self.loss is None else self.loss


class ClassWeighting(msgspec.Struct, frozen=True):
    """What classes weigh, as it was asked for: their probabilities, and the cost of each mistake."""

    priors: ClassAmounts | None = None
    costs: ClassAmounts | None = None

    @property
    def is_equal(self) -> bool:
        """Nothing was asked for."""
        return self.priors is None and self.costs is None

    def of(self, table: Table) -> ClassCosts:
        """The scales of the classes of a table."""
        classes = table.schema.classes
        if not classes:
            return equal_costs(0)
        return self.of_counts(np.bincount(table.label, table.weight, len(classes)), classes)

    def of_counts(self, counts: np.ndarray, classes: tuple) -> ClassCosts:
        """The scales of classes of these weights."""
        priors = None if self.priors is None else _shares(self.priors.of(classes))
        loss = None if self.costs is None else self.costs.of(classes)
        return altered_costs(counts, priors, loss)


def _shares(priors: np.ndarray) -> np.ndarray:
    """Priors over their sum, taken one after the other: the ties of many classes hang on its last bit."""
    total = sum(priors.tolist())
    return priors / total if total > 0 else np.full(len(priors), 1 / len(priors))


EQUAL = ClassWeighting()


def equal_costs(n_classes: int) -> ClassCosts:
    """No class weighs more than another, and every mistake costs 1."""
    return ClassCosts(scale=np.ones(n_classes), risk_scale=np.ones(n_classes), loss=None)


_BLOCK = 64  # classes whose losses are added up at a time


def altered_costs(counts: np.ndarray, priors: np.ndarray | None, loss: np.ndarray | None) -> ClassCosts:
    """Class scales for priors and losses: the altered priors of Breiman et al. (1984, 4.4).

    The sums run in rpart's order (one over all products, one per class), because its ties hang on their last bit.
    """
    n = len(counts)
    loss = None if loss is None else np.asarray(loss, float)
    share = counts / counts.sum()
    priors = share if priors is None else np.asarray(priors, float)
    whole, altered = _added_up(priors) if loss is None else _lost(priors, loss)
    occurs = share > 0
    scale, risk_scale = np.zeros(n), np.zeros(n)
    scale[occurs] = altered[occurs] / (whole * share[occurs]) if whole > 0 else 1.0
    risk_scale[occurs] = priors[occurs] / share[occurs]
    return ClassCosts(scale=scale, risk_scale=risk_scale, loss=loss)


def _added_up(priors: np.ndarray) -> tuple[float, np.ndarray]:
    """The products of all and of each class [n_classes] where every mistake costs 1: a prior once for each other class."""
    whole, altered, others = 0.0, [], len(priors) - 1
    for prior in priors.tolist():
        whole = _core.add_repeatedly(whole, prior, others)
        altered.append(_core.add_repeatedly(0.0, prior, others))
    return whole, np.array(altered)


def _lost(priors: np.ndarray, loss: np.ndarray) -> tuple[float, np.ndarray]:
    """The same of any losses [n_classes (true), n_classes (predicted)]."""
    whole, altered = 0.0, np.zeros(len(priors))
    for begin in range(0, len(priors), _BLOCK):
        some = slice(begin, begin + _BLOCK)
        lost = loss[some] * priors[some, None]
        whole = float(np.cumsum(np.concatenate([[whole], lost.ravel()]))[-1])  # one after the other, as no sum of numpy is
        altered[some] = np.cumsum(lost, axis=1)[:, -1]
    return whole, altered
