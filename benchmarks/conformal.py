"""Prediction sets beside those of MAPIE and crepes: how often they hold the truth, how large they are, how long they take.

python benchmarks/conformal.py [table ...]

Every package has the same model, Gaussian naive Bayes, and the same numbers: nominal columns as codes, gaps at the median.
Each table is cut in two 50 times. Writes CONFORMAL.md.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from crepes import WrapClassifier
from mapie.classification import CrossConformalClassifier
from sklearn.model_selection import LeaveOneOut, train_test_split
from sklearn.naive_bayes import GaussianNB

import baytree as bt
from advice import TABLES, table

HERE = Path(__file__).parent
ALPHA = 0.1
N_SPLITS = 50
MOST = 300  # rows to learn from; as many as 100 are asked for
Sets = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # rows, classes, new rows → bool [n_new, n_classes]


def ours(**options: object) -> Sets:
    def sets(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        return bt.conformal(bt.GaussianNB(), X, y, alpha=ALPHA, **options).predict_set(new)

    return sets


def mapie(cv: object) -> Sets:
    def sets(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        model = CrossConformalClassifier(GaussianNB(), confidence_level=1 - ALPHA, cv=cv)
        return model.fit_conformalize(X, y).predict_set(new)[1][:, :, 0]

    return sets


def crepes(by_class: bool) -> Sets:
    def sets(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        own, other, own_y, other_y = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
        model = WrapClassifier(GaussianNB())
        model.fit(own, own_y)
        model.calibrate(other, other_y, class_cond=by_class)
        return np.asarray(model.predict_p(new, smoothing=False)) > ALPHA

    return sets


WAYS: dict[str, Sets] = {
    "full": ours(method="full"),
    "jackknife+": ours(method="cross", cv="loo"),
    "10 folds": ours(method="cross", cv=10),
    "split": ours(method="cross", cv=0.3),
    "full, by class": ours(method="full", by_class=True),
    "MAPIE, 10 folds": mapie(10),
    "crepes, split": crepes(False),
    "crepes, split, by class": crepes(True),
}


def numbers(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The table as a matrix, and the class of each row; classes of fewer than 20 rows are left out."""
    frame, target, _ = table(name)
    frame = frame[frame[target].notna()]
    frame = frame[frame[target].map(frame[target].value_counts()) >= 20]
    y = np.unique(frame[target].astype(str), return_inverse=True)[1]
    columns = [_column(frame[each]) for each in frame if each != target]
    return np.column_stack(columns), y


def _column(values: pd.Series) -> np.ndarray:
    if not pd.api.types.is_numeric_dtype(values):
        return pd.factorize(values)[0].astype(float)
    known = values.astype(float)
    return known.fillna(known.median()).fillna(0.0).to_numpy()


def judged(name: str) -> np.ndarray:
    """Coverage, coverage of the class that is worst off, and mean size: [n_ways, 3]."""
    X, y = numbers(name)
    found = []
    for seed in range(N_SPLITS):
        n = min(MOST, int(0.75 * len(y)))
        kept, new, kept_y, new_y = train_test_split(
            X, y, train_size=n, test_size=min(100, len(y) - n), random_state=seed, stratify=y
        )
        found.append([_measured(way(kept, kept_y, new), new_y) for way in WAYS.values()])
    mean = np.nanmean(found, axis=0)  # [n_ways, 2 + n_classes]
    return np.column_stack([mean[:, 0], mean[:, 2:].min(axis=1), mean[:, 1]])


def _measured(sets: np.ndarray, y: np.ndarray) -> list[float]:
    held = sets[np.arange(len(y)), y]
    each = [held[y == k].mean() if (y == k).any() else np.nan for k in range(sets.shape[1])]
    return [held.mean(), sets.sum(axis=1).mean(), *each]


