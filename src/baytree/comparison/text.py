"""A comparison in words: the leaderboard, what a reader must know of it, and the recommendation."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from baytree.comparison.entry import Entry
from baytree.comparison.recommendation import ROUNDING
from baytree.display.terminal import aligned, escaped

if TYPE_CHECKING:
    from baytree.comparison.leaderboard import Comparison

WIDTH = 80  # of a terminal

_HEADINGS = {"Brier score": "Brier", "squared error": "sq. error", "expected cost": "cost"}  # of narrow columns


def page(compared: Comparison) -> str:
    """The leaderboard, its notes and the recommendation."""
    header, *lines = leaderboard(compared)
    table = aligned(header, lines)
    return "\n\n".join([escaped(title(compared)), table, "\n".join(notes(compared)), _wrapped(recommendation(compared))])


def title(compared: Comparison) -> str:
    """How many models, for what, and how the rows were dealt."""
    n = len(compared.entries)
    return f"{n} model{'s' * (n != 1)} for {compared.target}: {compared.bar.how}"


def leaderboard(compared: Comparison) -> list[list[str]]:
    """The header, and a line for each model, the best first."""
    header = ["", "model", _HEADINGS.get(compared.metric, compared.metric), "worse", "±", *_beside(compared), "size"]
    return [header, *([*_line(compared, place)] for place in range(len(compared.entries)))]


def rule(compared: Comparison) -> str:
    """By which rule the advice is given, in a sentence."""
    units = "folds" if compared.bar.is_by_fold else "rows"
    return (
        f"as good as the best: {compared.metric} within one standard error (±) on the same {units}, and "
        f"{compared.judged.in_words}; the one of these with the least to read is recommended"
    )


def recommendation(compared: Comparison) -> str:
    """The recommendation, and why."""
    chosen, first = compared.recommendation, compared.entries[0]
    head = f"Recommended: {chosen.name} ({chosen.size.words}), with {_in_scores(compared, chosen)}."
    if not compared.advice.beats_the_bar:
        return f"{head} {_of_the_bar(compared)}"
    if len(compared.entries) == 1:
        return f"{head} It is the only model that was tried."
    if chosen is first:
        return f"{head} {_of_the_best(compared)} {_of_the_simpler(compared)}"
    return (
        f"{head} The best, {first.name} ({first.size.words}), has {_in_scores(compared, first)}: a difference within one "
        f"standard error, for more to read. Where the score matters more than reading, take {first.name}."
    )


def _in_scores(compared: Comparison, entry: Entry) -> str:
    named = list(dict.fromkeys([compared.metric, *_beside(compared)[:1]]))
    return " and ".join(f"{metric} {_score(entry.validation.mean(metric))}" for metric in named)


def _of_the_bar(compared: Comparison) -> str:
    """What is to be said where no model is surely better than not looking at any column."""
    gain = compared.advice.gain
    if gain is None or not gain.mean > ROUNDING:
        return f"No model here beats always answering {_always(compared)}."
    by = f"the best one gains {_score(gain.mean)} ± {_score(gain.error)}"
    return f"No model here surely beats always answering {_always(compared)}: {by}."


def _always(compared: Comparison) -> str:
    label, weight = compared.bar.label, compared.bar.weight
    if not compared.bar.is_classification:
        return f"the mean, {_score(float(np.average(label.values, weights=weight)))}"
    shares = np.bincount(label.values, weight, len(compared.bar.classes))
    given = compared.judged.costs if compared.metric == "expected cost" else None
    costs = 1 - np.eye(len(shares)) if given is None else given
    return compared.bar.classes[int((shares @ costs).argmin())]


def _of_the_best(compared: Comparison) -> str:
    scores = {compared.interval(entry).mean for entry in compared.entries}
    return "It is the best." if len(scores) > 1 else "All models score the same."


def _of_the_simpler(compared: Comparison) -> str:
    """What can be said about the models with less to read than the best one."""
    if all(entry.size.numbers >= compared.entries[0].size.numbers for entry in compared.entries):
        return "No other model has less to read."
    return "No model with less to read is as good."


def _line(compared: Comparison, place: int) -> list[str]:
    entry, standing = compared.entries[place], compared.advice.standings[place]
    digits = _common_digits(compared)
    beside = [_score(entry.validation.mean(metric)) for metric in _beside(compared)]
    worse = [_score(standing.worse, digits), _score(standing.error, digits)]
    mark = "*" if standing.is_as_good else ""
    return [mark, entry.name[:20], _score(entry.validation.mean(compared.metric), digits), *worse, *beside, entry.size.words]


def _beside(compared: Comparison) -> list[str]:
    """The metrics that are shown beside the one that is judged."""
    if not compared.bar.is_classification:
        shown = ["RMSE", "R²"]
    else:
        shown = ["accuracy", "AUC" if compared.bar.is_by_fold else "log loss"]  # over single rows an AUC is no AUC
    return [metric for metric in shown if metric != compared.metric]


def notes(compared: Comparison) -> list[str]:
    notes = [
        fill(f"* {rule(compared)}", WIDTH, subsequent_indent="  "),
        f"worse ±: behind the best, and one standard error of that{' (Nadeau and Bengio)' * compared.bar.is_by_fold}",
        _wrapped(f"always answering {_always(compared)}: {_bar_in_scores(compared)}"),
    ]
    if compared.metric == "expected cost":
        notes.append("cost: of the class of least expected cost; accuracy: of the likeliest class")
    notes += [_wrapped(f"note: {caution}") for caution in compared.cautions]
    notes += [_wrapped(line) for line in _left_out(compared)]
    return notes + (["stopped before all models were tried"] if compared.is_interrupted else [])


def _bar_in_scores(compared: Comparison) -> str:
    beside = [] if compared.metric == "expected cost" else _beside(compared)[:1]  # accuracy is of the likeliest class
    return ", ".join(f"{metric} {_score(compared.bar.mean(metric))}" for metric in [compared.metric, *beside])


def _left_out(compared: Comparison) -> list[str]:
    """Who did not take part, those of one reason together."""
    names: dict[str, list[str]] = {}
    for name, reason in compared.skipped:
        names.setdefault(reason, []).append(name)
    return [f"left out: {', '.join(those)} ({reason})" for reason, those in names.items()]


def _common_digits(compared: Comparison) -> int:
    """The same for all scores, so that their points stand below each other."""
    scores = (entry.validation.mean(compared.metric) for entry in compared.entries)
    return _digits(max((abs(score) for score in scores if np.isfinite(score)), default=0.0))


def _digits(largest: float) -> int:
    """How many digits after the point leave about four that count."""
    return 4 if largest < 10 else 3 if largest < 100 else 2 if largest < 1e4 else 0


def _score(value: float, digits: int | None = None) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:,.{_digits(abs(value)) if digits is None else digits}f}" if abs(value) < 1e9 else f"{value:.4g}"


def _wrapped(text: str) -> str:
    return fill(escaped(text), WIDTH)
