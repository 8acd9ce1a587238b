"""Class priors and misclassification costs: class weights in split search and risk.

`ClassWeighting` holds the request of the user, `ClassCosts` the scales derived for the classes of a table. Altered priors
follow Breiman et al. (1984, section 4.4), with the order of summation of rpart.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.param_validation import ClassAmounts


class ClassCosts(msgspec.Struct, frozen=True, kw_only=True):
    """Scale of each class in split search and in the risk, and the loss of each misclassification."""

    scale: np.ndarray  # [n_classes]
    risk_scale: np.ndarray  # [n_classes]
    loss: np.ndarray | None  # [n_classes (true), n_classes (predicted)]; None: every misclassification costs 1

    def least_risk(self, counts: np.ndarray) -> np.ndarray:
        """Risk of predicting the best single class, for class weights [..., n_classes]; returns [...]."""
        weighted = self.risk_scale * counts
        if self.loss is None and np.array_equal(weighted, np.floor(weighted)):  # exact in any order
            return weighted.sum(axis=-1) - weighted.max(axis=-1)
        return (weighted @ self.losses()).min(axis=-1)

    def best(self, probability: np.ndarray) -> np.ndarray:
        """Class of least expected loss, or the most probable class if costs are equal: [n, n_classes] to [n]."""
        return np.argmax(probability, axis=1) if self.loss is None else np.argmin(probability @ self.loss, axis=1)

    def losses(self) -> np.ndarray:
        """Loss matrix, [n_classes (true), n_classes (predicted)]."""
        return 1.0 - np.eye(len(self.scale)) if self.loss is None else self.loss


class ClassWeighting(msgspec.Struct, frozen=True):
    """Requested priors of the classes and costs of misclassifications."""

    priors: ClassAmounts | None = None
    costs: ClassAmounts | None = None

    @property
    def is_equal(self) -> bool:
        """Whether neither priors nor costs were requested."""
        return self.priors is None and self.costs is None

    def of(self, table: Table) -> ClassCosts:
        """Class scales for the rows of a table."""
        classes = table.schema.classes
        if not classes:
            return equal_costs(0)
        return self.of_counts(np.bincount(table.label, table.weight, len(classes)), classes)

    def of_counts(self, counts: np.ndarray, classes: tuple) -> ClassCosts:
        """Class scales for classes of these weights."""
        priors = None if self.priors is None else _normalized(self.priors.of(classes))
        loss = None if self.costs is None else self.costs.of(classes)
        return altered_costs(counts, priors, loss)


def _normalized(priors: np.ndarray) -> np.ndarray:
    """Priors divided by their sum. The sum runs sequentially, because ties between many classes depend on its last bit."""
    total = sum(priors.tolist())
    return priors / total if total > 0 else np.full(len(priors), 1 / len(priors))


EQUAL = ClassWeighting()


def equal_costs(n_classes: int) -> ClassCosts:
    """Equal class scales and unit costs."""
    return ClassCosts(scale=np.ones(n_classes), risk_scale=np.ones(n_classes), loss=None)


_BLOCK_CLASSES = 64  # classes whose losses are added per block


def altered_costs(counts: np.ndarray, priors: np.ndarray | None, loss: np.ndarray | None) -> ClassCosts:
    """Class scales for priors and losses: the altered priors of Breiman et al. (1984, 4.4).

    The sums run in rpart's order (one over all products, one per class), because its ties depend on their last bit.
    """
    n = len(counts)
    loss = None if loss is None else np.asarray(loss, float)
    proportion = counts / counts.sum()
    priors = proportion if priors is None else np.asarray(priors, float)
    total, altered = _unit_cost_products(priors) if loss is None else _loss_products(priors, loss)
    occurs = proportion > 0
    scale, risk_scale = np.zeros(n), np.zeros(n)
    scale[occurs] = altered[occurs] / (total * proportion[occurs]) if total > 0 else 1.0
    risk_scale[occurs] = priors[occurs] / proportion[occurs]
    return ClassCosts(scale=scale, risk_scale=risk_scale, loss=loss)


def _unit_cost_products(priors: np.ndarray) -> tuple[float, np.ndarray]:
    """Total and per-class [n_classes] sum of prior times loss with unit costs: each prior counts once per other class."""
    total, altered, others = 0.0, [], len(priors) - 1
    for prior in priors.tolist():
        total = _core.add_repeatedly(total, prior, others)
        altered.append(_core.add_repeatedly(0.0, prior, others))
    return total, np.array(altered)


def _loss_products(priors: np.ndarray, loss: np.ndarray) -> tuple[float, np.ndarray]:
    """Total and per-class [n_classes] sum of prior times loss, for losses [n_classes (true), n_classes (predicted)]."""
    total, altered = 0.0, np.zeros(len(priors))
    for begin in range(0, len(priors), _BLOCK_CLASSES):
        block = slice(begin, begin + _BLOCK_CLASSES)
        products = loss[block] * priors[block, None]
        total = float(np.cumsum(np.concatenate([[total], products.ravel()]))[-1])  # sequential, unlike numpy's pairwise sum
        altered[block] = np.cumsum(products, axis=1)[:, -1]
    return total, altered
