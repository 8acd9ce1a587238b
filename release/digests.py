"""A digest of the model file of every kind of model on bundled tables, as JSON: python release/digests.py."""

from __future__ import annotations

import hashlib
import json
import tempfile
import warnings
from pathlib import Path

import baytree as bt

MODELS = {
    "naive Bayes": bt.NaiveBayesClassifier(),
    "naive Bayes, kernels": bt.NaiveBayesClassifier(numeric="kernel"),
    "naive Bayes, cuts": bt.NaiveBayesClassifier(numeric="discretized"),
    "joint table": bt.JointDistribution(alpha=1.0),
    "tree": bt.DecisionTreeClassifier(),
    "tree, entropy, fractional": bt.DecisionTreeClassifier(criterion="entropy", missing="fractional"),
    "tree, averaged": bt.DecisionTreeClassifier(averaging="prunings"),
    "tree, sums": bt.DecisionTreeClassifier(max_split_columns=2, max_depth=4),
    "CART by cross-validation": bt.CARTClassifier(pruning="1se"),
    "C4.5": bt.C45Classifier(),
    "J48": bt.C45Classifier(conventions="j48"),
    "C5.0": bt.C50Classifier(trials=3),
    "C5.0, rules": bt.C50Classifier(rules=True),
    "CHAID": bt.CHAIDClassifier(),
    "optimal tree": bt.OptimalTreeClassifier(max_depth=2),
    "streaming tree": bt.StreamingTreeClassifier(),
    "LDA": bt.LinearDiscriminantAnalysis(),
    "QDA": bt.QuadraticDiscriminantAnalysis(),
    "logistic regression": bt.LogisticRegression(),
    "logistic regression, lasso by CV": bt.LogisticRegressionCV(penalty="l1"),
    "MARS": bt.MARSClassifier(max_degree=2),
}
TABLES = ("iris", "titanic", "penguins", "zoo")


def main() -> None:
    warnings.filterwarnings("ignore")
    print(json.dumps({f"{name}, {table}": digest(name, table) for name in MODELS for table in TABLES}))


def digest(name: str, table: str) -> str:
    target = bt.datasets.describe(table).target
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.baytree"
        bt.save(MODELS[name].fit(bt.datasets.load(table, as_="dict"), target), path)
        return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
