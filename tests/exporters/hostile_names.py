"""Models whose names try to get out of every language: of columns, of levels and of classes, drawn at random."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np

import baytree as bt

PIECES = ["'", '"', "\\", "\n", "\r", "\t", "*/", "/*", "//", ";--", "--", "`", "</script>", "${x}", "%s", "%n", "??/"]
PIECES += ["{{", "]]>", "&amp;", "\u2028", "\u202e", "\ufeff", "\u0301", "\U0001f98a", "é", "a", "B", " ", "0", "#"]
PIECES += ["'''", '"""', "<!--", "'); DROP TABLE t;"]
CONTROLS = ["\x01", "\x07", "\x1b[31m", "\x7f", "\x9b"]
N_COLUMNS, N_LEVELS, N_ROWS = 12, 20, 400
N_NAMES = N_COLUMNS * (N_LEVELS + 1) + 3


class Hostile(NamedTuple):
    """A fitted model, its columns, and rows to answer."""

    model: Any
    columns: tuple[str, ...]
    rows: list[dict]


def names(n: int, draw: random.Random, pieces: list[str]) -> list[str]:
    """Distinct names; no two differ by case or by blanks at their ends alone, which databases do not tell apart."""
    found: dict[str, str] = {}
    while len(found) < n:
        name = "".join(draw.choices(pieces, k=draw.randint(1, 6)))
        if name.strip():
            found.setdefault(name.lower().strip(), name)
    return [*found.values()]


def drawn(seed: int, estimator: type, pieces: list[str]) -> Hostile:
    """A model of random names."""
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    columns, classes = names(N_COLUMNS, draw, pieces), names(3, draw, pieces)
    columns, classes = (
        [name.strip() for name in columns],
        [name.strip() for name in classes],
    )  # MariaDB takes no blanks there
    label = rng.integers(0, 3, N_ROWS)
    table = {}
    for column in columns:
        levels = names(N_LEVELS, draw, pieces)
        table[column] = [levels[(k * 5 + c) % N_LEVELS] for k, c in zip(rng.integers(0, 3, N_ROWS), label, strict=True)]
    model = estimator(schema=dict.fromkeys(columns, "nominal")).fit(table, np.array(classes, object)[label])
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    return Hostile(model, tuple(columns), rows)


def pieces_for(target: str) -> list[str]:
    """What names in a target may hold: no control characters in XML, none beyond 65,535 in names of MariaDB."""
    pieces = PIECES if target == "pmml" else [*PIECES, *CONTROLS]
    return [piece for piece in pieces if target != "mysql" or max(map(ord, piece)) < 0x10000]


ESTIMATORS = (bt.NaiveBayesClassifier, bt.CARTClassifier)
