"""Trees beside scikit-learn and LightGBM: growing, predicting, pruning by cross-validation, and how cost grows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import baytree as bt
from harness import Row, best
from tables import mixed, numbers


def numeric() -> Iterator[Row]:
    from sklearn.tree import DecisionTreeClassifier

    X, y = numbers(200_000, 20)
    single = X.astype(np.float32)  # what scikit-learn's tree works on: its own conversion is not counted
    for depth in (8, None):
        theirs = best(lambda depth=depth: DecisionTreeClassifier(max_depth=depth, random_state=0).fit(single, y), 1)
        ours = best(lambda depth=depth: bt.DecisionTreeClassifier(max_depth=depth).fit(X, y), 5)
        yield Row(f"exact gini tree, 200k×20, depth {depth or 'unlimited'}", "scikit-learn", theirs, ours, 20)
    ours = best(lambda: bt.DecisionTreeClassifier(max_depth=8).fit(X, y), 5)
    yield Row("exact gini tree, 200k×20, depth 8", "LightGBM, one histogram tree", best(lambda: _boosted(X, y), 3), ours, 1)
    many, theirs_fitted = np.repeat(X, 5, 0), DecisionTreeClassifier(max_depth=10, random_state=0).fit(single, y)
    ours_fitted, many_single = bt.DecisionTreeClassifier(max_depth=10).fit(X, y), np.repeat(single, 5, 0)
    answer = best(lambda: ours_fitted.predict(many), 3)
    theirs = best(lambda: theirs_fitted.predict(many_single), 3)
    yield Row("tree of depth 10, predict 1M×20", "scikit-learn", theirs, answer, 1)


def mixed_table() -> Iterator[Row]:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder
    from sklearn.tree import DecisionTreeClassifier

    frame, y = mixed()
    coded = make_column_transformer((OrdinalEncoder(), [f"cat{i}" for i in range(10)]), remainder="passthrough")
    pipeline = make_pipeline(coded, DecisionTreeClassifier(max_depth=8, random_state=0))
    theirs = best(lambda: pipeline.fit(frame, y), 1)
    tree = bt.DecisionTreeClassifier(max_depth=8)
    ours = best(lambda: tree.fit(frame, y), 3)
    accuracy = f"training accuracy {tree.score(frame, y):.4f} against {pipeline.score(frame, y):.4f}"
    yield Row("mixed table, 1M×20, depth 8", "OrdinalEncoder + scikit-learn tree", theirs, ours, 20, accuracy)
    boosted = best(lambda: _boosted(frame, y == "yes"), 2)
    yield Row("mixed table, 1M×20, depth 8", "LightGBM, one histogram tree", boosted, ours, 2)


def pruning() -> Iterator[Row]:
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    X, y = numbers(1_500, 20)

    def theirs():
        alphas = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y).ccp_alphas
        return GridSearchCV(DecisionTreeClassifier(random_state=0), {"ccp_alpha": alphas}, cv=10, n_jobs=2).fit(X, y)

    ours = bt.CARTClassifier(cp=0, min_split=2, min_leaf=1, prune="min")
    seconds = best(lambda: ours.fit(X, y), 3)
    yield Row("λ by 10-fold cross-validation, 1,500×20", "path + GridSearchCV", best(theirs, 1), seconds, 200)


def growth() -> Iterator[Row]:
    """Twice the rows, and twice the columns, against the time of the smaller table: the goal is at least 0.4."""
    X, y = numbers(400_000, 40)
    whole = best(lambda: bt.DecisionTreeClassifier(max_depth=8).fit(X, y), 3)
    rows = best(lambda: bt.DecisionTreeClassifier(max_depth=8).fit(X[:200_000], y[:200_000]), 3)
    columns = best(lambda: bt.DecisionTreeClassifier(max_depth=8).fit(np.ascontiguousarray(X[:, :20]), y), 3)
    yield Row("400k×40, depth 8", "200k×40 (half the rows)", rows, whole, 0.4)
    yield Row("400k×40, depth 8", "400k×20 (half the columns)", columns, whole, 0.4)


def _boosted(X, y):
    import lightgbm

    options = {"objective": "binary", "num_leaves": 256, "max_depth": 8, "learning_rate": 1.0, "verbose": -1}
    options |= {"min_data_in_leaf": 1, "num_threads": 2}
    return lightgbm.train(options, lightgbm.Dataset(X, np.asarray(y, int), params={"verbose": -1}), 1)


WORKLOADS = [numeric, mixed_table, pruning, growth]
