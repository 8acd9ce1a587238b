"""Size of a model: what a person has to read, the one definition that leaderboard, recommendation and page use.

It counts conditions and the levels named in them, nonzero weights, and the coefficients and hinges of terms. Of models that
are equally good the smallest is recommended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from baytree._typing import EstimatorLike


class Size(NamedTuple):
    """Number of things that a reader of a model has to look at, and its description."""

    numbers: int
    words: str

    @classmethod
    def of(cls, estimator: EstimatorLike) -> Size:
        """Count rules and conditions, nodes, nonzero weights, coefficients and hinges of terms, or all numbers.

        A condition on levels counts one more for each level that it names after the first: a tree of two leaves that splits
        1,618 names has 1,619 things to read. The description names the levels if they are most of it.
        """
        if getattr(estimator, "rules_", ()):
            rule_sets = estimator.rules_
            rules, conditions = sum(map(len, rule_sets)), sum(len(rule.asked) for each in rule_sets for rule in each)
            asked = [each.levels for rules_of in rule_sets for rule in rules_of for each in rule.asked]
            return _with_levels(rules + conditions, asked, _counted(rules, "rule", "rules"))
        if hasattr(estimator, "n_leaves_"):
            n, models = int(estimator.n_leaves_), getattr(estimator, "naive_bayes_", None)
            if models:  # the naive Bayes models in the leaves are larger than the tree
                numbers = int(estimator.n_nodes_) + _numbers(estimator.model_.models)
                return cls(numbers, _counted(numbers, "number", "numbers"))
            n_nodes = int(getattr(estimator, "n_nodes_", 2 * n - 1))
            return _with_levels(n_nodes, _groups(estimator), _counted(n, "leaf", "leaves"))
        if hasattr(estimator, "coef_"):
            coefficients = np.atleast_2d(estimator.coef_)  # one row for regression
            n = _weights(coefficients) + (1 if len(coefficients) <= 2 else len(coefficients))
            return cls(n, _counted(n, "weight", "weights"))
        if hasattr(estimator, "curves_"):
            n = estimator.model_.size
            return cls(n, _counted(n, "piece", "pieces"))
        if hasattr(estimator, "terms"):
            return _of_terms(estimator.terms())
        n = _numbers(getattr(estimator, "model_", None))
        return cls(n, _counted(n, "number", "numbers"))


def _of_terms(terms: list[dict[str, Any]]) -> Size:
    coefficients = sum(len(term["coefficient"]) if isinstance(term["coefficient"], dict) else 1 for term in terms)
    hinges = sum(len(term["hinges"]) for term in terms)
    return Size(coefficients + hinges, _counted(len(terms), "term", "terms"))


def _groups(estimator: EstimatorLike) -> list[Sequence[object]]:
    """Return the levels that each branch of a tree names."""
    nodes = estimator.nodes() if hasattr(estimator, "nodes") else ()
    return [group for node in nodes for group in node.get("groups") or ()]


def _with_levels(n: int, named: Iterable[Sequence[object] | None], words: str) -> Size:
    """Return the size of n conditions and of the levels that they name."""
    counts = [len(levels) for levels in named if levels]
    more = sum(counts) - len(counts)
    return Size(n + more, _counted(sum(counts), "level", "levels") if more > n else words)


def _counted(n: int, one: str, several: str) -> str:
    """Return a count with its noun, in thousands from 10,000 on, because the column of the leaderboard is narrow.

    >>> _counted(1, "leaf", "leaves"), _counted(9_876, "number", "numbers"), _counted(30_187, "number", "numbers")
    ('1 leaf', '9,876 numbers', '30k numbers')
    """
    return f"{n / 1000:,.0f}k {several}" if n >= 10_000 else f"{n:,} {one if n == 1 else several}"


def _weights(coefficients: np.ndarray) -> int:
    """Return the number of nonzero weights; for two classes, of their differences."""
    own = coefficients[1] - coefficients[0] if len(coefficients) == 2 else coefficients
    return int(np.count_nonzero(own))


def _numbers(record: Any) -> int:
    """Return the number of numbers in a nested record of arrays."""
    if isinstance(record, np.ndarray):
        return int(record.size)
    if isinstance(record, (tuple, list)):
        return sum(map(_numbers, record))
    if hasattr(record, "__struct_fields__"):
        return sum(_numbers(getattr(record, name)) for name in record.__struct_fields__)
    return int(isinstance(record, float))
