"""Between two trials of boosting: rows that were wrong weigh more, and rows whose class is settled are dropped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_FEW = np.float32(0.001)  # the least that a row which was right weighs
_MANY_ROWS = 4001  # of more rows, the lightest are left out of growing
_SINGLE = np.float32


def abandoned(n_found: int, n_wanted: int) -> bool:
    """Whether so few trials are left that the first answers alone."""
    return n_wanted > 1 and n_found <= 2


class Outcome(NamedTuple):
    """What the rows weigh in the next trial, and which of them it grows from."""

    is_last: bool  # there is no next trial
    is_discarded: bool = False  # the trial itself does not count
    weight: np.ndarray = np.zeros(0, _SINGLE)  # float32 [n_rows]
    grows: np.ndarray = np.zeros(0, bool)  # bool [n_rows]


class Standing:
    """The votes of the trials so far."""

    def __init__(self, label: np.ndarray, n_classes: int, n_trials: int, stops_early: bool) -> None:
        self.label, self.n_trials, self.stops_early = label, n_trials, stops_early
        self.votes = np.zeros((len(label), n_classes), _SINGLE)
        self.leader = np.zeros(len(label), np.int64)
        self.is_dropped = np.zeros(len(label), bool)
        self.lightest = 1.0  # what a row weighs by now that was right from the beginning
        self.n_done = 0

    def after(self, answers: tuple[np.ndarray, np.ndarray], weight: np.ndarray, is_mute: bool) -> Outcome:
        """What follows from a trial; `is_mute`: it says the same of every row."""
        choice, confidence = answers
        self.n_done += 1
        self._count(choice, confidence)
        if 2 * self.n_done > self.n_trials:
            self._drop()
        weight = np.where(self.is_dropped, _SINGLE(0), weight)
        counts = weight > 0
        wrong = counts & (choice != self.label)
        right = counts & ~wrong
        w_wrong, w_right = float(weight[wrong].sum(dtype=float)), float(weight[right].sum(dtype=float))
        if self.stops_early and w_wrong < 0.1:
            return Outcome(True)
        if self.stops_early and (w_wrong / max(counts.sum(), 1) >= 0.49 or (is_mute and self.n_done > 1)):
            return Outcome(True, True)
        return self._reweighed(weight, wrong, right, w_wrong, w_right)

    def _count(self, choice: np.ndarray, confidence: np.ndarray) -> None:
        rows = np.flatnonzero(~self.is_dropped)
        self.votes[rows, choice[rows]] += confidence[rows].astype(_SINGLE)
        leads = self.votes[rows, choice[rows]] > self.votes[rows, self.leader[rows]]
        self.leader[rows[leads]] = choice[rows[leads]]

    def _drop(self) -> None:
        """Rows that the trials to come cannot win back are dropped for good."""
        rows = np.arange(len(self.label))
        left = _SINGLE(self.n_trials - self.n_done)
        self.is_dropped |= self.votes[rows, self.leader] > self.votes[rows, self.label] + left

    def _reweighed(
        self, weight: np.ndarray, wrong: np.ndarray, right: np.ndarray, w_wrong: float, w_right: float
    ) -> Outcome:
        """Half-way to equal weight of right and wrong rows, the same amount for each wrong row."""
        shift, scale = (w_right - w_wrong) / 4, (wrong.sum() + right.sum()) / max(w_right + w_wrong, 1e-30)
        after = weight.copy()
        after[wrong] = (scale * (weight[wrong] + shift / max(wrong.sum(), 1))).astype(_SINGLE)
        falls = scale * (w_right - shift) / max(w_right, 1e-30)
        after[right] = np.maximum((weight[right] * falls).astype(_SINGLE), _FEW)
        self.lightest *= falls
        grows = after > 0
        if len(weight) > _MANY_ROWS and self.lightest <= 0.2:
            grows &= after > self.lightest + 0.001
        return Outcome(False, False, after, grows)
