"""Splines in words: a sum of terms for each score, and how well they fit."""

from __future__ import annotations

from baytree.show.linear.coefficient_text import wrapped
from baytree.summary.linear import SplineSummary

_NAMED = 8  # columns without effect that are named


def spline_lines(summary: SplineSummary) -> list[str]:
    """The sum of terms of each score, and below it what is compared, left out and reached."""
    number = len(summary.terms) - 1
    of_columns = f" of {_counted(len(summary.columns), 'column')}" if number else ""
    head = f"MARS for {summary.target}: {_counted(number, 'term')}{of_columns}, and a constant"
    sums = [line for k in range(len(summary.scores)) for line in _sum(summary, k)]
    return [head, *sums, *_notes(summary)]


def _sum(summary: SplineSummary, k: int) -> list[str]:
    amounts = [term.coefficient[k] for term in summary.terms]
    sizes = [f"{abs(amount):.4g}" for amount in amounts]
    width = max(map(len, sizes))
    lines = []
    for term, amount, size in zip(summary.terms, amounts, sizes, strict=True):
        sign = "−" if amount < 0 else "+" if term.hinges else " "
        lines.append(" · ".join([f"  {sign} {size:>{width}}", *term.hinges]))
    return ["", f"{summary.scores[k]} =", *lines]


def _notes(summary: SplineSummary) -> list[str]:
    of = "by least squares on 0 and 1 for each class: " if summary.scores[0] != summary.target else ""
    by_gcv = f"GCV = {summary.gcv:.6g} (R² by it {summary.relative_gcv:.4g})"
    notes = ["", wrapped(f"{of}R² = {summary.r2:.4g}, RSS = {summary.rss:.6g}, {by_gcv} on {_counted(summary.rows, 'row')}")]
    if summary.references:
        notes.append(wrapped("reference levels: " + ", ".join(f"{name}={at}" for name, at in summary.references)))
    if summary.unused:
        more = f" and {len(summary.unused) - _NAMED} more" if len(summary.unused) > _NAMED else ""
        notes.append(wrapped(f"not used ({len(summary.unused)}): {', '.join(summary.unused[:_NAMED])}{more}"))
    return notes


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
