"""Additive models as text: the terms by importance, and what the pieces of each add to the score."""

from __future__ import annotations

from baytree.display.terminal import MAX_CLASS_COLUMNS, counted, in_columns, shortened
from baytree.rendering.linear_text import wrapped
from baytree.summary.additive import AdditiveSummary, TermSummary

_MAX_PIECES = 8  # pieces of a term that are listed, those that add or subtract most

_MAX_TERMS = 12  # terms whose pieces are listed

_MAX_NAME_LENGTH = 36


def additive_lines(summary: AdditiveSummary) -> list[str]:
    """Intercept, importance of each term, and the largest pieces of the most important ones."""
    pairs = sum(len(term.columns) == 2 for term in summary.terms)
    curves = len(summary.terms) - pairs
    of_pairs = f" and {counted(pairs, 'pair')}" if pairs else ""
    size = f"{summary.edf:.1f} effective degrees of freedom on {summary.weight:,.6g} rows"
    lines = [wrapped(f"additive model for {summary.target}: {counted(curves, 'curve')}{of_pairs}, {size}")]
    if len(summary.scores) == 1:
        lines += ["", f"{summary.scores[0]} = {summary.intercept[0]:.4g} + the terms:"]
    for term in summary.terms[:_MAX_TERMS]:
        lines += ["", *_term(term, summary)]
    if len(summary.terms) > _MAX_TERMS:
        names = ", ".join(" × ".join(term.columns) for term in summary.terms[_MAX_TERMS:])
        lines += ["", wrapped(f"{counted(len(summary.terms) - _MAX_TERMS, 'more term')}: {names}")]
    if summary.unused:
        lines += ["", wrapped(f"constant, not used ({len(summary.unused)}): {', '.join(summary.unused)}")]
    return [*lines, *(wrapped(f"edited: {edit}") for edit in summary.edits)]


def _term(term: TermSummary, summary: AdditiveSummary) -> list[str]:
    """Heading and the pieces: of a long curve its outline, of other terms those with rows that matter most, in order."""
    several = len(summary.scores) > 1
    shown = len(summary.scores[:MAX_CLASS_COLUMNS])
    head = f"{' × '.join(term.columns)}, importance {term.importance:.3g}"
    rows = [["", *(score.rsplit(" = ", 1)[-1] for score in summary.scores[:shown])]] if several else []
    if term.outline:
        rows += [[f"  {name}", *(f"{value:+.3f}" for value in values[:shown])] for name, values in term.outline]
        return [f"{head}, outline of {counted(len(term.pieces), 'piece')}", *in_columns(rows, "<>")]
    occurring = [k for k, weight in enumerate(term.weight) if weight > 0]
    largest = sorted(occurring, key=lambda k: -max(map(abs, term.values[k])))[:_MAX_PIECES]
    for k in sorted(largest):
        values = term.values[k][:shown]
        cells = [f"{v:+.3f}" for v in values] if several else [f"{values[0]:+.3f}", f"± {term.errors[k][0]:.3f}"]
        rows.append([f"  {shortened(term.pieces[k], _MAX_NAME_LENGTH)}", *cells])
    hidden = len(occurring) - len(largest)
    return [head, *in_columns(rows, "<>"), *([f"  … {counted(hidden, 'more piece')}"] if hidden else [])]
