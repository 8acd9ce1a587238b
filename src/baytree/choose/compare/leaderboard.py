"""The result of a comparison: who is best, who is not significantly worse, and which of them is the simplest."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from baytree.choose.metrics import LOSSES
from baytree.choose.validate.validation import CrossValidation
from baytree.show.results import Shown, frame_of
from baytree.show.terminal import aligned, escaped

SIGNIFICANCE = 0.05
BASELINE = "majority class"


class Size(NamedTuple):
    """How much there is to read in a model, and in which words to say it."""

    numbers: int
    words: str

    @classmethod
    def of(cls, estimator: Any) -> Size:
        """The nodes of a tree, the weights of a linear model that are not 0, or all numbers of any other model."""
        if hasattr(estimator, "n_leaves_"):
            n = int(estimator.n_leaves_)
            return cls(int(getattr(estimator, "n_nodes_", 2 * n - 1)), f"{n:,} {'leaf' if n == 1 else 'leaves'}")
        if hasattr(estimator, "coef_"):
            n = _weights(estimator.coef_) + (1 if len(estimator.coef_) <= 2 else len(estimator.coef_))
            return cls(n, f"{n:,} {'weight' if n == 1 else 'weights'}")
        n = _numbers(getattr(estimator, "model_", None))
        return cls(n, f"{n:,} numbers")


@dataclass(frozen=True)
class Entry:
    """One line of the leaderboard: the model's answers in every fold, and the model learnt from all rows."""

    short: str
    name: str
    validation: CrossValidation
    fitted: Any
    size: Size


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

    def plot(self, ax: Any = None) -> Any:
        """Each model's mean and interval; needs matplotlib."""
        from baytree.show.charts import intervals

        mean, low, high = (np.array(part) for part in zip(*(self._interval(entry) for entry in self.entries), strict=True))
        names = [entry.name for entry in self.entries]
        return intervals(names, mean, low, high, f"{self.metric} for {self.target}", ax)

    @property
    def sentence(self) -> str:
        """The recommendation, in words."""
        chosen, first = self.recommendation, self.entries[0]
        score, top = (self._interval(entry).mean for entry in (chosen, first))
        head = f"Recommended: {chosen.name} ({chosen.size.words}), with {self.metric} {_score(score)}."
        if len(self.entries) == 1:
            return f"{head} It is the only model that was tried."
        if chosen is first:
            return f"{head} {self._of_the_best(first)} {self._of_the_simpler(chosen)}"
        p = self.p_values[self.entries.index(chosen)]
        return (
            f"{head} The best, {first.name} ({first.size.words}), has {_score(top)}; the difference may be chance "
            f"(p = {p:.2g}), and of all models of which that can be said this one has the least to read. Where the "
            f"score matters more than reading, take {first.name}."
        )

    def _of_the_best(self, first: Entry) -> str:
        scores = {self._interval(entry).mean for entry in self.entries}
        return "It is the best." if len(scores) > 1 else "All models score the same."

    def _of_the_simpler(self, chosen: Entry) -> str:
        """What can be said about the models with less to read than the best one."""
        if all(entry.size.numbers >= chosen.size.numbers for entry in self.entries):
            return "No other model has less to read."
        if any(np.isnan(self.p_values)):
            return "These folds cannot tell whether the others are worse by chance."
        return "Every model with less to read is significantly worse."

    def __str__(self) -> str:
        also = [metric.replace(" ", "") for metric in self._second_metric]
        header = ["", "model", self.metric, "low", "high", *also, "sec", "size"]
        head = f"{len(self.entries)} models for {escaped(self.target)}: {self.entries[0].validation.how}"
        table = aligned(header, [self._line(entry) for entry in self.entries])
        return "\n\n".join([head, table, "\n".join(self._notes()), _wrapped(self.sentence)])

    def _line(self, entry: Entry) -> list[str]:
        also = [_score(entry.validation.mean(metric)) for metric in self._second_metric]
        mark = "*" if entry in self.contenders else ""
        scores = [_score(value, self._digits) for value in self._interval(entry)]
        return [mark, entry.name[:20], *scores, *also, f"{entry.validation.seconds:.2f}", entry.size.words]

    @cached_property
    def _digits(self) -> int:
        """The same for all scores, so that their points stand below each other."""
        return _digits(max(abs(value) for entry in self.entries for value in self._interval(entry) if np.isfinite(value)))

    @property
    def _second_metric(self) -> list[str]:
        first = self.entries[0].validation
        if not first.is_classification:
            return ["R²"]
        return ["AUC"] if first.is_by_fold else ["log loss"]  # over folds of single rows an AUC is no AUC

    def _notes(self) -> list[str]:
        by_fold = self.entries[0].validation.is_by_fold
        test = "corrected resampled t" if by_fold else "McNemar's test"
        notes = [
            f"* not significantly worse than the best: one-sided {test}",
            f"  on the same folds, p > {SIGNIFICANCE}, each model against the best",
            f"low, high: 95 % interval of the {'mean' if by_fold else 'score'}; sec: seconds of learning in one fold",
        ]
        notes += [_wrapped(f"note: {caution}") for caution in self.cautions]
        notes += [_wrapped(line) for line in self._left_out()]
        return notes + (["stopped before all models were tried"] if self.is_interrupted else [])

    def _left_out(self) -> list[str]:
        """Who did not take part, those of one reason together."""
        names: dict[str, list[str]] = {}
        for name, reason in self.skipped:
            names.setdefault(reason, []).append(name)
        lines = [f"left out: {', '.join(those)} ({reason})" for reason, those in names.items()]
        return lines + ([self._largest_class] if any(name == BASELINE for name, _ in self.skipped) else [])

    @property
    def _largest_class(self) -> str:
        label = self.entries[0].validation.label
        counts = np.bincount(label.values)
        largest = (label.target.classes or ())[int(counts.argmax())]
        return f"always answering {largest} would be right for {counts.max() / counts.sum():.4f} of the rows"

    def _interval(self, entry: Entry) -> Any:
        return entry.validation.summary(self.metric)

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for entry, p in zip(self.entries, self.p_values, strict=True):
            mean, low, high = self._interval(entry)
            also = {metric: entry.validation.mean(metric) for metric in entry.validation.metrics[1:]}
            rows.append(
                {
                    "model": entry.name,
                    "short": entry.short,
                    self.metric: mean,
                    "low": low,
                    "high": high,
                    "p": p,
                    "is_contender": entry in self.contenders,
                    **also,
                    "seconds": entry.validation.seconds,
                    "size": entry.size.numbers,
                }
            )
        return rows


def ordered(entries: list[Entry]) -> tuple[Entry, ...]:
    """Entries from the best mean score down; equals by size."""
    metric = entries[0].validation.metrics[0]
    sign = 1 if metric in LOSSES else -1
    return tuple(sorted(entries, key=lambda entry: (sign * entry.validation.mean(metric), entry.size.numbers)))


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


def _scores(entry: Entry) -> dict[str, list[float]]:
    return {metric: entry.validation.scores(metric).tolist() for metric in entry.validation.metrics}


def _parameters(estimator: Any) -> dict[str, Any]:
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


def _digits(largest: float) -> int:
    """How many digits after the point leave about four that count."""
    return 4 if largest < 10 else 3 if largest < 100 else 2 if largest < 1e4 else 0


def _score(value: float, digits: int | None = None) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:,.{_digits(abs(value)) if digits is None else digits}f}" if abs(value) < 1e9 else f"{value:.4g}"


def _wrapped(text: str, width: int = 80) -> str:
    from textwrap import fill

    return fill(escaped(text), width)
