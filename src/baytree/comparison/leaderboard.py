"""The result of a comparison: who is best, who is as good, and which of them has the least to read."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree._typing import EstimatorLike
from baytree.comparison import text as words
from baytree.comparison.entry import Entry
from baytree.comparison.recommendation import JudgingCriterion, ModelStanding, Recommendation, Scored, recommend
from baytree.display.results import TextResult, frame_of
from baytree.model_selection.result import CrossValidation
from baytree.model_selection.significance import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Comparison(TextResult):
    """Models on the same folds, best first. Prints as a leaderboard with its advice.

    Attributes
    ----------
    entries : tuple of Entry
        Each model that took part, the best first: its `short` name, `name`, `validation` (every answer of every fold),
        `fitted` (learnt from all rows) and `size`.
    judged : Criterion
        The score by which models are judged, and how much of what else advice may give up.
    bar : CrossValidation
        What always answering the same would score: the largest class, or the mean, of the training rows.
    skipped : tuple of (str, str)
        Names of the models that did not take part, and why.
    is_interrupted : bool
        Whether Ctrl-C ended the comparison before all models were tried.
    cautions : tuple of str
        What a reader must know before trusting the scores.
    metric : str
        What the models are judged by, such as "Brier score".
    target : str
        The name of the target.
    advice : Advice
        How every model stands beside the best, in the order of `entries`, and the places of the best and the advised one.
    best : estimator
        The model with the best mean score, learnt from all rows.
    recommended : estimator
        The model that is advised, learnt from all rows.
    recommendation : Entry
        Its entry.
    contenders : list of Entry
        The models that are as good as the best, the best among them.
    sentence, rule : str
        The recommendation, and by which rule it is given, in words.
    models : dict
        Every model, learnt from all rows, by its short name: `bt.save(found.models["cart"], "m.baytree")`.
    """

    entries: tuple[Entry, ...]
    judged: JudgingCriterion
    bar: CrossValidation
    skipped: tuple[tuple[str, str], ...] = ()
    is_interrupted: bool = False
    cautions: tuple[str, ...] = ()

    @property
    def metric(self) -> str:
        """What the models are judged by."""
        return self.judged.metric

    @property
    def target(self) -> str:
        """The name of the target."""
        return self.bar.label.target.name

    @property
    def best(self) -> Any:
        """The model with the best mean score, learnt from all rows."""
        return self.entries[0].fitted

    @property
    def recommended(self) -> Any:
        """The model that is advised, learnt from all rows."""
        return self.recommendation.fitted

    @property
    def models(self) -> dict[str, Any]:
        """Every model, learnt from all rows, by its short name."""
        return {entry.short: entry.fitted for entry in self.entries}

    @cached_property
    def advice(self) -> Recommendation:
        """How every model stands beside the best, and which is advised."""
        scored = [self._scored(entry.name, entry.validation, entry.size.numbers) for entry in self.entries]
        ratio = self.bar.ratio if self.bar.is_by_fold else 0.0  # rows share nothing but the model
        return recommend(scored, ratio, self.judged.limit, self._scored("", self.bar, 0))

    @property
    def contenders(self) -> list[Entry]:
        """The models that are as good as the best, the best among them."""
        return [entry for entry, standing in zip(self.entries, self.advice.standings, strict=True) if standing.is_as_good]

    @property
    def recommendation(self) -> Entry:
        """The entry of the model that is advised."""
        return self.entries[self.advice.chosen]

    def to_frame(self) -> Any:
        """A data frame, one row per model, the best first.

        `model` and `short` are its names; then the score that is judged with the ends of its 95 % interval, `low` and
        `high`; `worse`, by how much it is worse than the best one's, and `error`, one standard error of that; `p`,
        one-sided, that it is as good; `lost`, how much of what is bounded it gives up; `is_contender` and, where it is
        none, the `reason`; all other metrics; `seconds` of learning one fold; and `size`, how many numbers there are to
        read.
        """
        rows = self._rows()
        return frame_of({name: [row[name] for row in rows] for name in rows[0]})

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: each model's scores in each fold, what was left out, and the recommendation."""
        each = zip(self.entries, self._rows(), strict=True)
        return {
            "target": self.target,
            "metric": self.metric,
            "folds": self.bar.how,
            "rule": self.rule,
            "models": [{**row, "scores": _scores(entry), "parameters": _parameters(entry.fitted)} for entry, row in each],
            "always_the_same": {metric: self.bar.mean(metric) for metric in self.bar.metrics},
            "beats_always_the_same": self.advice.beats_the_bar,
            "cautions": list(self.cautions),
            "notes": [str(note) for note in getattr(getattr(self.recommended, "schema_", None), "notes", ())],
            "left_out": [{"model": name, "reason": reason} for name, reason in self.skipped],
            "is_interrupted": self.is_interrupted,
            "recommended": self.recommendation.short,
            "reason": self.sentence,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON; what is not defined is null."""
        return json.dumps(_plain(self.to_dict()), indent=1, ensure_ascii=False, allow_nan=False)

    def report(self, path: str | os.PathLike = "report.html") -> Path:
        """One self-contained HTML page: the leaderboard, and what opens below each model."""
        from baytree.reporting import report

        return report(self, path=path)

    def _repr_html_(self) -> str | None:
        from baytree.reporting import notebook_view  # only a notebook asks for it

        return notebook_view(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Each model's mean and interval; needs matplotlib."""
        from baytree.rendering.plots.charts import intervals

        mean, low, high = (np.array(part) for part in zip(*map(self.interval, self.entries), strict=True))
        names = [entry.name for entry in self.entries]
        return intervals(names, mean, low, high, f"{self.metric} for {self.target}", ax)

    @property
    def sentence(self) -> str:
        """The recommendation, in words."""
        return words.recommendation(self)

    @property
    def rule(self) -> str:
        """By which rule the advice is given, in words."""
        return words.rule(self)

    def __str__(self) -> str:
        return words.page(self)

    def interval(self, entry: Entry) -> Interval:
        """The score that a model is ranked by, and its 95 % interval."""
        return entry.validation.summary(self.metric)

    def _scored(self, name: str, validation: CrossValidation, size: int) -> Scored:
        return Scored(name, validation.losses(self.metric), validation.losses(self.judged.bounded), size)

    def _rows(self) -> list[dict[str, Any]]:
        return [self._row(*each) for each in zip(self.entries, self.advice.standings, strict=True)]

    def _row(self, entry: Entry, standing: ModelStanding) -> dict[str, Any]:
        mean, low, high = self.interval(entry)
        named = {"model": entry.name, "short": entry.short, self.metric: mean, "low": low, "high": high}
        also = {metric: entry.validation.mean(metric) for metric in entry.validation.metrics if metric != self.metric}
        size = {"seconds": entry.validation.seconds, "size": entry.size.numbers}
        return {**named, **standing._asdict(), "is_contender": standing.is_as_good, **also, **size}


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
