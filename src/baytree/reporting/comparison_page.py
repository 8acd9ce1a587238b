"""Page of a comparison: the leaderboard with intervals and folds, details of each model, and the comparison's interface.

The protocols at the end list what the page reads from the result of `bt.compare`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np

from baytree.base.predictor import FittedEstimator
from baytree.data.encoding.labels import Labels
from baytree.display.terminal import escaped, number
from baytree.exporters import program
from baytree.rendering.page.comparison_views import LeaderboardView, ModelView
from baytree.rendering.page.html_page import Page, Section
from baytree.reporting.audit_page import ReportedAudit, findings_view
from baytree.reporting.columns import table_view
from baytree.reporting.model_page import model_sections
from baytree.reporting.rejection import RejectionCurveLike
from baytree.reporting.subject import ReportSubject, predictor_of

MAX_ROC_POINTS = 120  # points of a drawn ROC curve; more cannot be told apart at its size

MAX_MODEL_TEXT_CHARACTERS = 6000  # of the text of each model: several models share a page

MAX_ROC_CURVES = 8  # classes with a curve: as many as there are colours


def comparison_page(comparison: ComparisonLike) -> Page:
    """Leaderboard page of a comparison, the result of `bt.compare`."""
    low, high = _axis_range(comparison)
    each = zip(comparison.entries, comparison.advice.standings, strict=True)
    models = tuple(_model_view(comparison, *one, (low, high)) for one in each)
    notes = [*comparison.warnings, *(f"{name} was skipped: {reason}" for name, reason in comparison.skipped)]
    board = LeaderboardView(
        metric=comparison.metric,
        head=f"{len(models)} models for {comparison.target}: {comparison.baseline.how}. "
        "Lines: 95 % intervals, marks: folds.",
        advice=comparison.sentence,
        rule=comparison.rule[0].upper() + comparison.rule[1:],
        notes=tuple(notes),
        beside=tuple(_other_metrics(comparison)),
        ends=(f"{low:.3g}", f"{high:.3g}"),
        models=models,
    )
    title = f"Models for {comparison.target}"
    audited = () if comparison.audit is None or not comparison.audit.findings else (findings_view(comparison.audit),)
    return Page(title, f"Comparison of models for {comparison.target}.", (board, *audited))


def compared_pages(comparison: ComparisonLike) -> Iterator[Page]:
    """Pages of a comparison with the sections of all models, then of one model less each time.

    The best models keep their sections longest, and the last page has none, so a caller with a size limit takes the first
    page that meets it.
    """
    page = comparison_page(comparison)
    subjects = [ReportSubject.of(predictor_of(entry.fitted), None) for entry in comparison.entries]
    tables = tuple(table_view(each.predictor.schema, each.profile) for each in subjects if each.profile is not None)[:1]
    curves = [_curve_of(entry) for entry in comparison.entries]
    sections = [model_sections(*each) for each in zip(subjects, curves, strict=True)]
    opened = [(*own, str(program(each.predictor, "javascript"))) for own, each in zip(sections, subjects, strict=True)]
    for n in range(len(opened), -1, -1):
        first, *audited = page.sections
        board = msgspec.structs.replace(first, **_first_opened(first, opened[:n]))
        payloads, programs = (tuple(each[k] for each in opened[:n]) for k in (1, 2))
        yield msgspec.structs.replace(page, sections=(board, *audited, *tables), payloads=payloads, programs=programs)


def _curve_of(entry: EntryLike) -> RejectionCurveLike | None:
    """Rejection curve on held-out rows; None without probabilities."""
    return entry.validation.reject_curve() if entry.validation.pooled[2] is not None else None


def _first_opened(board: Any, opened: list[tuple[list[Section], dict[str, Any], str]]) -> dict[str, Any]:
    """Models of a leaderboard, the first ones with their sections, and a note if others have none."""
    pairs = enumerate(zip(board.models, opened, strict=False))
    first = [msgspec.structs.replace(model, sections=tuple(model_parts[0]), place=k) for k, (model, model_parts) in pairs]
    rest = board.models[len(first) :]
    note = f"Shown as text to limit the size of this page: {', '.join(model.name for model in rest)}; see model.report()."
    return {"models": (*first, *rest), "notes": (*board.notes, *([note] if rest else []))}


def _other_metrics(comparison: ComparisonLike) -> list[str]:
    metrics = ("accuracy", "AUC") if comparison.baseline.is_classification else ("RMSE", "R²")
    return [metric for metric in metrics if metric != comparison.metric]


def _axis_range(comparison: ComparisonLike) -> tuple[float, float]:
    """Range of all intervals and folds, with a margin."""
    metric = comparison.metric
    values = [each for entry in comparison.entries for each in (*entry.validation.summary(metric), *_folds(metric, entry))]
    finite = [value for value in values if np.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    margin = 0.03 * (high - low) or 0.5
    return (low - margin if low < 0 else max(low - margin, 0.0)), high + margin


def _folds(metric: str, entry: EntryLike) -> list[float]:
    validation = entry.validation
    return [float(each) for each in validation.scores(metric)] if validation.is_by_fold else []


def _model_view(
    comparison: ComparisonLike, entry: EntryLike, standing: StandingLike, axis_range: tuple[float, float]
) -> ModelView:
    mean, low, high = entry.validation.summary(comparison.metric)
    validation, is_classes = entry.validation, comparison.baseline.is_classification
    is_recommended = entry is comparison.recommendation
    probability = validation.pooled[2]
    calibration, bins = _calibration(validation) if is_classes and probability is not None else ("", ())
    return ModelView(
        name=entry.name,
        short=entry.short,
        score=float(mean),
        text=f"{mean:.4f}" if abs(mean) < 1000 else f"{mean:.6g}",
        low=_axis_position(low, axis_range),
        high=_axis_position(high, axis_range),
        dot=_axis_position(mean, axis_range),
        folds=tuple(_axis_position(each, axis_range) for each in _folds(comparison.metric, entry) if np.isfinite(each)),
        beside=tuple(f"{validation.overall(metric):.3f}" for metric in _other_metrics(comparison)),
        size=entry.size.words,
        seconds=f"{_duration(validation.seconds)} to fit",
        is_as_good=bool(standing.is_as_good),
        is_chosen=is_recommended,
        reason=_reason(comparison, standing, is_recommended),
        classes=tuple(validation.classes) if is_classes else (),
        confusion=tuple(map(tuple, validation.confusion.tolist())) if is_classes else (),
        roc=tuple(_roc(validation, probability)) if is_classes and probability is not None else (),
        calibration=calibration,
        bins=bins,
        words=_words(entry),
    )


def _axis_position(value: float, axis_range: tuple[float, float]) -> float:
    """Position of a score between the ends of the axis, from 0 to 100."""
    return (
        float(100 * (np.clip(value, *axis_range) - axis_range[0]) / (axis_range[1] - axis_range[0]))
        if np.isfinite(value)
        else 0.0
    )


def _duration(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _reason(comparison: ComparisonLike, standing: StandingLike, is_chosen: bool) -> str:
    if is_chosen:
        return "This is the recommended model."
    by = f"{comparison.metric} is {standing.worse:.4f} ± {standing.error:.4f} worse than that of the best model."
    return f"As good as the best: {by}" if standing.is_as_good else f"Not as good as the best ({standing.reason}): {by}"


def _words(entry: EntryLike) -> str:
    text = escaped(str(entry.fitted), keep="\n")
    return (
        text
        if len(text) <= MAX_MODEL_TEXT_CHARACTERS
        else f"{text[:MAX_MODEL_TEXT_CHARACTERS]}\n… ({number(float(len(text)))} characters in total)"
    )


def _roc(validation: ReportedValidation, probability: np.ndarray) -> list[tuple[str, str, str]]:
    """ROC curve of each class against the rest; for two classes only of the second."""
    truth, n = validation.label.values[validation.pooled[0]], probability.shape[1]
    codes = [1] if n == 2 else range(min(n, MAX_ROC_CURVES))
    return [(validation.classes[c], *_curve(truth == c, probability[:, c])) for c in codes]


def _curve(is_positive: np.ndarray, score: np.ndarray) -> tuple[str, str]:
    order = np.argsort(-score, kind="stable")
    is_hit, last = is_positive[order], np.append(np.diff(score[order]) != 0, True)
    true_positives, false_positives = np.cumsum(is_hit)[last], np.cumsum(~is_hit)[last]
    if not true_positives[-1] or not false_positives[-1]:
        return "", ""
    x, y = np.append(0, false_positives / false_positives[-1]), np.append(0, true_positives / true_positives[-1])
    area = float(((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum())
    shown = np.unique(np.linspace(0, len(x) - 1, min(len(x), MAX_ROC_POINTS)).astype(int))
    return "M" + "L".join(
        f"{200 * a:.1f} {200 - 200 * b:.1f}" for a, b in zip(x[shown], y[shown], strict=True)
    ), f"{area:.3f}"


def _calibration(validation: ReportedValidation) -> tuple[str, tuple[tuple[float, float, float], ...]]:
    curve = validation.calibration()
    largest = float(curve["rows"].max())
    bins = [
        (200 * float(predicted), 200 - 200 * float(observed), 2 + 6 * float(np.sqrt(n / largest)))
        for predicted, observed, n in zip(curve["predicted"], curve["observed"], curve["rows"], strict=True)
    ]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in bins), tuple(bins)


class ReportedValidation(Protocol):
    """Predictions of a model for held-out rows, and their scores."""

    @property
    def how(self) -> str: ...
    @property
    def label(self) -> Labels: ...
    @property
    def is_classification(self) -> bool: ...
    @property
    def is_by_fold(self) -> bool: ...
    @property
    def seconds(self) -> float: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def confusion(self) -> np.ndarray: ...
    @property
    def pooled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]: ...
    def scores(self, metric: str, /) -> np.ndarray: ...
    def mean(self, metric: str, /) -> float: ...
    def overall(self, metric: str, /) -> float: ...
    def summary(self, metric: str, /) -> tuple[float, float, float]: ...
    def calibration(self) -> dict[str, np.ndarray]: ...
    def reject_curve(self) -> RejectionCurveLike: ...


class SizeText(Protocol):
    """Size of a model as text."""

    @property
    def words(self) -> str: ...


class EntryLike(Protocol):
    """Model of a comparison."""

    @property
    def short(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def validation(self) -> ReportedValidation: ...
    @property
    def fitted(self) -> FittedEstimator: ...
    @property
    def size(self) -> SizeText: ...


class StandingLike(Protocol):
    """Position of a model relative to the best one."""

    @property
    def worse(self) -> float: ...
    @property
    def error(self) -> float: ...
    @property
    def reason(self) -> str: ...
    @property
    def is_as_good(self) -> bool: ...


class RecommendationLike(Protocol):
    """Position of each model."""

    @property
    def standings(self) -> Sequence[StandingLike]: ...


class ComparisonLike(Protocol):
    """Models evaluated on the same folds of a table."""

    @property
    def metric(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def entries(self) -> Sequence[EntryLike]: ...
    @property
    def baseline(self) -> ReportedValidation: ...
    @property
    def advice(self) -> RecommendationLike: ...
    @property
    def recommendation(self) -> EntryLike: ...
    @property
    def sentence(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def warnings(self) -> Sequence[str]: ...
    @property
    def skipped(self) -> Sequence[tuple[str, str]]: ...
    @property
    def audit(self) -> ReportedAudit | None: ...
