"""What averaging all prunings of a tree brings, and naive Bayes leaves: log loss and accuracy on rows left out.

python benchmarks/prunings.py [table ...]

Each table of the oracles is dealt into ten folds; whatever a model chooses (C4.5's estimate, CART's penalty by
cross-validation) it chooses inside the rows that it learns from. Writes PRUNINGS.md.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

import baytree as bt
from advice import TABLES, table
from priors import score, splits

HERE = Path(__file__).parent
OPEN = {"criterion": "entropy", "min_leaf": 5}
MODELS = {
    "average of all prunings": lambda: bt.DecisionTreeClassifier(**OPEN, averaging="prunings"),
    "average, naive Bayes leaves": bt.NBTreeClassifier,
    "naive Bayes": bt.NaiveBayesClassifier,
    "the same tree, not averaged": lambda: bt.DecisionTreeClassifier(**OPEN),
    "C4.5": bt.C45Classifier,
    "C4.5, Laplace": lambda: bt.C45Classifier(laplace=True),
    "C4.5 unpruned, averaged": lambda: bt.C45Classifier(pruning=None, collapse=False, averaging="prunings"),
    "CART by 1 SE": lambda: bt.CARTClassifier(cp=0.0, min_split=2, min_leaf=1, pruning="1se"),
    "C5.0": bt.C50Classifier,
}
MAX_ROWS = 1500  # of larger tables a sample


def judged(name: str) -> np.ndarray:
    """The mean log loss and accuracy of each model: [n_models, 2]."""
    frame, target, kinds = table(name)
    frame = frame[frame[target].notna()]
    frame = frame.sample(min(len(frame), MAX_ROWS), random_state=0).reset_index(drop=True)
    found = []
    for train, test in splits(frame, target, "all"):
        seen, unseen = frame.iloc[train], frame.iloc[test]
        unseen = unseen[unseen[target].isin(seen[target])]
        models = [make().set_params(schema=kinds).fit(seen, target) for make in MODELS.values()]
        found.append([score(model.classes_, model.predict_proba(unseen), unseen[target]) for model in models])
    return np.mean(found, axis=0)


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    found = {}
    for name in names or TABLES:
        found[name] = judged(name)
        print(name, *(f"{loss:.3f}" for loss in found[name][:, 0]), flush=True)
    text = page(found)
    print(text)
    if not names:
        (HERE / "PRUNINGS.md").write_text(text)


def page(found: dict[str, np.ndarray]) -> str:
    """A row for each table, and how often the average is better."""
    every = np.array(list(found.values()))  # [n_tables, n_models, 2]
    better = [(every[:, [k], 0] < np.delete(every[:, :, 0], k, axis=1)).sum(axis=0) for k in (0, 1)]
    lines = [
        "# All prunings of a tree beside one of them",
        "",
        f"Log loss, clipped as in scikit-learn, and accuracy on rows left out; ten folds, {len(found)} tables.",
        "`python benchmarks/prunings.py` makes it anew.",
        "",
        "| table | " + " | ".join(MODELS) + " |",
        "|---|" + "--:|" * len(MODELS),
        *(f"| {name} | {_cells(rows)} |" for name, rows in found.items()),
        f"| mean | {_cells(every.mean(axis=0))} |",
        *(_beaten(name, np.insert(better[k].astype(object), k, ""), len(found)) for k, name in enumerate([*MODELS][:2])),
    ]
    return "\n".join([*lines, ""])


def _beaten(name: str, others: np.ndarray, n_tables: int) -> str:
    counts = " | ".join(f"{n} of {n_tables}" if n != "" else "" for n in others)
    return f"| {name}: less log loss on | {counts} |"


def _cells(rows: np.ndarray) -> str:
    return " | ".join(f"{loss:.3f}, {right:.3f}" for loss, right in rows)


if __name__ == "__main__":
    main(sys.argv[1:])
