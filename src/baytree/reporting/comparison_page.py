"""The page of a comparison: the leaderboard with its intervals and folds, and what opens below each model.

What the page of a comparison asks of it: the least that a result of `bt.compare` has to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np

from baytree.data.encoding.labels import Labels
from baytree.display.terminal import escaped, number
from baytree.exporters import program
from baytree.rendering.page.comparison_views import LeaderboardView, ModelView
from baytree.rendering.page.html_page import Page, Section
from baytree.reporting.columns import table_view
from baytree.reporting.model_page import model_sections
from baytree.reporting.rejection import RejectionCurveLike
from baytree.reporting.subject import FittedEstimator, ReportSubject, predictor_of

MOST_POINTS = 120  # of a ROC curve

MOST_PROSE = 6000  # letters of a model

MOST_CURVES = 8


def comparison_page(comparison: ComparisonLike) -> Page:
    """Everything about a comparison; `comparison` is what `bt.compare` gives."""
    low, high = _ends(comparison)
    each = zip(comparison.entries, comparison.advice.standings, strict=True)
    models = tuple(_model_view(comparison, *one, (low, high)) for one in each)
    notes = [*comparison.cautions, *(f"{name} did not take part: {reason}" for name, reason in comparison.skipped)]
    board = LeaderboardView(
        metric=comparison.metric,
        head=f"{len(models)} models for {comparison.target}: {comparison.bar.how}. Lines: 95 % intervals, marks: folds.",
        advice=comparison.sentence,
        rule=comparison.rule[0].upper() + comparison.rule[1:],
        notes=tuple(notes),
        beside=tuple(_beside(comparison)),
        ends=(f"{low:.3g}", f"{high:.3g}"),
        models=models,
    )
    title = f"Models for {comparison.target}"
    return Page(title, f"Which model suits {comparison.target}, and why.", (board,))


def compared_pages(comparison: ComparisonLike) -> Iterator[Page]:
    """The comparison, the table, and below each model its drawing, what-if and questions; then the same of fewer models.

    The models that rank first stay whole longest; the last page has none, so whoever has a limit finds one that keeps it.
    """
    page = comparison_page(comparison)
    subjects = [ReportSubject.of(predictor_of(entry.fitted), None) for entry in comparison.entries]
    tables = tuple(table_view(each.predictor.schema, each.profile) for each in subjects if each.profile is not None)[:1]
    kept_back = [_curve_of(entry) for entry in comparison.entries]
    wholes = [model_sections(*each) for each in zip(subjects, kept_back, strict=True)]
    opened = [(*one, str(program(each.predictor, "javascript"))) for one, each in zip(wholes, subjects, strict=True)]
    for n in range(len(opened), -1, -1):
        board = msgspec.structs.replace(page.sections[0], **_first_opened(page.sections[0], opened[:n]))
        payloads, programs = (tuple(each[k] for each in opened[:n]) for k in (1, 2))
        yield msgspec.structs.replace(page, sections=(board, *tables), payloads=payloads, programs=programs)


def _curve_of(entry: EntryLike) -> RejectionCurveLike | None:
    """Accuracy against the share answered, by the answers for rows that were kept back; None without probabilities."""
    return entry.validation.reject_curve() if entry.validation.pooled[2] is not None else None


def _first_opened(board: Any, opened: list[tuple[list[Section], dict[str, Any], str]]) -> dict[str, Any]:
    """The models of a board, the first ones with all their sections, and a note where that is not true of all."""
    pairs = enumerate(zip(board.models, opened, strict=False))
    first = [msgspec.structs.replace(model, sections=tuple(own[0]), place=k) for k, (model, own) in pairs]
    rest = board.models[len(first) :]
    told = f"Opens as text, or this page would be too large: {', '.join(model.name for model in rest)}; see model.report()."
    return {"models": (*first, *rest), "notes": (*board.notes, *([told] if rest else []))}


def _beside(comparison: ComparisonLike) -> list[str]:
    wanted = ("accuracy", "AUC") if comparison.bar.is_classification else ("RMSE", "R²")
    return [metric for metric in wanted if metric != comparison.metric]


def _ends(comparison: ComparisonLike) -> tuple[float, float]:
    """The range of all intervals and folds."""
    metric = comparison.metric
    values = [each for entry in comparison.entries for each in (*entry.validation.summary(metric), *_folds(metric, entry))]
    finite = [value for value in values if np.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    room = 0.03 * (high - low) or 0.5
    return (low - room if low < 0 else max(low - room, 0.0)), high + room


def _folds(metric: str, entry: EntryLike) -> list[float]:
    validation = entry.validation
    return [float(each) for each in validation.scores(metric)] if validation.is_by_fold else []


def _model_view(
    comparison: ComparisonLike, entry: EntryLike, standing: StandingLike, ends: tuple[float, float]
) -> ModelView:
    mean, low, high = entry.validation.summary(comparison.metric)
    validation, is_classes = entry.validation, comparison.bar.is_classification
    chosen = entry is comparison.recommendation
    probability = validation.pooled[2]
    calibration, bins = _calibration(validation) if is_classes and probability is not None else ("", ())
    return ModelView(
        name=entry.name,
        short=entry.short,
        score=float(mean),
        text=f"{mean:.4f}" if abs(mean) < 1000 else f"{mean:.6g}",
        low=_place(low, ends),
        high=_place(high, ends),
        dot=_place(mean, ends),
        folds=tuple(_place(each, ends) for each in _folds(comparison.metric, entry) if np.isfinite(each)),
        beside=tuple(f"{validation.mean(metric):.3f}" for metric in _beside(comparison)),
        size=entry.size.words,
        seconds=f"{_duration(validation.seconds)} to learn",
        is_as_good=bool(standing.is_as_good),
        is_chosen=chosen,
        reason=_reason(comparison, standing, chosen),
        classes=tuple(validation.classes) if is_classes else (),
        confusion=tuple(map(tuple, validation.confusion.tolist())) if is_classes else (),
        roc=tuple(_roc(validation, probability)) if is_classes and probability is not None else (),
        calibration=calibration,
        bins=bins,
        words=_words(entry),
    )


def _place(value: float, ends: tuple[float, float]) -> float:
    """Where a score stands between the ends of the axis, from 0 to 100."""
    return float(100 * (np.clip(value, *ends) - ends[0]) / (ends[1] - ends[0])) if np.isfinite(value) else 0.0


def _duration(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _reason(comparison: ComparisonLike, standing: StandingLike, is_chosen: bool) -> str:
    if is_chosen:
        return "This is the model that is advised."
    by = f"{comparison.metric} is {standing.worse:.4f} ± {standing.error:.4f} worse than the best one's."
    return f"As good as the best: {by}" if standing.is_as_good else f"Not as good as the best ({standing.reason}): {by}"


def _words(entry: EntryLike) -> str:
    text = escaped(str(entry.fitted), keep="\n")
    return text if len(text) <= MOST_PROSE else f"{text[:MOST_PROSE]}\n… ({number(float(len(text)))} letters in all)"


def _roc(validation: ValidationLike, probability: np.ndarray) -> list[tuple[str, str, str]]:
    """The curve of each class against the rest; of two classes only the second."""
    truth, n = validation.label.values[validation.pooled[0]], probability.shape[1]
    codes = [1] if n == 2 else range(min(n, MOST_CURVES))
    return [(validation.classes[c], *_curve(truth == c, probability[:, c])) for c in codes]


def _curve(is_positive: np.ndarray, score: np.ndarray) -> tuple[str, str]:
    order = np.argsort(-score, kind="stable")
    hit, last = is_positive[order], np.append(np.diff(score[order]) != 0, True)
    right, wrong = np.cumsum(hit)[last], np.cumsum(~hit)[last]
    if not right[-1] or not wrong[-1]:
        return "", ""
    x, y = np.append(0, wrong / wrong[-1]), np.append(0, right / right[-1])
    area = float(((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum())
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int))
    return "M" + "L".join(f"{200 * a:.1f} {200 - 200 * b:.1f}" for a, b in zip(x[kept], y[kept], strict=True)), f"{area:.3f}"


def _calibration(validation: ValidationLike) -> tuple[str, tuple[tuple[float, float, float], ...]]:
    found = validation.calibration()
    largest = float(found["rows"].max())
    bins = [
        (200 * float(said), 200 - 200 * float(was), 2 + 6 * float(np.sqrt(n / largest)))
        for said, was, n in zip(found["predicted"], found["observed"], found["rows"], strict=True)
    ]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in bins), tuple(bins)


class ValidationLike(Protocol):
    """What a model answered for rows that were kept back."""

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
    def summary(self, metric: str, /) -> tuple[float, float, float]: ...
    def calibration(self) -> dict[str, np.ndarray]: ...
    def reject_curve(self) -> RejectionCurveLike: ...


class SizeText(Protocol):
    """How much there is to read, in words."""

    @property
    def words(self) -> str: ...


class EntryLike(Protocol):
    """A model that took part."""

    @property
    def short(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def validation(self) -> ValidationLike: ...
    @property
    def fitted(self) -> FittedEstimator: ...
    @property
    def size(self) -> SizeText: ...


class StandingLike(Protocol):
    """A model beside the best one."""

    @property
    def worse(self) -> float: ...
    @property
    def error(self) -> float: ...
    @property
    def reason(self) -> str: ...
    @property
    def is_as_good(self) -> bool: ...


class RecommendationLike(Protocol):
    """Where each model stands."""

    @property
    def standings(self) -> Sequence[StandingLike]: ...


class ComparisonLike(Protocol):
    """Models on the same folds of a table."""

    @property
    def metric(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def entries(self) -> Sequence[EntryLike]: ...
    @property
    def bar(self) -> ValidationLike: ...
    @property
    def advice(self) -> RecommendationLike: ...
    @property
    def recommendation(self) -> EntryLike: ...
    @property
    def sentence(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def cautions(self) -> Sequence[str]: ...
    @property
    def skipped(self) -> Sequence[tuple[str, str]]: ...
