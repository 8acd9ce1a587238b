"""Choosing beside its peers: information gain, forward selection, and a whole comparison."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import baytree as bt
from baytree.model_selection.model_registry import STRENGTHS
from harness import Row, best, processor


def filters() -> Iterator[Row]:
    from sklearn.datasets import make_classification
    from sklearn.feature_selection import mutual_info_classif

    X, y = make_classification(100_000, 50, n_informative=25, random_state=0, flip_y=0.05)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(50)]).assign(y=y.astype(str))
    seconds = best(lambda: bt.rank_features(frame, "y"), 3)
    peer = best(lambda: mutual_info_classif(X, y, n_jobs=2), 1)
    yield Row("information gain, 100k×50 numbers", "mutual_info_classif", peer, seconds, 50)


def wrapper() -> Iterator[Row]:
    from sklearn.datasets import make_classification
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.naive_bayes import GaussianNB

    X, y = make_classification(20_000, 60, n_informative=30, random_state=0, flip_y=0.05)
    ours = bt.ForwardSelection(bt.GaussianNB(), k=10, cv=5)
    theirs = SequentialFeatureSelector(GaussianNB(), n_features_to_select=10, cv=5, n_jobs=2)
    seconds, peer = best(lambda: ours.fit(X, y), 3), best(lambda: theirs.fit(X, y), 1)
    note = "same columns" if np.array_equal(ours.get_support(), theirs.get_support()) else "other columns"
    yield Row("forward selection, 10 of 60, 20k rows, 5 folds", "SequentialFeatureSelector", peer, seconds, 200, note)


def comparison() -> Iterator[Row]:
    table = census(32_000)
    seconds = best(lambda: bt.compare(table, "income"), 1)
    yield Row("compare, 32k×14 with missing values, 10 folds", "20 seconds", 20.0, seconds, 1)


BUDGETS = {"nursery": 30.0, "adult": 40.0}  # seconds of processor time: 15 and 20 s on two cores


def shared_tables() -> Iterator[Row]:
    """All models on tables outside the repository; a missing table is skipped."""
    from several_classes import SHARED

    for name, budget in BUDGETS.items():
        path = SHARED / "tables" / f"{name}.csv"
        if path.exists():
            frame, target = pd.read_csv(path), json.loads(path.with_suffix(".json").read_text())["target"]
            seconds = processor(lambda frame=frame, target=target: bt.compare(frame, target), 1)
            yield Row(f"compare, {name}, 10 folds", f"{budget:g} s of processor time", budget, seconds, 1)


COUNTERPARTS = ("nb", "cart", "lda", "qda", "logistic", "lasso")


def by_pipelines() -> Iterator[Row]:
    """What a comparison tries and scikit-learn has, too, on the same folds; fewer rows, since there it takes minutes."""
    table = census(4_000)
    X, y = table.drop(columns="income"), table["income"].to_numpy(str)
    peer = processor(lambda: [held_out(model, X, y) for model in pipelines(X)], 1)
    seconds = processor(lambda: bt.compare(table, "income", models=",".join(COUNTERPARTS)), 1)
    note = "processor time; " + ", ".join(COUNTERPARTS) + ": settings by 10 folds there, too, those of C by 5"
    yield Row("compare, 4k×14, 6 models, 10 folds", "scikit-learn's pipelines", peer, seconds, 10, note)


def held_out(model: Any, X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """The probabilities of rows left out, and a fit to all rows, which a comparison gives, too."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(10, shuffle=True, random_state=0)  # as `compare` deals them
    answers = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    model.fit(X, y)
    return answers


