"""A comparison in words: the leaderboard, what a reader must know of it, and the recommendation."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from baytree.choose.compare.entry import Entry
from baytree.choose.models import BASELINE
from baytree.choose.validate.significance import SIGNIFICANCE
from baytree.show.terminal import aligned, escaped

if TYPE_CHECKING:
    from baytree.choose.compare.leaderboard import Comparison


def page(compared: Comparison) -> str:
    """The leaderboard, its notes and the recommendation."""
    first = compared.entries[0].validation
    also = [metric.replace(" ", "") for metric in _second_metric(compared)]
    header = ["", "model", compared.metric, "low", "high", *also, "sec", "size"]
    head = f"{len(compared.entries)} models for {escaped(compared.target)}: {first.how}"
    table = aligned(header, [_line(compared, entry) for entry in compared.entries])
    return "\n\n".join([head, table, "\n".join(_notes(compared)), _wrapped(recommendation(compared))])


def recommendation(compared: Comparison) -> str:
    """The recommendation, and why."""
    chosen, first = compared.recommendation, compared.entries[0]
    score, top = (compared.interval(entry).mean for entry in (chosen, first))
    head = f"Recommended: {chosen.name} ({chosen.size.words}), with {compared.metric} {_score(score)}."
    if len(compared.entries) == 1:
        return f"{head} It is the only model that was tried."
    if chosen is first:
        return f"{head} {_of_the_best(compared)} {_of_the_simpler(compared, chosen)}"
    p = compared.p_values[compared.entries.index(chosen)]
    return (
        f"{head} The best, {first.name} ({first.size.words}), has {_score(top)}; the difference may be chance "
        f"(p = {p:.2g}), and of all models of which that can be said this one has the least to read. Where the "
        f"score matters more than reading, take {first.name}."
    )


def _of_the_best(compared: Comparison) -> str:
    scores = {compared.interval(entry).mean for entry in compared.entries}
    return "It is the best." if len(scores) > 1 else "All models score the same."


def _of_the_simpler(compared: Comparison, chosen: Entry) -> str:
    """What can be said about the models with less to read than the best one."""
    if all(entry.size.numbers >= chosen.size.numbers for entry in compared.entries):
        return "No other model has less to read."
    if any(np.isnan(compared.p_values)):
        return "These folds cannot tell whether the others are worse by chance."
    return "Every model with less to read is significantly worse."


def _line(compared: Comparison, entry: Entry) -> list[str]:
    also = [_score(entry.validation.mean(metric)) for metric in _second_metric(compared)]
    mark = "*" if entry in compared.contenders else ""
    scores = [_score(value, _common_digits(compared)) for value in compared.interval(entry)]
    return [mark, entry.name[:20], *scores, *also, f"{entry.validation.seconds:.2f}", entry.size.words]


def _second_metric(compared: Comparison) -> list[str]:
    first = compared.entries[0].validation
    if not first.is_classification:
        return ["R²"]
    return ["AUC"] if first.is_by_fold else ["log loss"]  # over folds of single rows an AUC is no AUC


def _notes(compared: Comparison) -> list[str]:
    by_fold = compared.entries[0].validation.is_by_fold
    test = "corrected resampled t" if by_fold else "McNemar's test"
    notes = [
        f"* not significantly worse than the best: one-sided {test}",
        f"  on the same folds, p > {SIGNIFICANCE}, each model against the best",
        f"low, high: 95 % interval of the {'mean' if by_fold else 'score'}; sec: seconds of learning in one fold",
    ]
    notes += [_wrapped(f"note: {caution}") for caution in compared.cautions]
    notes += [_wrapped(line) for line in _left_out(compared)]
    return notes + (["stopped before all models were tried"] if compared.is_interrupted else [])


def _left_out(compared: Comparison) -> list[str]:
    """Who did not take part, those of one reason together."""
    names: dict[str, list[str]] = {}
    for name, reason in compared.skipped:
        names.setdefault(reason, []).append(name)
    lines = [f"left out: {', '.join(those)} ({reason})" for reason, those in names.items()]
    return lines + ([_largest_class(compared)] if any(name == BASELINE for name, _ in compared.skipped) else [])


def _largest_class(compared: Comparison) -> str:
    validation = compared.entries[0].validation
    counts = np.bincount(validation.label.values, validation.weight)
    largest = validation.classes[int(counts.argmax())]
    return f"always answering {largest} would be right for {counts.max() / counts.sum():.4f} of the rows"


def _common_digits(compared: Comparison) -> int:
    """The same for all scores, so that their points stand below each other."""
    scores = (value for entry in compared.entries for value in compared.interval(entry))
    return _digits(max(abs(value) for value in scores if np.isfinite(value)))


def _digits(largest: float) -> int:
    """How many digits after the point leave about four that count."""
    return 4 if largest < 10 else 3 if largest < 100 else 2 if largest < 1e4 else 0


def _score(value: float, digits: int | None = None) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:,.{_digits(abs(value)) if digits is None else digits}f}" if abs(value) < 1e9 else f"{value:.4g}"


def _wrapped(text: str, width: int = 80) -> str:
    return fill(escaped(text), width)
