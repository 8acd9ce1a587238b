"""Text rendering of a comparison: title, leaderboard, notes and recommendation."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from baytree.comparison.entry import Entry
from baytree.comparison.recommendation import ROUNDING
from baytree.display.terminal import TERMINAL_WIDTH, aligned, escaped

if TYPE_CHECKING:
    from baytree.comparison.leaderboard import Comparison

_HEADINGS = {"Brier score": "Brier", "squared error": "sq. error", "expected cost": "cost"}  # short forms for narrow columns


def page(compared: Comparison) -> str:
    """Return the leaderboard, its notes and the recommendation."""
    header, *lines = leaderboard(compared)
    table = aligned(header, lines)
    head = [escaped(title(compared)), *(["\n".join(audit_lines(compared))] if audit_lines(compared) else [])]
    return "\n\n".join([*head, table, "\n".join(notes(compared)), _wrapped(recommendation(compared))])


MAX_AUDIT_LINES = 5  # findings above the leaderboard; all of them are on the page and in the JSON


_NOTED = ("rare_class", "numeric_target")  # findings that the notes below the leaderboard repeat


def audit_lines(compared: Comparison) -> list[str]:
    """Return the most serious findings of the audit, each wrapped, and how many more there are."""
    findings = [] if compared.audit is None else compared.audit.findings
    findings = [each for each in findings if each.kind not in _NOTED or not compared.warnings]
    lines = [_wrapped(f"{finding.kind.replace('_', ' ')}: {finding}") for finding in findings[:MAX_AUDIT_LINES]]
    rest = len(findings) - MAX_AUDIT_LINES
    return lines + ([f"… {rest} more finding{'s' * (rest != 1)}, all in .audit"] if rest > 0 else [])


def title(compared: Comparison) -> str:
    """Return the number of models, the target, and how the folds were made."""
    n = len(compared.entries)
    return f"{n} model{'s' * (n != 1)} for {compared.target}: {compared.baseline.how}"


def leaderboard(compared: Comparison) -> list[list[str]]:
    """Return the header and one line per model, best first."""
    header = ["", "model", _HEADINGS.get(compared.metric, compared.metric), "worse", "±", *_beside(compared), "size"]
    return [header, *([*_line(compared, position)] for position in range(len(compared.entries)))]


def rule(compared: Comparison) -> str:
    """Return the rule behind the recommendation, as a sentence."""
    units = "folds" if compared.baseline.is_by_fold else "rows"
    return (
        f"as good as the best: {compared.metric} within one standard error (±) of the best on the same {units}, and "
        f"{compared.criterion.in_words}; the smallest of these models is recommended"
    )


def recommendation(compared: Comparison) -> str:
    """Return the recommendation with its reason."""
    chosen, first = compared.recommendation, compared.entries[0]
    head = f"Recommended: {chosen.name} ({chosen.size.words}), with {_in_scores(compared, chosen)}."
    if not compared.advice.beats_the_bar:
        return f"{head} {_of_the_bar(compared)}"
    if len(compared.entries) == 1:
        return f"{head} It is the only model."
    if chosen is first:
        return f"{head} {_of_the_best(compared)} {_of_the_simpler(compared)}"
    return (
        f"{head} The best, {first.name} ({first.size.words}), has {_in_scores(compared, first)}: the difference is within "
        f"one standard error, and the model is larger. If the score matters more than the size, use {first.name}."
    )


def _in_scores(compared: Comparison, entry: Entry) -> str:
    named = list(dict.fromkeys([compared.metric, *_beside(compared)[:1]]))
    return " and ".join(f"{metric} {_score(entry.validation.overall(metric))}" for metric in named)


def _of_the_bar(compared: Comparison) -> str:
    """Return the text for the case that no model is significantly better than the baseline."""
    gain = compared.advice.gain
    if gain is None or not gain.mean > ROUNDING:
        return f"No model is better than always predicting {_always(compared)}."
    by = f"the best gains {_score(gain.mean)} ± {_score(gain.error)}"
    return f"No model is significantly better than always predicting {_always(compared)}; {by}."


def _always(compared: Comparison) -> str:
    label, weight = compared.baseline.label, compared.baseline.weight
    if not compared.baseline.is_classification:
        return f"the mean, {_score(float(np.average(label.values, weights=weight)))}"
    weights = np.bincount(label.values, weight, len(compared.baseline.classes))
    given = compared.criterion.costs if compared.metric == "expected cost" else None
    costs = 1 - np.eye(len(weights)) if given is None else given
    return compared.baseline.classes[int((weights @ costs).argmin())]


def _of_the_best(compared: Comparison) -> str:
    scores = {compared.interval(entry).mean for entry in compared.entries}
    return "It is the best model." if len(scores) > 1 else "All models have the same score."


def _of_the_simpler(compared: Comparison) -> str:
    """Return the text about models that are smaller than the best."""
    if all(entry.size.numbers >= compared.entries[0].size.numbers for entry in compared.entries):
        return "No other model is smaller."
    return "No smaller model is as good."


def _line(compared: Comparison, position: int) -> list[str]:
    entry, standing = compared.entries[position], compared.advice.standings[position]
    digits = _common_digits(compared)
    beside = [_score(entry.validation.overall(metric)) for metric in _beside(compared)]
    worse = [_score(standing.worse, digits), _score(standing.error, digits)]
    marker = "*" if standing.is_as_good else ""
    return [
        marker,
        entry.name[:20],
        _score(entry.validation.mean(compared.metric), digits),
        *worse,
        *beside,
        entry.size.words,
    ]


def _beside(compared: Comparison) -> list[str]:
    """Return the names of the metrics that are shown beside the ranking score."""
    if not compared.baseline.is_classification:
        shown = ["RMSE", "R²"]
    else:
        shown = ["accuracy", "AUC" if compared.baseline.is_by_fold else "log loss"]  # AUC is undefined for single rows
    return [metric for metric in shown if metric != compared.metric]


def notes(compared: Comparison) -> list[str]:
    notes = [
        fill(f"* {rule(compared)}", TERMINAL_WIDTH, subsequent_indent="  "),
        f"worse ±: difference from the best, and its standard error{' (Nadeau and Bengio)' * compared.baseline.is_by_fold}",
        _wrapped(f"always predicting {_always(compared)}: {_bar_in_scores(compared)}"),
    ]
    if compared.metric == "expected cost":
        notes.append("cost, accuracy: of the class of minimum expected cost")
    notes += [_wrapped(f"note: {caution}") for caution in compared.warnings]
    notes += [_wrapped(line) for line in _left_out(compared)]
    return notes + (["interrupted before all models were finished"] if compared.is_interrupted else [])


def _bar_in_scores(compared: Comparison) -> str:
    # the accuracy of the baseline would be that of the majority class
    beside = [] if compared.metric == "expected cost" else _beside(compared)[:1]
    return ", ".join(f"{metric} {_score(compared.baseline.overall(metric))}" for metric in [compared.metric, *beside])


def _left_out(compared: Comparison) -> list[str]:
    """Return the models that were left out, grouped by reason."""
    names: dict[str, list[str]] = {}
    for name, reason in compared.skipped:
        names.setdefault(reason, []).append(name)
    return [f"left out: {', '.join(those)} ({reason})" for reason, those in names.items()]


def _common_digits(compared: Comparison) -> int:
    """Return one number of decimals for all scores, so that the decimal points align."""
    scores = (entry.validation.mean(compared.metric) for entry in compared.entries)
    return _digits(max((abs(score) for score in scores if np.isfinite(score)), default=0.0))


def _digits(largest: float) -> int:
    """Return the number of decimals that leaves about four significant digits."""
    return 4 if largest < 10 else 3 if largest < 100 else 2 if largest < 1e4 else 0


def _score(value: float, digits: int | None = None) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:,.{_digits(abs(value)) if digits is None else digits}f}" if abs(value) < 1e9 else f"{value:.4g}"


def _wrapped(text: str) -> str:
    return fill(escaped(text), TERMINAL_WIDTH)
