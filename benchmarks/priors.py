"""Which prior naive Bayes should have for numbers: log loss and accuracy on rows left out, with few rows and with many.

python benchmarks/priors.py [table ...]

Each table of the oracles that has numbers is learnt from 10, 30 and 100 of its rows, eight times each, and in ten folds;
the rows left out whose class was seen are the judges. Beside the default stand the maximum likelihood, the prior of 0.1 and
scikit-learn's GaussianNB with levels as one-hot columns and gaps at the mean. Writes PRIORS.md.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import baytree as bt
from advice import table
from baytree.folds.splitters import read_cv

HERE = Path(__file__).parent
TABLES = (
    "labor", "kyphosis", "stagec", "iris", "hepatitis", "wine", "crabs", "autos", "glass", "penguins", "wdbc", "credit_a",
    "pima", "vehicle", "etitanic", "titanic",
)  # fmt: skip
SIZES = (10, 30, 100)
REPEATS = 8
Answers = tuple[np.ndarray, np.ndarray]  # the classes that were seen, and their probabilities [n_rows, n_classes]
Method = Callable[[pd.DataFrame, str, pd.DataFrame, dict], Answers]


def ours(**parameters: object) -> Method:
    """Naive Bayes with these parameters."""

    def answer(seen: pd.DataFrame, target: str, unseen: pd.DataFrame, kinds: dict) -> Answers:
        model = bt.NaiveBayesClassifier(schema=kinds, **parameters).fit(seen, target)
        return model.classes_, model.predict_proba(unseen)

    return answer


def prior_of_01(seen: pd.DataFrame, target: str, unseen: pd.DataFrame, kinds: dict) -> Answers:
    """Mean and spread of a class each lean on one row of the column as a whole."""
    known = {name: seen[name].astype(float) for name, kind in kinds.items() if kind == "numeric"}
    spread = {name: (values.mean(), values.var(ddof=0)) for name, values in known.items()}
    given = {n: {"m0": m, "k0": 1, "a0": 0.5, "b0": v / 2} for n, (m, v) in spread.items() if v > 0 and np.isfinite(v)}
    return ours(priors=given)(seen, target, unseen, kinds)


def scikit_learn(seen: pd.DataFrame, target: str, unseen: pd.DataFrame, kinds: dict) -> Answers:
    """GaussianNB, levels as one-hot columns."""
    both = pd.get_dummies(pd.concat([seen, unseen])[list(kinds)], columns=[n for n, k in kinds.items() if k != "numeric"])
    X = both.astype(float).fillna(both.iloc[: len(seen)].mean()).fillna(0.0).to_numpy()
    model = GaussianNB().fit(X[: len(seen)], seen[target])
    return model.classes_, model.predict_proba(X[len(seen) :])


METHODS: dict[str, Method] = {
    "the default": ours(),
    "its mode (map)": ours(estimate="map"),
    "the prior of 0.1": prior_of_01,
    "maximum likelihood": ours(estimate="mle"),
    "scikit-learn": scikit_learn,
}


def splits(frame: pd.DataFrame, target: str, size: int | str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows that judge."""
    if size == "all":
        label = np.unique(frame[target], return_inverse=True)[1]
        return [(fold.train, fold.test) for fold in read_cv(10, len(frame), label, True, None, 0).parts]
    orders = [np.random.default_rng(seed).permutation(len(frame)) for seed in range(REPEATS)]
    return [(order[:size], order[size : size + 300]) for order in orders]


def judged(frame: pd.DataFrame, target: str, kinds: dict, size: int | str) -> np.ndarray:
    """The mean log loss and accuracy of each method: [n_methods, 2]."""
    found = []
    for train, test in splits(frame, target, size):
        seen, unseen = frame.iloc[train], frame.iloc[test]
        unseen = unseen[unseen[target].isin(seen[target])]
        if seen[target].nunique() > 1 and len(unseen):
            found.append([score(*method(seen, target, unseen, kinds), unseen[target]) for method in METHODS.values()])
    return np.mean(found, axis=0)


def score(classes: np.ndarray, probability: np.ndarray, right: pd.Series) -> tuple[float, float]:
    """Log loss, clipped as in scikit-learn, and accuracy."""
    code = np.searchsorted(classes, right.to_numpy())
    of_right = np.clip(probability[np.arange(len(code)), code], np.finfo(float).eps, 1)
    return float(-np.log(of_right).mean()), float((probability.argmax(axis=1) == code).mean())


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    found: dict[int | str, list[np.ndarray]] = {size: [] for size in (*SIZES, "all")}
    for name in names or TABLES:
        frame, target, kinds = table(name)
        frame = frame[frame[target].notna()].reset_index(drop=True)
        for size in found:
            if size == "all" or len(frame) >= 2 * int(size):
                found[size].append(judged(frame, target, kinds, size))
        print(name, flush=True)
    text = page(found)
    print(text)
    if not names:
        (HERE / "PRIORS.md").write_text(text)


def page(found: dict[int | str, list[np.ndarray]]) -> str:
    """A row for each method: the means over all tables, by the number of rows learnt from."""
    sizes = [f"{size} rows" for size in found]
    lines = [
        "# Priors for numbers in naive Bayes",
        "",
        "Log loss (less is better) and accuracy on rows left out, means over the tables of the oracles that have numbers:",
        f"{', '.join(f'{len(rows)} tables at {size}' for size, rows in found.items())}.",
        "`python benchmarks/priors.py` makes it anew.",
        "",
        "| log loss, accuracy | " + " | ".join(sizes) + " |",
        "|---|" + "--:|" * len(sizes),
    ]
    for k, method in enumerate(METHODS):
        cells = [np.mean([table[k] for table in rows], axis=0) for rows in found.values() if rows]
        lines.append(f"| {method} | " + " | ".join(f"{loss:.3f}, {right:.4f}" for loss, right in cells) + " |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main(sys.argv[1:])
