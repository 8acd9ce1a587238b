"""What tests of several columns bring: leaves, and accuracy on rows left out, for 1, 2 and 3 columns in a split.

python benchmarks/split_columns.py [table ...]

Each table of the oracles with several numeric columns is dealt into ten folds, three times. Trees are grown by entropy with
five rows in a leaf, and once more pruned to the most probable of their prunings. Writes SPLITS.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import baytree as bt
from advice import table
from baytree.folds.splitters import read_cv

HERE = Path(__file__).parent
TABLES = (
    "kyphosis", "stagec", "iris", "hepatitis", "wine", "crabs", "autos", "glass", "penguins", "wdbc", "credit_a", "pima",
    "vehicle", "etitanic", "segment",
)  # fmt: skip
MOST = (1, 2, 3)
OPEN = {"criterion": "entropy", "min_leaf": 5}
REPEATS = 3
N_ROWS, N_COLUMNS = 20_000, 20


def judged(name: str) -> np.ndarray:
    """Leaves and accuracy of the grown and of the pruned tree, for each number of columns: [n_most, 2, 2]."""
    frame, target, kinds = table(name)
    frame = frame[frame[target].notna()].reset_index(drop=True)
    label = np.unique(frame[target], return_inverse=True)[1]
    folds = [fold for seed in range(REPEATS) for fold in read_cv(10, len(frame), label, True, None, seed).parts]
    each = [[in_fold(frame.iloc[f.train], frame.iloc[f.test], target, kinds, most) for most in MOST] for f in folds]
    return np.mean(each, axis=0)


def in_fold(seen: pd.DataFrame, unseen: pd.DataFrame, target: str, kinds: dict, most: int) -> list[tuple[int, float]]:
    """Leaves and accuracy of the grown tree, and of its most probable pruning."""
    model = bt.DecisionTreeClassifier(**OPEN, max_split_columns=most, schema=kinds).fit(seen, target)
    right = unseen[target].to_numpy()
    return [(each.n_leaves_, float((each.predict(unseen) == right).mean())) for each in (model, model.prune("bayes"))]


def seconds() -> list[float]:
    """Processor time of growing on a large table of numbers, for each number of columns."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, N_COLUMNS))
    y = (X[:, 0] + X[:, 1] - 0.5 * X[:, 2] * X[:, 3] + random.normal(size=N_ROWS) > 0).astype(int)
    found = []
    for most in (MOST[0], *MOST):  # the first is to warm up
        start = time.process_time()
        bt.DecisionTreeClassifier(**OPEN, max_split_columns=most, n_jobs=1, profile=False).fit(X, y)
        found.append(time.process_time() - start)
    return found[1:]


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    found = {}
    for name in names or TABLES:
        found[name] = judged(name)
        print(name, _cells(found[name]), flush=True)
    text = page(found, seconds())
    print(text)
    if not names:
        (HERE / "SPLITS.md").write_text(text)


def page(found: dict[str, np.ndarray], spent: list[float]) -> str:
    """A row for each table, and the time."""
    every = np.array(list(found.values()))  # [n_tables, n_most, 2, 2]
    heads = [f"{way}, {most} {'column' if most == 1 else 'columns'}" for way in ("grown", "pruned") for most in MOST]
    lines = [
        "# Several columns in a split",
        "",
        f"Leaves, and accuracy on rows left out, by the number of columns that a test may read; {REPEATS} times ten folds,",
        f"{len(found)} tables. Grown: entropy, five rows in a leaf. Pruned: the most probable pruning of that tree.",
        "`python benchmarks/split_columns.py` makes it anew.",
        "",
        "| table | " + " | ".join(heads) + " |",
        "|---|" + "--:|" * len(heads),
        *(f"| {name} | {_cells(rows)} |" for name, rows in found.items()),
        f"| mean | {_cells(every.mean(axis=0))} |",
        "",
        f"Processor time on {N_ROWS:,} rows of {N_COLUMNS} numbers, two classes with noise, one thread: "
        + ", ".join(f"{each:.2f} s with {most}" for most, each in zip(MOST, spent, strict=True))
        + ".",
    ]
    return "\n".join([*lines, ""])


def _cells(rows: np.ndarray) -> str:
    return " | ".join(f"{leaves:.1f}, {right:.3f}" for way in (0, 1) for leaves, right in rows[:, way])


if __name__ == "__main__":
    main(sys.argv[1:])
