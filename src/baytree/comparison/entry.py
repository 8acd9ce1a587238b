"""Entries of a leaderboard: the cross-validation of a model, the model fitted to all rows, and its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from baytree.comparison.recommendation import mean_loss
from baytree.comparison.size import Size
from baytree.model_selection.result import CrossValidation


@dataclass(frozen=True)
class Entry:
    """One line of the leaderboard: the cross-validated predictions of a model, and the model fitted to all rows."""

    short: str
    name: str
    validation: CrossValidation
    fitted: Any
    size: Size


def ordered(entries: list[Entry], metric: str) -> tuple[Entry, ...]:
    """Return the entries sorted by mean loss, then size and name; entries without a score come last."""
    return tuple(sorted(entries, key=lambda each: (mean_loss(each.validation.losses(metric)), each.size.numbers, each.name)))
