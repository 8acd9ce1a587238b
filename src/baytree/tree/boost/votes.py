"""Votes: who wins, what they come to, and the ledger that tells them one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.model import Evidence, Explanation
from baytree.show.names import quoted
from baytree.table.table import Table


def votes_for(choice: np.ndarray, confidence: np.ndarray, n_classes: int) -> np.ndarray:
    """float64 [n_rows, n_classes]: each row's confidence in its class."""
    votes = np.zeros((len(choice), n_classes))
    votes[np.arange(len(choice)), choice] = confidence
    return votes


def leading(votes: np.ndarray, first: int) -> np.ndarray:
    """int64 [n_rows]: the class with most votes; `first` unless another has more."""
    return np.where(votes.max(axis=1) > votes[:, first], np.argmax(votes, axis=1), first)


def shares_of(votes: np.ndarray) -> np.ndarray:
    """float64 [n_rows, n_classes]: the votes as shares of their sum."""
    total = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, total, out=np.full(votes.shape, 1.0 / votes.shape[1]), where=total > 0)


Lines = list[tuple[str, list[str], np.ndarray]]  # of each voter: its name, what it says of each row, its votes


def named_trials(table: Table, trials: Sequence[tuple[np.ndarray, np.ndarray]]) -> Lines:
    """The trials by number, with the class that each of them votes for."""
    classes = [quoted(label) for label in table.schema.classes]
    return [(f"trial {k}", [classes[code] for code in choice], votes) for k, (votes, choice) in enumerate(trials, 1)]


def vote_ledgers(table: Table, lines: Lines, probability: np.ndarray) -> list[Explanation]:
    """One ledger per row: who voted, for what, and how much; who did not vote is not named."""
    classes, start = tuple(table.schema.classes), np.zeros(probability.shape[1])
    return [
        Explanation(classes, start, tuple(_cast(lines, row)), probability[row], "votes") for row in range(len(probability))
    ]


def _cast(lines: Lines, row: int) -> list[Evidence]:
    return [Evidence(name, says[row], votes[row]) for name, says, votes in lines if votes[row].any()]
