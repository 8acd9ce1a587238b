"""Summaries of additive models: curves and surfaces with their standard errors."""

from __future__ import annotations

import msgspec


class TermSummary(msgspec.Struct, frozen=True):
    """Curve of one column or surface of two: its pieces, in order, and what each adds to the scores."""

    columns: tuple[str, ...]
    pieces: tuple[str, ...]  # names; those of a surface join the names of both columns by ×
    values: tuple[tuple[float, ...], ...]  # [n_pieces][n_scores]
    errors: tuple[tuple[float, ...], ...]  # standard errors, of each piece the largest
    weight: tuple[float, ...]  # of the training rows
    importance: float  # mean absolute value over the training rows
    outline: tuple[tuple[str, tuple[float, ...]], ...] = ()  # of a long curve: few pieces for a reader, name and values


class AdditiveSummary(msgspec.Struct, frozen=True, tag="additive"):
    """Additive model: the intercept of each score and the terms, the most important first."""

    target: str
    scores: tuple[str, ...]  # what the terms add up to: the target, or log-odds of classes
    intercept: tuple[float, ...]
    terms: tuple[TermSummary, ...]
    columns: tuple[str, ...]  # used in terms
    unused: tuple[str, ...]
    weight: float  # of the training rows
    edf: float  # effective degrees of freedom
    edits: tuple[str, ...] = ()  # curves that were set by hand
