"""A table of coefficients in words: what is 0 is counted, not listed, and of very many the largest are shown."""

from __future__ import annotations

import textwrap

from baytree.show.terminal import in_columns
from baytree.summary.linear import Coefficient, LinearSummary

_SHOWN = 40  # features of a printed table
_CLASSES = 8  # that stand side by side
_NAMED = 8  # features without effect that are named
_WIDTH = 80  # of a terminal


def coefficient_lines(table: LinearSummary) -> list[str]:
    """The lines of the table, and below it what its numbers compare."""
    by_feature: dict[str, list[Coefficient]] = {}
    for row in table.coefficients:
        by_feature.setdefault(row.feature, []).append(row)
    zero = [name for name, own in by_feature.items() if own[0].column and not any(row.estimate for row in own)]
    bound = [name for name in zero if by_feature[name][0].is_bound]
    resting = [name for name in zero if name not in set(bound)]
    active = {name: own for name, own in by_feature.items() if name not in set(zero)}
    shown = {name: active[name] for name in _largest(active)}
    notes = [*_more(len(active)), *_resting(resting), *_bound(bound, table), *_compared(table), *_references(table)]
    return [*_lines(table, shown), *notes]


def _largest(active: dict[str, list[Coefficient]]) -> list[str]:
    """All features, or those that matter most where they are too many, in the order of the table."""
    if len(active) <= _SHOWN:
        return list(active)
    order = sorted(active, key=lambda name: (bool(active[name][0].column), -_per_deviation(active[name])))
    kept = set(order[:_SHOWN])
    return [name for name in active if name in kept]


def _per_deviation(own: list[Coefficient]) -> float:
    return max(abs(row.importance) for row in own)


def _lines(table: LinearSummary, shown: dict[str, list[Coefficient]]) -> list[str]:
    has_errors = any(row.standard_error is not None for row in table.coefficients)
    labels = list(dict.fromkeys(str(row.label) for row in table.coefficients))
    if has_errors:
        return [line for at, label in enumerate(labels) for line in _with_errors(table, shown, at, label, len(labels) > 1)]
    return _side_by_side(shown, labels) if len(labels) > 1 else _plain(shown)


def _side_by_side(shown: dict[str, list[Coefficient]], labels: list[str]) -> list[str]:
    """Features as rows and classes as columns, and how much a standard deviation changes at most."""
    rows = [
        [name, *(f"{row.estimate:.4g}" for row in own), f"{_per_deviation(own):.4g}" if own[0].column else ""]
        for name, own in shown.items()  # the intercept has no spread
    ]
    table = [["", *labels, "largest per sd"], *rows]
    if len(labels) <= _CLASSES:
        return in_columns(table, "<>")
    cut = [[*row[: _CLASSES + 1], row[-1]] for row in table]
    return [*in_columns(cut, "<>"), f"… {len(labels) - _CLASSES:,} more classes"]


def _plain(shown: dict[str, list[Coefficient]]) -> list[str]:
    rows = [[name, *_odds(own[0]), f"{own[0].importance:.4g}" if own[0].column else ""] for name, own in shown.items()]
    return in_columns([["", "estimate", "odds ratio", "per sd"], *rows], "<>")


def _with_errors(
    table: LinearSummary, shown: dict[str, list[Coefficient]], at: int, label: str, has_title: bool
) -> list[str]:
    """The coefficients of one class with all that is known of them."""
    rows = [[name, *_odds(own[at]), *_certainty(own[at])] for name, own in shown.items()]
    head = ["", "estimate", "odds ratio", "std. error", "z", "p", "95 % interval"]
    return [*([f"{label} against {table.base}"] if has_title else []), *in_columns([head, *rows], "<>")]


def _odds(row: Coefficient) -> list[str]:
    """Estimate and odds ratio; a constant has no odds but those of a row of zeros, which no table has."""
    return [f"{row.estimate:.4g}", f"{row.odds_ratio:.4g}" if row.column else ""]


def _certainty(row: Coefficient) -> list[str]:
    if row.interval is None:
        return ["", "", "", ""]
    low, high = row.interval
    return [f"{row.standard_error:.4g}", f"{row.z:.3g}", f"{row.p:.3g}", f"{low:.4g} … {high:.4g}"]


def _more(count: int) -> list[str]:
    return [f"… {count - _SHOWN} more with a smaller effect per standard deviation"] if count > _SHOWN else []


def _resting(names: list[str]) -> list[str]:
    return [wrapped(f"0 throughout, so not used ({len(names)}): {_listed(names)}")] if names else []


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _bound(names: list[str], table: LinearSummary) -> list[str]:
    """What is 0 because the answer must follow its column, and what that means for errors."""
    if not names:
        return []
    has_errors = any(row.standard_error is not None for row in table.coefficients)
    given = "; the errors of the others take that as given" if has_errors else ""
    why = "at the bound, 0, since answers must follow the column and the rows go against it"
    return [wrapped(f"{why}: {_listed(names)}{given}")]


def _compared(table: LinearSummary) -> list[str]:
    """What an estimate is: of two classes a change of log-odds, else of a score."""
    if table.base is not None:
        label = table.coefficients[0].label if len({str(row.label) for row in table.coefficients}) == 1 else "each class"
        return [f"estimates are log-odds of {label} against {table.base}"]
    return ["the class with the largest score is the most probable"]


def _references(table: LinearSummary) -> list[str]:
    if not table.references:
        return []
    return [wrapped("reference levels: " + ", ".join(f"{name}={level}" for name, level in table.references))]


def wrapped(note: str) -> str:
    """A note below a table, no wider than a terminal."""
    return textwrap.fill(note, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
