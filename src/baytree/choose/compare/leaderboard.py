"""The result of a comparison: who is best, who is not significantly worse, and which of them is the simplest."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.choose.compare import in_words as words
from baytree.choose.compare.entry import Entry
from baytree.choose.validate.significance import SIGNIFICANCE, Interval
from baytree.given import EstimatorLike
from baytree.show.results import Shown, frame_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Models on the same folds, best first. Prints as a leaderboard, converts with `to_frame`, draws with `plot`."""

    entries: tuple[Entry, ...]
    skipped: tuple[tuple[str, str], ...] = ()  # names and reasons
    is_interrupted: bool = False
    cautions: tuple[str, ...] = ()  # what a reader must know before trusting the scores

    @property
    def metric(self) -> str:
        """What the models are ranked by: accuracy, or RMSE for numbers."""
        return self.entries[0].validation.metrics[0]

    @property
    def target(self) -> str:
        """The name of the target."""
        return self.entries[0].validation.label.target.name

    @property
    def best(self) -> Any:
        """The model with the best mean score, learnt from all rows."""
        return self.entries[0].fitted

    @property
    def recommended(self) -> Any:
        """The simplest model that is not significantly worse than the best, learnt from all rows."""
        return self.recommendation.fitted

    @cached_property
    def p_values(self) -> tuple[float, ...]:
        """For each model the one-sided p-value that it is as good as the best one, on the same folds.

        By the corrected resampled t, or McNemar's test where folds have no score of their own. Each is a test on its own:
        a correction for their number would only let more models count as good as the best.
        """
        first = self.entries[0].validation
        tests = [first.against(entry.validation) for entry in self.entries]
        return tuple((test.corrected_t if first.is_by_fold else test.mcnemar) / 2 for test in tests)

    @property
    def contenders(self) -> list[Entry]:
        """The models that are not significantly worse than the best, the best among them."""
        pairs = list(zip(self.entries, self.p_values, strict=True))
        return [entry for place, (entry, p) in enumerate(pairs) if place == 0 or p > SIGNIFICANCE]

    @property
    def recommendation(self) -> Entry:
        """The contender with the least to read; the better of equals."""
        return min(self.contenders, key=lambda entry: entry.size.numbers)

    def to_frame(self) -> Any:
        """A data frame, one row per model."""
        rows = self._rows()
        return frame_of({name: [row[name] for row in rows] for name in rows[0]})

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: each model's scores in each fold, what was left out, and the recommendation."""
        each = zip(self.entries, self._rows(), strict=True)
        return {
            "target": self.target,
            "metric": self.metric,
            "folds": self.entries[0].validation.how,
            "models": [{**row, "scores": _scores(entry), "parameters": _parameters(entry.fitted)} for entry, row in each],
            "cautions": list(self.cautions),
            "test": "corrected resampled t" if self.entries[0].validation.is_by_fold else "McNemar",
            "left_out": [{"model": name, "reason": reason} for name, reason in self.skipped],
            "is_interrupted": self.is_interrupted,
            "recommended": self.recommendation.short,
            "reason": self.sentence,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON; what is not defined is null."""
        return json.dumps(_plain(self.to_dict()), indent=1, ensure_ascii=False, allow_nan=False)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Each model's mean and interval; needs matplotlib."""
        from baytree.show.pictures.charts import intervals

        mean, low, high = (np.array(part) for part in zip(*map(self.interval, self.entries), strict=True))
        names = [entry.name for entry in self.entries]
        return intervals(names, mean, low, high, f"{self.metric} for {self.target}", ax)

    @property
    def sentence(self) -> str:
        """The recommendation, in words."""
        return words.recommendation(self)

    def __str__(self) -> str:
        return words.page(self)

    def interval(self, entry: Entry) -> Interval:
        """The score that a model is ranked by, and its 95 % interval."""
        return entry.validation.summary(self.metric)

    def _rows(self) -> list[dict[str, Any]]:
        return [self._row(entry, p) for entry, p in zip(self.entries, self.p_values, strict=True)]

    def _row(self, entry: Entry, p: float) -> dict[str, Any]:
        mean, low, high = self.interval(entry)
        named = {"model": entry.name, "short": entry.short, self.metric: mean, "low": low, "high": high}
        also = {metric: entry.validation.mean(metric) for metric in entry.validation.metrics[1:]}
        size = {"seconds": entry.validation.seconds, "size": entry.size.numbers}
        return {**named, "p": p, "is_contender": entry in self.contenders, **also, **size}


def _scores(entry: Entry) -> dict[str, list[float]]:
    return {metric: entry.validation.scores(metric).tolist() for metric in entry.validation.metrics}


def _parameters(estimator: EstimatorLike) -> dict[str, Any]:
    return {name: value for name, value in estimator.get_params(deep=False).items() if name != "schema"}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)