def pipelines(X: pd.DataFrame) -> list[Any]:
    """Models of a table of numbers and levels, as a user of scikit-learn writes them."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    alphas = {"ccp_alpha": [0.0, *np.geomspace(1e-5, 1e-2, 10)]}
    by_cv = {"Cs": list(STRENGTHS), "cv": 5, "scoring": "neg_log_loss", "max_iter": 100, "solver": "liblinear"}
    models = [
        (GaussianNB(), dense(X)),
        (GridSearchCV(DecisionTreeClassifier(random_state=0, min_samples_split=20), alphas, cv=10), ranked(X)),
        (LinearDiscriminantAnalysis(), dense(X)),
        (QuadraticDiscriminantAnalysis(reg_param=1e-3), dense(X)),
        (LogisticRegressionCV(**by_cv), dense(X)),
        (LogisticRegressionCV(**by_cv, l1_ratios=(1.0,)), dense(X)),
    ]
    return [make_pipeline(columns, model) for model, columns in models]


def dense(X: pd.DataFrame) -> Any:
    """Numbers in units of their deviation, an indicator for each level."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers, levels = X.select_dtypes("number").columns, X.select_dtypes(exclude="number").columns
    marks = make_pipeline(SimpleImputer(strategy="most_frequent", missing_values=None), encoder := OneHotEncoder())
    encoder.set_params(handle_unknown="ignore", drop="first", sparse_output=False)
    return ColumnTransformer([("n", make_pipeline(SimpleImputer(), StandardScaler()), numbers), ("l", marks, levels)])


def ranked(X: pd.DataFrame) -> Any:
    """Numbers as they are, levels as numbers."""
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OrdinalEncoder

    numbers, levels = X.select_dtypes("number").columns, X.select_dtypes(exclude="number").columns
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    return ColumnTransformer([("n", "passthrough", numbers), ("l", codes, levels)])


def small_comparisons() -> Iterator[Row]:
    for n_rows, n_columns in ((189, 8), (208, 60), (625, 4)):
        code = SMALL.format(n_rows=n_rows, n_columns=n_columns)
        command = [sys.executable, "-W", "ignore", "-c", code]
        seconds = best(lambda command=command: subprocess.run(command, check=True, env=compiled()), 3)
        yield Row(f"compare, {n_rows}×{n_columns}, 10 folds, import included", "3 seconds", 3.0, seconds, 1)


def compiled() -> dict[str, str]:
    """The surroundings of a process that keeps compiled modules, as those of an installed library are."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


SMALL = """
import numpy as np, baytree as bt
rng = np.random.default_rng(0)
x = rng.normal(size=({n_rows}, {n_columns})).round(2)
frame = {{f"x{{j}}": x[:, j] for j in range({n_columns})}}
frame["y"] = np.where(x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size={n_rows}) > 0, "a", "b")
bt.compare(frame, "y")
"""


def census(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """People as a census sees them, made up: six numbers, eight categories, values missing here and there."""
    rng = np.random.default_rng(seed)
    age = rng.integers(17, 90, n_rows)
    schooling = rng.integers(1, 17, n_rows)
    hours = np.clip(rng.normal(40, 12, n_rows).round(), 1, 99)
    gain = np.where(rng.random(n_rows) < 0.08, rng.lognormal(8, 1, n_rows).round(), 0.0)
    levels = {"work": 8, "marriage": 7, "occupation": 14, "kin": 6, "origin": 5, "sex": 2, "country": 41, "degree": 16}
    coded = {name: rng.zipf(1.6, n_rows) % n for name, n in levels.items()}
    score = 0.04 * (age - 40) - 0.0012 * (age - 45) ** 2 + 0.3 * (schooling - 10) + 0.03 * (hours - 40) + gain / 4000
    score += np.where(coded["marriage"] == 1, 1.2, -0.8) + 0.2 * (coded["occupation"] % 4) - 1
    income = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-score)), "above", "below")
    frame = pd.DataFrame({"age": age, "weight": rng.lognormal(12, 0.5, n_rows).round(), "schooling": schooling})
    frame = frame.assign(gain=gain, loss=np.where(rng.random(n_rows) < 0.05, 1900.0, 0.0), hours=hours)
    for name, codes in coded.items():
        frame[name] = pd.Series([f"{name} {code}" for code in codes], dtype=object)
    for name in ("work", "occupation", "country"):
        frame.loc[rng.random(n_rows) < 0.05, name] = None
    return frame.assign(income=income)


WORKLOADS = [shared_tables, filters, wrapper, comparison, by_pipelines, small_comparisons]
