"""Additive models beside explainable boosting machines, LightGBM and logistic regression, by cross-validation.

Log loss on stratified folds, and processor time of a fit with all its processes (`n_jobs=1`). Peers that are not installed
are left out. Tables are CSV files, each with a JSON file of the same name that names its target:
`python benchmarks/additive.py FOLDER TABLE …` prints rows for `benchmarks/ADDITIVE.md`; `--without NAME` leaves out a peer.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

import baytree as bt

FOLDS, MANY_ROWS = 5, 20_000  # tables of more rows: the first fold only


def peers() -> dict[str, Callable[[], Any]]:
    """Models by name, each a function that makes one."""
    found: dict[str, Callable[[], Any]] = {
        "additive, no pairs": lambda: bt.AdditiveClassifier(interactions=0, n_jobs=1),
        "additive": lambda: bt.AdditiveClassifier(n_jobs=1),
        "logistic": lambda: bt.LogisticRegression(n_jobs=1),
    }
    try:
        from lightgbm import LGBMClassifier

        found["LightGBM"] = lambda: LGBMClassifier(n_jobs=1, verbose=-1)
    except ImportError:
        pass
    try:
        from interpret.glassbox import ExplainableBoostingClassifier

        found["EBM"] = lambda: ExplainableBoostingClassifier(n_jobs=1, random_state=0)
    except ImportError:
        pass
    return found


def cell(make: Callable[[], Any], frame: pd.DataFrame, target: str) -> str:
    """Mean log loss and seconds of processor time of a fit."""
    y = frame[target].astype(str)
    X = frame.drop(columns=target)
    own = X
    if type(make()).__module__.startswith("lightgbm"):
        own = X.astype({name: "category" for name in X if X[name].dtype == object or X[name].dtype.kind not in "if"})
    losses, seconds = [], 0.0
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    folds = folds[:1] if len(y) > MANY_ROWS else folds
    for train, test in folds:
        start = time.process_time()
        model = make().fit(own.iloc[train], y.iloc[train])
        seconds += time.process_time() - start
        probability = model.predict_proba(own.iloc[test])
        code = {str(label): k for k, label in enumerate(model.classes_)}
        true = probability[np.arange(len(test)), [code[label] for label in y.iloc[test]]]
        losses.append(-np.log(np.clip(true, 1e-15, 1)).mean())
    return f"{np.mean(losses):.4f} / {seconds / len(folds):.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--without", action="append", default=[])
    given = parser.parse_args()
    models = {name: make for name, make in peers().items() if name not in given.without}
    print("| table | rows |", " | ".join(models), "|")
    print("|---|--:|" + "--:|" * len(models))
    warnings.simplefilter("ignore")
    for name in given.tables:
        frame = pd.read_csv(given.folder / f"{name}.csv")
        target = json.loads((given.folder / f"{name}.json").read_text())["target"]
        frame = frame[frame[target].notna()].reset_index(drop=True)
        cells = [cell(make, frame, target) for make in models.values()]
        print(f"| {name} | {len(frame):,} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
