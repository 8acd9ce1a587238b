"""A model that took part in a comparison: its answers, what was learnt from all rows, and how much there is to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from baytree._typing import EstimatorLike
from baytree.comparison.recommendation import mean_loss
from baytree.model_selection.result import CrossValidation


class Size(NamedTuple):
    """How much there is to read in a model, and in which words to say it."""

    numbers: int
    words: str

    @classmethod
    def of(cls, estimator: EstimatorLike) -> Size:
        """Rules and their conditions, nodes, weights that are not 0, coefficients and hinges of terms, or all numbers."""
        if getattr(estimator, "rules_", ()):
            sets = estimator.rules_
            rules, asked = sum(map(len, sets)), sum(len(rule.asked) for each in sets for rule in each)
            return cls(rules + asked, _counted(rules, "rule", "rules"))
        if hasattr(estimator, "n_leaves_"):
            n, models = int(estimator.n_leaves_), getattr(estimator, "naive_bayes_", None)
            if models:  # of all that there is to read, a tree is the smaller part
                numbers = int(estimator.n_nodes_) + _numbers(estimator.model_.models)
                return cls(numbers, _counted(numbers, "number", "numbers"))
            return cls(int(getattr(estimator, "n_nodes_", 2 * n - 1)), _counted(n, "leaf", "leaves"))
        if hasattr(estimator, "coef_"):
            coefficients = np.atleast_2d(estimator.coef_)  # of numbers there is one row
            n = _weights(coefficients) + (1 if len(coefficients) <= 2 else len(coefficients))
            return cls(n, _counted(n, "weight", "weights"))
        if hasattr(estimator, "terms"):
            return _of_terms(estimator.terms())
        n = _numbers(getattr(estimator, "model_", None))
        return cls(n, _counted(n, "number", "numbers"))


@dataclass(frozen=True)
class Entry:
    """One line of the leaderboard: the model's answers in every fold, and the model learnt from all rows."""

    short: str
    name: str
    validation: CrossValidation
    fitted: Any
    size: Size


def ordered(entries: list[Entry], metric: str) -> tuple[Entry, ...]:
    """Entries from the best mean score down; equals by size, and at the end those without a score."""
    return tuple(sorted(entries, key=lambda each: (mean_loss(each.validation.losses(metric)), each.size.numbers, each.name)))


def _of_terms(terms: list[dict[str, Any]]) -> Size:
    coefficients = sum(len(term["coefficient"]) if isinstance(term["coefficient"], dict) else 1 for term in terms)
    hinges = sum(len(term["hinges"]) for term in terms)
    return Size(coefficients + hinges, _counted(len(terms), "term", "terms"))


def _counted(n: int, one: str, several: str) -> str:
    """How many of what: thousands where a column of the leaderboard has no room for all digits.

    >>> _counted(1, "leaf", "leaves"), _counted(9_876, "number", "numbers"), _counted(30_187, "number", "numbers")
    ('1 leaf', '9,876 numbers', '30k numbers')
    """
    return f"{n / 1000:,.0f}k {several}" if n >= 10_000 else f"{n:,} {one if n == 1 else several}"


def _weights(coefficients: np.ndarray) -> int:
    """The weights that are not 0; of two classes only the difference counts."""
    own = coefficients[1] - coefficients[0] if len(coefficients) == 2 else coefficients
    return int(np.count_nonzero(own))


def _numbers(record: Any) -> int:
    """How many numbers a record of arrays holds."""
    if isinstance(record, np.ndarray):
        return int(record.size)
    if isinstance(record, (tuple, list)):
        return sum(map(_numbers, record))
    if hasattr(record, "__struct_fields__"):
        return sum(_numbers(getattr(record, name)) for name in record.__struct_fields__)
    return int(isinstance(record, float))
