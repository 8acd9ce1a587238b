"""Additive models compared with explainable boosting machines, LightGBM and logistic regression, by cross-validation.

python benchmarks/additive.py [--only TABLE …] [--without MODEL …] [--again MODEL …]

The tables are the twenty of benchmarks/advice.py and five of ../shared/tables. Log loss on stratified folds (five; the first
fold of tables above `MANY_ROWS` rows), processor time of a fit with all its processes (`n_jobs=1`), and the time of one
prediction of one row. Each result is stored in additive.json as it comes, keyed by table, model and fold, so an interrupted
run goes on where it stopped; `--again` measures a model anew. The first folds of all tables come first. Writes additive.json
and the tables of ADDITIVE.md between its markers. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

import baytree as bt

HERE = Path(__file__).parent
SHARED = HERE.parents[1] / "shared"
ADVICE = (
    "kyphosis", "zoo", "monks1", "stagec", "lymph", "iris", "hepatitis", "wine", "crabs", "glass", "penguins", "vote",
    "wdbc", "credit_a", "pima", "tictactoe", "etitanic", "titanic", "titanic_class", "car",
)  # fmt: skip
LARGE = ("heart_c", "banknote", "splice", "sick", "adult")
FOLDS, MANY_ROWS = 5, 3_000
N_TIMED = 20  # predictions of one row, of which the fastest counts


def models() -> dict[str, Callable[[], Any]]:
    """Models by name, each a function that makes one."""
    found: dict[str, Callable[[], Any]] = {
        "additive": lambda: bt.AdditiveClassifier(n_jobs=1),
        "additive, no pairs": lambda: bt.AdditiveClassifier(interactions=0, n_jobs=1),
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


def read(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Inputs of a table, nominal ones as text, and its target as text."""
    folder = SHARED / "tables" if (SHARED / "tables" / f"{name}.csv").exists() else SHARED / "oracles" / "data"
    described = json.loads((folder / f"{name}.json").read_text())
    target = described["target"]
    words = {column: str for column, of in described["columns"].items() if of["kind"] != "numeric"} | {target: str}
    frame = pd.read_csv(folder / f"{name}.csv", dtype=words, keep_default_na=False, na_values=[""])
    frame = frame[frame[target].notna()].reset_index(drop=True)
    return frame.drop(columns=target), frame[target]


def processor_time() -> float:
    """Seconds of this process and of its children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure(make: Callable[[], Any], X: pd.DataFrame, y: pd.Series, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Log loss on the test rows, processor time of the fit, and seconds for the prediction of one row."""
    if type(make()).__module__.startswith("lightgbm"):
        X = X.astype({name: "category" for name in X if not pd.api.types.is_numeric_dtype(X[name])})
    elif type(make()).__module__.startswith("interpret"):
        X = X.astype({name: object for name in X if not pd.api.types.is_numeric_dtype(X[name])})
    start = processor_time()
    model = make().fit(X.iloc[train], y.iloc[train].to_numpy(object))
    seconds = processor_time() - start
    probability = model.predict_proba(X.iloc[test])
    code = {str(label): k for k, label in enumerate(model.classes_)}
    true = probability[np.arange(len(test)), [code[label] for label in y.iloc[test]]]
    row, best = X.iloc[test[:1]], np.inf
    for _ in range(N_TIMED):
        start = time.process_time()
        model.predict_proba(row)
        best = min(best, time.process_time() - start)
    return {"loss": float(-np.log(np.clip(true, 1e-15, 1)).mean()), "seconds": seconds, "one_row": best}


# --- what is written ----------------------------------------------------------------------------------------------------


def section(results: dict[str, dict]) -> str:
    """Losses and processor times of the tables on which all models were measured, and the means."""
    tables = list(dict.fromkeys(key.split("|")[0] for key in results))
    names = ["additive", "additive, no pairs", "logistic", "LightGBM", "EBM"]
    lines = ["| table | folds | " + " | ".join(names) + " | additive − EBM | ± | processor time, EBM / additive |"]
    lines.append("|---|--:|" + "--:|" * (len(names) + 3))
    losses, worse = {name: [] for name in names}, []
    order = [name for name in (*ADVICE, *LARGE) if name in tables]
    for table in order:
        folds = [k for k in range(FOLDS) if all(f"{table}|{name}|{k}" in results for name in names)]
        if not folds:
            continue
        own = {name: [results[f"{table}|{name}|{k}"] for k in folds] for name in names}
        mean = {name: float(np.mean([each["loss"] for each in own[name]])) for name in names}
        difference = np.array([a["loss"] - b["loss"] for a, b in zip(own["additive"], own["EBM"], strict=True)])
        error = difference.std(ddof=1) / len(folds) ** 0.5 if len(folds) > 1 else np.nan
        worse += [table] if difference.mean() > error else []
        seconds = {name: np.mean([each["seconds"] for each in own[name]]) for name in names}
        best = min(mean.values())
        cells = [
            f"**{mean[name]:.4f}** / {seconds[name]:.2f}"
            if mean[name] == best
            else f"{mean[name]:.4f} / {seconds[name]:.2f}"
            for name in names
        ]
        shown = "" if np.isnan(error) else f"{error:.4f}"
        ratio = seconds["EBM"] / seconds["additive"]
        lines.append(f"| {table} | {len(folds)} | {' | '.join(cells)} | {difference.mean():+.4f} | {shown} | {ratio:.0f} |")
        for name in names:
            losses[name].append(mean[name])
    means = " | ".join(f"{np.mean(losses[name]):.4f}" for name in names)
    lines.append(f"| **mean** | | {means} | {np.mean(losses['additive']) - np.mean(losses['EBM']):+.4f} | | |")
    one = {
        name: np.median([each["one_row"] for key, each in results.items() if key.split("|")[1] == name]) * 1e3
        for name in names
    }
    lines += ["", "Worse than EBM by more than one standard error: " + (", ".join(worse) or "none") + "."]
    lines += ["", "Prediction of one row, milliseconds, median over the tables: "]
    lines[-1] += ", ".join(f"{name} {value:.2f}" for name, value in one.items()) + "."
    return "\n".join(lines) + "\n"


def write(results: dict[str, dict]) -> None:
    """Store the results and the section of the page that is made of them."""
    (HERE / "additive.json").write_text(json.dumps(results, indent=0, sort_keys=True) + "\n")
    page = HERE / "ADDITIVE.md"
    begin, end = "<!-- results -->\n", "<!-- end of results -->"
    text = page.read_text()
    if begin in text:
        before, rest = text.split(begin, 1)
        page.write_text(before + begin + section(results) + end + rest.split(end, 1)[1])


def main() -> None:
    """Measure what is not stored yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--again", action="append", default=[])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    store = HERE / "additive.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    results = {key: value for key, value in results.items() if key.split("|")[1] not in given.again}
    made = {name: make for name, make in models().items() if name not in given.without}
    tables = {name: read(name) for name in given.only or (*ADVICE, *LARGE)}
    for k in range(FOLDS):
        for table, (X, y) in tables.items():
            if k and len(y) > MANY_ROWS:
                continue
            n_folds = max(2, min(FOLDS, int(y.value_counts().min())))
            folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y))
            for name, make in made.items():
                key = f"{table}|{name}|{k}"
                if key not in results and k < n_folds:
                    results[key] = measure(make, X, y, *folds[k])
                    print(key, results[key], flush=True)
                    write(results)


if __name__ == "__main__":
    main()
