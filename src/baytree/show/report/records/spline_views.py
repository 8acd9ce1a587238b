"""Records of the section about splines: a drawing for each column, and one for each pair that acts together."""

from __future__ import annotations

import msgspec


class FunctionView(msgspec.Struct, frozen=True):
    """What a column adds to each score, as lines in a box of 300 by 90 whose middle is 0."""

    name: str
    paths: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    largest: str  # what the upper edge of the box stands for


class SurfaceView(msgspec.Struct, frozen=True):
    """What a pair of columns adds to one score: squares of a raster, row by row from the top, from −1 to 1."""

    across: str
    upwards: str
    score: str
    ends: tuple[str, str, str, str]  # left, right, bottom, top
    shape: tuple[int, int]  # squares across and upwards
    squares: tuple[float, ...]
    largest: str


class FunctionsView(msgspec.Struct, frozen=True):
    """The functions that a sum of splines is made of."""

    unit: str
    scores: tuple[str, ...]
    columns: tuple[FunctionView, ...]
    pairs: tuple[SurfaceView, ...]
    hidden: int  # pairs that are not drawn
    id: str = "functions"
    title: str = "What each column adds"
