"""Decisions by expected cost: which class to predict, given class probabilities and the costs of misclassifications.

The expected cost of predicting class j is Σᵢ P(i) · cost[i, j]; the class of least expected cost is predicted, the first one
on ties. With equal costs that is the most probable class. `CostMatrix` is what a fitted model stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np

from baytree.param_validation import ClassAmounts

if TYPE_CHECKING:
    from baytree.formula import Formula

_MAX_NAMED_COSTS = 6  # pairs of classes, those of three classes


class CostMatrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Costs of the misclassifications of a model's classes, and who decides by them."""

    amounts: np.ndarray  # float64 [n_classes (true), n_classes (predicted)], 0 on the diagonal
    by_model: bool  # the model's own predictions minimize them: learning used them, or they are equal

    @classmethod
    def of(cls, costs: ClassAmounts | None, classes: Sequence[Any], is_learnt: bool = False) -> Self | None:
        """Matrix in the order of these classes; None without costs."""
        if costs is None:
            return None
        amounts = costs.of(classes)
        return cls(amounts, is_learnt or is_equal(amounts))

    def predict_codes(self, probability: np.ndarray) -> np.ndarray:
        """Class of least expected cost of each row, for probabilities [n_rows, n_classes]: int64 [n_rows]."""
        return min_expected_cost_class(probability, self.amounts)

    def choose_in(self, formula: Formula) -> Formula:
        """Formula of the same predictions that chooses as `predict_codes` does, by the same operations in the same order."""
        from baytree.formula.expressions import Constant, FirstHighest, Named, Pick, Product, Sum, Total
        from baytree.formula.transforms import resolve, with_step

        values = resolve(formula, formula.answers)
        if isinstance(values, Pick):  # leaves of a tree: each has its class
            codes = self.predict_codes(np.array(values.table)).tolist()
            return msgspec.structs.replace(formula, choice=Pick(values.of, tuple((float(code),) for code in codes)))
        if not isinstance(formula.answers, Named):
            formula, predictions = with_step(formula, formula.answers)
            formula = msgspec.structs.replace(formula, answers=predictions)
        terms = []
        for unit, gain in zip(np.eye(len(self.amounts)), 0.0 - self.amounts, strict=True):  # 0 − c: no negative zeros
            proportion = Total(Product((Constant(tuple(unit.tolist())), formula.answers)))
            formula, probability = with_step(formula, proportion)  # a step of its own: every element of the sum reads it
            terms.append(Product((probability, Constant(tuple(gain.tolist())))))
        formula, expected_gain = with_step(formula, Sum(tuple(terms)))
        return msgspec.structs.replace(formula, choice=FirstHighest(expected_gain))

    def describe(self, classes: Sequence[Any]) -> str:
        """Costs in words, those of the dearest mistakes first.

        >>> CostMatrix(np.array([[0.0, 1.0], [5.0, 0.0]]), False).describe(("no", "yes"))
        'yes taken for no costs 5, no taken for yes 1'
        """
        order = np.argsort(-self.amounts, axis=None, kind="stable").tolist()
        pairs = [
            divmod(position, len(classes)) for position in order if position % (len(classes) + 1)
        ]  # without the diagonal
        named = [f"{classes[i]} taken for {classes[j]}" for i, j in pairs[:_MAX_NAMED_COSTS]]
        verbs = [" costs" if k == 0 else "" for k in range(len(named))]
        costs = [f"{name}{verb} {self.amounts[pair]:g}" for name, verb, pair in zip(named, verbs, pairs, strict=False)]
        more = [f"and {len(pairs) - len(named):,} more"] if len(pairs) > len(named) else []
        return ", ".join([*costs, *more])

    def check(self, n_classes: int) -> None:
        """Raise ValueError if the matrix, read from a file, does not fit the number of classes."""
        amounts = self.amounts
        if amounts.dtype != np.float64 or amounts.shape != (n_classes, n_classes):
            raise ValueError("the cost matrix does not fit the classes")
        if not np.isfinite(amounts).all() or (amounts < 0).any() or np.diag(amounts).any():
            raise ValueError("the cost matrix has an impossible cost")


def is_equal(amounts: np.ndarray) -> bool:
    """Whether all misclassifications cost the same."""
    return bool(np.array_equal(amounts, amounts.max(initial=0.0) * (1 - np.eye(len(amounts)))))


def expected_costs(probability: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Expected cost of predicting each class, for each row. float64 [n_rows, n_classes]

    Sums class by class: a matrix product would depend on the number of rows in its last bits, and so would ties.
    """
    expected = np.zeros(probability.shape)
    for truth, row in enumerate(amounts):
        expected += probability[:, truth, None] * row
    return expected


def min_expected_cost_class(probability: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Class of minimum expected cost of each row, the first one on ties: int64 [n_rows].

    >>> cost = np.array([[0.0, 1.0], [5.0, 0.0]])  # the second class is five times as costly to miss
    >>> min_expected_cost_class(np.array([[0.7, 0.3], [0.9, 0.1]]), cost).tolist()
    [1, 0]
    """
    return expected_costs(probability, amounts).argmin(axis=1)
