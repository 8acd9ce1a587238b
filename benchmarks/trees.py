"""Trees beside scikit-learn, LightGBM and YDF: growing, predicting, pruning by cross-validation, and how cost grows.

`BAYTREE_FULL=1` adds cross-validated pruning of 5,000 rows, which scikit-learn needs minutes for.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import baytree as bt
from harness import Growth, Row, Sized, best, in_turn, processor
from harness import growth as grown
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
    yield from _beside_ydf(frame, y, tree, ours)


def pruning() -> Iterator[Row]:
    yield _pruned(1_500)
    if os.environ.get("BAYTREE_FULL"):
        yield _pruned(5_000)
    else:
        print("skipped: λ by 10-fold cross-validation, 5,000×20; set BAYTREE_FULL=1")


def _pruned(n_rows: int) -> Row:
    """The penalty by the same ten folds and by scikit-learn's rule: a split is worth what it takes of gini."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.tree import DecisionTreeClassifier

    X, y = numbers(n_rows, 20)
    parts, fold = list(StratifiedKFold(10).split(X, y)), np.empty(n_rows, np.int64)
    for number, (_, out) in enumerate(parts):
        fold[out] = number
    found = []

    def theirs():
        alphas = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y).ccp_alphas
        search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"ccp_alpha": alphas}, cv=parts, n_jobs=2)
        found.append(search.fit(X, y).best_estimator_)

    ours = bt.CARTClassifier(cp=0, min_split=2, min_leaf=1, max_depth=None, pruning="min", prune_by="impurity", cv=fold)
    seconds, slower = best(lambda: ours.fit(X, y), 3), best(theirs, 1)
    note = f"chosen: {ours.n_leaves_} leaves against {found[-1].get_n_leaves()}"
    return Row(f"λ by 10-fold cross-validation, {n_rows:,}×20", "path + GridSearchCV", slower, seconds, 200, note)


def memory() -> Iterator[Row]:
    """What growing needs at its peak beyond the frame that it is given, its encoded table included: at most three tables."""
    code = Path(__file__).with_name("peak.py")
    told = subprocess.run([sys.executable, str(code)], capture_output=True, text=True, check=True).stdout.split()
    encoded, peak = (float(number) for number in told)
    yield Row("peak memory, mixed 1M×20", "the encoded table", encoded / 1e9, peak / 1e9, 1 / 3, unit="MB")


def growth() -> Iterator[Row]:
    """Twice the rows, and twice the columns, against the time of the smaller table: the goal is at least 0.4."""
    X, y = numbers(400_000, 40)
    whole = best(lambda: bt.DecisionTreeClassifier(max_depth=8).fit(X, y), 3)
    rows = best(lambda: bt.DecisionTreeClassifier(max_depth=8).fit(X[:200_000], y[:200_000]), 3)
    columns = best(lambda: bt.DecisionTreeClassifier(max_depth=8).fit(np.ascontiguousarray(X[:, :20]), y), 3)
    yield Row("400k×40, depth 8", "200k×40 (half the rows)", rows, whole, 0.4)
    yield Row("400k×40, depth 8", "400k×20 (half the columns)", columns, whole, 0.4)