def drawn(n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = random.integers(0, 3, n)
    return random.normal(size=(n, 10)) + 0.5 * y[:, None], y


def refitted(X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Full conformal sets as anyone can have them: a fit of scikit-learn for each row and class."""
    out = np.zeros((len(new), 3), bool)
    for row, x in enumerate(new):
        for k in range(3):
            rows, labels = np.vstack([X, x]), np.append(y, k)
            seen = GaussianNB().fit(rows, labels).predict_proba(rows)[np.arange(len(labels)), labels]
            out[row, k] = (seen <= seen[-1]).mean() > ALPHA
    return out


def seconds(sets: Sets, rows: tuple[np.ndarray, np.ndarray, np.ndarray], times: int) -> float:
    """Processor time, the best of several."""
    found = []
    for _ in range(times):
        start = process_time()
        sets(*rows)
        found.append(process_time() - start)
    return min(found)


def timed() -> list[tuple[str, int, float, float]]:
    """What was asked, the number of rows, our seconds and theirs, each for 100 new rows."""
    found = []
    for n in (150, 300, 1000):
        random = np.random.default_rng(n)
        X, y = drawn(n, random)
        rows = X, y, drawn(100, random)[0]
        assert (WAYS["full"](*rows) == refitted(*rows)).all()
        found.append(("full, beside refitting scikit-learn", n, seconds(WAYS["full"], rows, 5), seconds(refitted, rows, 1)))
        theirs = seconds(mapie(LeaveOneOut()), rows, 1)
        found.append(("jackknife+, beside MAPIE", n, seconds(WAYS["jackknife+"], rows, 5), theirs))
        found.append(("10 folds, beside MAPIE", n, seconds(WAYS["10 folds"], rows, 5), seconds(mapie(10), rows, 3)))
    return found


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    times = timed()
    for what, n, mine, theirs in times:
        print(f"{what}, {n} rows: {mine:.4f} {theirs:.3f} {theirs / mine:.0f}", flush=True)
    found = {}
    for name in names or TABLES:
        found[name] = judged(name)
        print(name, *(f"{share:.3f} {size:.2f}" for share, _, size in found[name]), flush=True)
    if not names:
        (HERE / "CONFORMAL.md").write_text(page(found, times))


def page(found: dict[str, np.ndarray], times: list[tuple[str, int, float, float]]) -> str:
    """A row for each table, and how long it takes."""
    every = np.array(list(found.values()))
    lines = [
        "# Prediction sets beside those of MAPIE and crepes",
        "",
        f"Gaussian naive Bayes on {len(found)} tables, {N_SPLITS} splits each, 90 % asked for: how often the set holds the",
        "truth, in per cent, and of how many classes it is. `python benchmarks/conformal.py` makes it anew.",
        "",
        "| table | " + " | ".join(WAYS) + " |",
        "|---|" + "--:|" * len(WAYS),
        *(f"| {name} | {_cells(rows)} |" for name, rows in found.items()),
        f"| mean | {_cells(every.mean(axis=0))} |",
        "| least of any table | " + " | ".join(f"{100 * share:.1f}" for share in every[:, :, 0].min(axis=0)) + " |",
        "| the class worst off, mean | " + " | ".join(f"{100 * share:.1f}" for share in every[:, :, 1].mean(axis=0)) + " |",
        "",
        "## Time",
        "",
        "Processor seconds for 100 new rows of 10 columns and 3 classes, learning included; the sets by refitting are the",
        "same.",
        "",
        "| | rows | baytree | the other | times |",
        "|---|--:|--:|--:|--:|",
        *(f"| {what} | {n:,} | {mine:.4f} | {theirs:.3f} | {theirs / mine:.0f} |" for what, n, mine, theirs in times),
    ]
    return "\n".join([*lines, ""])


def _cells(rows: np.ndarray) -> str:
    return " | ".join(f"{100 * share:.1f}, {size:.2f}" for share, _, size in rows)


if __name__ == "__main__":
    main(sys.argv[1:])
