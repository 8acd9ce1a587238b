"""No name can become code: hundreds of random names of columns, levels and classes in one model, run and compared."""

import random
import shutil

import numpy as np
import pytest
from export_compared import difference_of
from export_runners import NEEDS, RUNNERS

import baytree as bt

PIECES = ["'", '"', "\\", "\n", "\r", "\t", "*/", "/*", "//", ";--", "--", "`", "</script>", "${x}", "%s", "%n", "??/"]
PIECES += ["{{", "]]>", "&amp;", "\u2028", "\u202e", "\ufeff", "\u0301", "\U0001f98a", "é", "a", "B", " ", "0", "#"]
PIECES += ["'''", '"""', "<!--", "'); DROP TABLE t;"]
N_COLUMNS, N_LEVELS, N_ROWS = 12, 20, 400


def names(n: int, draw: random.Random) -> list[str]:
    """Distinct names; no two differ by case alone, which databases do not tell apart."""
    found: dict[str, str] = {}
    while len(found) < n:
        name = "".join(draw.choices(PIECES, k=draw.randint(1, 6)))
        if name.strip():
            found.setdefault(name.lower().strip(), name)
    return [*found.values()]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [bt.NaiveBayesClassifier, bt.CARTClassifier])
@pytest.mark.parametrize(
    "target", [pytest.param(name, marks=[pytest.mark.databases] if name == "pmml" else []) for name in RUNNERS]
)
def test_no_name_can_become_code(target, estimator, tmp_path):
    if (need := NEEDS.get(target)) and not shutil.which(need):
        pytest.skip(f"{need} is not installed")
    draw, rng = random.Random(5), np.random.default_rng(5)
    columns, classes = names(N_COLUMNS, draw), names(3, draw)
    label = rng.integers(0, 3, N_ROWS)
    table = {}
    for column in columns:
        levels = names(N_LEVELS, draw)
        table[column] = [levels[(k * 5 + c) % N_LEVELS] for k, c in zip(rng.integers(0, 3, N_ROWS), label, strict=True)]
    model = estimator(schema=dict.fromkeys(columns, "nominal")).fit(table, np.array(classes, object)[label])
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    source = bt.export(model, target)
    run = RUNNERS[target]
    assert difference_of(model, tuple(table), rows, lambda given, named: run(source, given, named, tmp_path)) <= 1e-9