def cost_growth() -> Iterator[Growth]:
    """Rows, columns, classes, levels of a column and levels of the tree, each doubled three times."""
    tree = bt.DecisionTreeClassifier

    def of_numbers(n_rows: int, n_columns: int) -> Sized:
        X, y = numbers(n_rows, n_columns)
        return Sized(lambda: tree(max_depth=8).fit(X, y), X.nbytes)

    def of_classes(n_classes: int) -> Sized:
        X, y = _grid(n_classes)
        return Sized(lambda: tree().fit(X, y), X.nbytes)

    def of_levels(n_levels: int) -> Sized:
        codes = np.random.default_rng(0).integers(0, n_levels, (50_000, 5))
        frame = pd.DataFrame({f"c{j}": pd.Categorical(codes[:, j].astype(str)) for j in range(5)})
        y = (codes[:, 0] % 3 + codes[:, 1] % 2) > 1
        return Sized(lambda: tree(max_depth=8).fit(frame, y), codes.nbytes // 2)

    def of_depth(n_rows: int) -> Sized:
        X, y = _chain(n_rows)
        return Sized(lambda: tree(criterion="entropy").fit(X, y), X.nbytes)

    yield grown("gini tree of depth 8, ·×20", "rows", 25_000, lambda n: of_numbers(n, 20))
    yield grown("gini tree of depth 8, 50k×·", "columns", 10, lambda n: of_numbers(50_000, n))
    yield grown("open tree, 9,000×2", "classes", 125, of_classes)
    yield grown("gini tree of depth 8, 50k×5 nominal", "levels of a column", 50, of_levels)
    yield grown("chain by entropy", "levels of the tree", 5_000, of_depth, runs=1)


def many_classes() -> Iterator[Row]:
    """A leaf per class: the cost of a cut must not grow with their number."""
    from sklearn.tree import DecisionTreeClassifier

    for n_classes in (10, 100, 1000, 3000):
        X, y = _grid(n_classes)
        ours = best(lambda X=X, y=y: bt.DecisionTreeClassifier().fit(X, y), 3)
        theirs = best(lambda X=X, y=y: DecisionTreeClassifier(random_state=0).fit(X, y), 1)
        yield Row(f"open tree, 9,000×2, {n_classes:,} classes", "scikit-learn", theirs, ours, 3)


def many_levels() -> Iterator[Row]:
    """Groups of levels under CART with several classes: the cost must not double with each level."""
    rng = np.random.default_rng(0)
    level, y = np.r_[np.arange(25), rng.integers(25, size=975)], rng.integers(5, size=1000)
    X = np.array([f"v{i:02d}" for i in level], object)[:, None]
    stump = bt.CARTClassifier(max_depth=1, cp=0, pruning=None, profile=False)
    seconds = processor(lambda: stump.fit(X, y), 5)
    yield Row("CART, 1,000 rows, 25 levels, 5 classes, depth 1", "5 ms", 0.005, seconds, 1, "processor time")
    level = np.r_[np.arange(31), rng.integers(31, size=52)]
    frame = pd.DataFrame({"level": [f"v{i:02d}" for i in level], "size": rng.normal(size=83)})
    frame["y"] = rng.choice(list("abcd"), 83)
    seconds = processor(lambda: bt.compare(frame, "y", models=["cart"]), 2)
    yield Row("compare CART, 83 rows, 31 levels, 4 classes", "1 s", 1.0, seconds, 1, "processor time")


def classes_of_algorithms() -> Iterator[Row]:
    """Ten times the classes against the time of a tenth of them: the goal is at least 0.1, time linear in classes."""
    for name in ("CARTClassifier", "C45Classifier", "C50Classifier", "CHAIDClassifier"):
        seconds = {n: best(lambda n=n, name=name: getattr(bt, name)().fit(*_grid(n)), 3) for n in (100, 1000, 3000)}
        for few, many in ((100, 1000), (1000, 3000)):
            yield Row(f"{name}, 9,000×2, {many:,} classes", f"{few:,} classes", seconds[few], seconds[many], few / many)


def multiway_numbers() -> Iterator[Row]:
    """Numbers by a branch for each level, against two groups of levels."""
    frame = mixed(100_000)[0]
    y = frame.num0 + frame.cat3.cat.codes % 3 + np.random.default_rng(0).normal(size=len(frame))

    def seconds(branching: str) -> float:
        return best(lambda: bt.DecisionTreeRegressor(max_depth=6, branching=branching).fit(frame, y), 3)

    yield Row("numbers by every level, mixed 100k×20, depth 6", "two branches", seconds("binary"), seconds("multiway"), 1)


def chaid() -> Iterator[Row]:
    """Groups of levels that do not differ, against CART's two branches at the same depth, and without limit, both unpruned.

    CART stops at a few leaves there; without a depth it has to look at as many nodes as CHAID and more.
    """
    frame, y = mixed(200_000)
    merged = bt.CHAIDClassifier(max_depth=5)
    seconds = best(lambda: merged.fit(frame, y), 2)
    cart, wide = bt.CARTClassifier(max_depth=5, pruning=None), bt.CARTClassifier(max_depth=None, cp=0, pruning=None)
    for tree, name, goal in ((cart, "our CART, depth 5", 1), (wide, "our CART, open (cp=0)", 1)):
        beside = best(lambda tree=tree: tree.fit(frame, y), 2)
        note = f"{merged.n_leaves_:,} leaves against {tree.n_leaves_:,}"
        yield Row("CHAID, mixed 200k×20, depth 5", name, beside, seconds, goal, note)


def small_chaid() -> Iterator[Row]:
    """A table such as comparisons are made of, where calls cost more than rows: CHAID against our CART, unpruned."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(208, 60)).round(4)).add_prefix("x")
    y = np.where(frame.x0 + frame.x1 + rng.normal(size=208) > 0, "metal", "rock")
    cart, merged = bt.CARTClassifier(pruning=None), bt.CHAIDClassifier()
    beside, seconds = in_turn(lambda: cart.fit(frame, y), lambda: merged.fit(frame, y), 20)
    yield Row("CHAID, 208×60 numbers", "our CART, unpruned", beside, seconds, 1, "processor time")


def _grid(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(9000) % n_classes
    return np.column_stack([y // 60, y % 60]) + np.random.default_rng(0).normal(scale=0.01, size=(9000, 2)), y


def _chain(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(float(n_rows))[:, None], np.arange(n_rows) % 2


def _beside_ydf(frame, y, tree: bt.DecisionTreeClassifier, ours: float) -> Iterator[Row]:
    try:
        import ydf
    except ImportError:
        print("skipped: mixed table beside YDF's CART, which is not installed")
        return
    ydf.verbose(0)
    table = frame.assign(label=y)
    learner = ydf.CartLearner(label="label", max_depth=9, num_threads=2, validation_ratio=0.0, max_vocab_count=-1)
    theirs, fitted = best(lambda: learner.train(table), 1), learner.train(table)
    accuracy = f"training accuracy {tree.score(frame, y):.4f} against {fitted.evaluate(table).accuracy:.4f}"
    yield Row("mixed table, 1M×20, depth 8", "YDF, CART", theirs, ours, 10, accuracy)


def _boosted(X, y):
    import lightgbm

    options = {"objective": "binary", "num_leaves": 256, "max_depth": 8, "learning_rate": 1.0, "verbose": -1}
    options |= {"min_data_in_leaf": 1, "num_threads": 2}
    return lightgbm.train(options, lightgbm.Dataset(X, np.asarray(y, int), params={"verbose": -1}), 1)


WORKLOADS = [
    numeric,
    mixed_table,
    pruning,
    growth,
    memory,
    cost_growth,
    many_classes,
    many_levels,
    classes_of_algorithms,
    multiway_numbers,
    chaid,
    small_chaid,
]
