"""Result of a comparison: the ranked models, the recommendation, and exports to text, dict, JSON, frame, plot and HTML."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree._typing import EstimatorLike
from baytree._warnings import renamed
from baytree.auditing.result import Audit
from baytree.comparison import text as words
from baytree.comparison.entry import Entry
from baytree.comparison.recommendation import JudgingCriterion, ModelStanding, Recommendation, Scored, recommend
from baytree.display.results import TextResult, frame_of
from baytree.model_selection.result import CrossValidation
from baytree.model_selection.significance import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from baytree.estimators.prediction import Classifier, Regressor


@dataclass(frozen=True, repr=False)
class Comparison(TextResult):
    """Models on the same folds, best first. Prints as a leaderboard with its advice.

    Attributes
    ----------
    entries : tuple of Entry
        One entry per model, best first: its `short` name, `name`, `validation` (all out-of-fold predictions), `fitted`
        (fitted to all rows) and `size`.
    criterion : JudgingCriterion
        Score by which models are ranked, and how much of a second metric a simpler model may lose.
    baseline : CrossValidation
        Cross-validation of the baseline: the majority class or the mean of the training rows.
    skipped : tuple of (str, str)
        Name and reason of each model that was left out.
    is_interrupted : bool
        Whether Ctrl-C ended the comparison before all models were tried.
    warnings : tuple of str
        Warnings about the scores.
    audit : Audit or None
        What may mislead on this table: see `baytree.audit`.
    metric : str
        Name of the score that ranks the models, such as "Brier score".
    target : str
        Name of the target.
    advice : Recommendation
        Comparison of each model with the best, in the order of `entries`, and the indices of the best and recommended model.
    best : estimator
        Model with the best mean score, fitted to all rows.
    recommended : estimator
        Recommended model, fitted to all rows.
    recommendation : Entry
        Entry of the recommended model.
    contenders : list of Entry
        Entries of the models that are as good as the best, including the best.
    sentence, rule : str
        The recommendation, and the rule behind it, as text.
    models : dict
        All models, fitted to all rows, by short name: `bt.save(found.models["cart"], "m.baytree")`.
    """

    entries: tuple[Entry, ...]
    criterion: JudgingCriterion
    baseline: CrossValidation
    skipped: tuple[tuple[str, str], ...] = ()
    is_interrupted: bool = False
    warnings: tuple[str, ...] = ()
    audit: Audit | None = None

    @property
    def metric(self) -> str:
        """Name of the score that ranks the models."""
        return self.criterion.metric

    @property
    def target(self) -> str:
        """Name of the target."""
        return self.baseline.label.target.name

    @property
    def best(self) -> Classifier | Regressor:
        """Model with the best mean score, fitted to all rows."""
        return self.entries[0].fitted

    @property
    def recommended(self) -> Classifier | Regressor:
        """Recommended model, fitted to all rows."""
        return self.recommendation.fitted

    @property
    def models(self) -> dict[str, Classifier | Regressor]:
        """All models, fitted to all rows, by short name."""
        return {entry.short: entry.fitted for entry in self.entries}

    @cached_property
    def advice(self) -> Recommendation:
        """Comparison of each model with the best, and the recommendation."""
        scored = [self._scored(entry.name, entry.validation, entry.size.numbers) for entry in self.entries]
        # without fold scores, single rows are paired, which share no training rows to correct for
        ratio = self.baseline.ratio if self.baseline.is_by_fold else 0.0
        return recommend(scored, ratio, self.criterion.limit, self._scored("", self.baseline, 0))

    @property
    def contenders(self) -> list[Entry]:
        """Entries of the models that are as good as the best, including the best."""
        return [entry for entry, standing in zip(self.entries, self.advice.standings, strict=True) if standing.is_as_good]

    @property
    def recommendation(self) -> Entry:
        """Entry of the recommended model."""
        return self.entries[self.advice.chosen]

    def to_frame(self) -> Any:
        """Return a data frame with one row per model, best first.

        `model` and `short` are its names; then the score that ranks models with its 95 % interval, `low` and `high`;
        `worse`, the
        difference from the best score, and `error`, its standard error; `p`, the one-sided p-value of being as good;
        `lost`, the
        loss in the bounded metric; `is_contender` and, if False, the `reason`; all other metrics; `seconds` per fold; and
        `size`,
        the number of numbers in the model.
        """
        rows = self._rows()
        return frame_of({name: [row[name] for row in rows] for name in rows[0]})

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values: scores of each model and fold, models left out, and the recommendation."""
        each = zip(self.entries, self._rows(), strict=True)
        return {
            "target": self.target,
            "metric": self.metric,
            "folds": self.baseline.how,
            "rule": self.rule,
            "models": [{**row, "scores": _scores(entry), "parameters": _parameters(entry.fitted)} for entry, row in each],
            "always_the_same": {metric: self.baseline.overall(metric) for metric in self.baseline.metrics},
            "beats_always_the_same": self.advice.beats_the_bar,
            "cautions": list(self.warnings),
            "audit": None if self.audit is None else self.audit.to_dict(),
            "notes": [str(note) for note in getattr(getattr(self.recommended, "schema_", None), "notes", ())],
            "left_out": [{"model": name, "reason": reason} for name, reason in self.skipped],
            "is_interrupted": self.is_interrupted,
            "recommended": self.recommendation.short,
            "reason": self.sentence,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON; undefined numbers become null."""
        return json.dumps(_plain(self.to_dict()), indent=1, ensure_ascii=False, allow_nan=False)

    def report(self, path: str | os.PathLike = "report.html") -> Path:
        """Write one self-contained HTML page: the leaderboard, with details of each model."""
        from baytree.reporting import report

        return report(self, path=path)

    def _repr_html_(self) -> str | None:
        from baytree.reporting import notebook_view  # needed only in notebooks

        return notebook_view(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the mean and interval of each model; requires matplotlib."""
        from baytree.rendering.plots.charts import intervals

        mean, low, high = (np.array(part) for part in zip(*map(self.interval, self.entries), strict=True))
        names = [entry.name for entry in self.entries]
        return intervals(names, mean, low, high, f"{self.metric} for {self.target}", ax)

    @property
    def sentence(self) -> str:
        """The recommendation, as text."""
        return words.recommendation(self)

    @property
    def rule(self) -> str:
        """The rule behind the recommendation, as text."""
        return words.rule(self)

    def __str__(self) -> str:
        return words.page(self)

    def interval(self, entry: Entry) -> Interval:
        """Return the mean score of a model and its 95 % interval."""
        return entry.validation.summary(self.metric)

    def _scored(self, name: str, validation: CrossValidation, size: int) -> Scored:
        return Scored(name, validation.losses(self.metric), validation.losses(self.criterion.bounded), size)

    def _rows(self) -> list[dict[str, Any]]:
        return [self._row(*each) for each in zip(self.entries, self.advice.standings, strict=True)]

    def _row(self, entry: Entry, standing: ModelStanding) -> dict[str, Any]:
        mean, low, high = self.interval(entry)
        named = {"model": entry.name, "short": entry.short, self.metric: mean, "low": low, "high": high}
        also = {metric: entry.validation.overall(metric) for metric in entry.validation.metrics if metric != self.metric}
        size = {"seconds": entry.validation.seconds, "size": entry.size.numbers}
        return {**named, **standing._asdict(), "is_contender": standing.is_as_good, **also, **size}

    judged = renamed("judged", "criterion")
    bar = renamed("bar", "baseline")
    cautions = renamed("cautions", "warnings")


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
