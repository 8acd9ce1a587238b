"""Linear models beside scikit-learn, to the same optimum: each row notes how far our objective lies above theirs.

A peer that stops short of the optimum is told by a negative number; its time is then less than it would need.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import baytree as bt
from choose import census
from harness import Row, best, in_turn, processor
from tables import documents, measured, numbers


def discriminant() -> Iterator[Row]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = numbers(200_000, 100, 5)
    seconds = best(lambda: bt.LinearDiscriminantAnalysis().fit(X, y), 5)
    for solver in ("lsqr", "svd"):  # "eigen" refuses this table: some of its columns follow from others
        theirs = best(lambda solver=solver: LinearDiscriminantAnalysis(solver=solver).fit(X, y), 2)
        yield Row("LDA 200k×100, 5 classes", f"scikit-learn {solver}", theirs, seconds, 3)
    yield Row("LDA 200k×100, 5 classes", "one X.T @ X", best(lambda: X.T @ X, 5), seconds, 0.5)


def regression() -> Iterator[Row]:
    from sklearn.linear_model import LassoCV, LinearRegression

    X, y = measured(1_000_000, 50)
    seconds = best(lambda: bt.LinearRegression().fit(X, y), 5)
    yield Row("least squares 1M×50", "scikit-learn", best(lambda: LinearRegression().fit(X, y), 1), seconds, 3)
    X, y = measured(200_000, 50)
    seconds = best(lambda: bt.LinearRegressionCV(penalty="l1").fit(X, y), 2)
    theirs = best(lambda: LassoCV(alphas=100, cv=10, tol=1e-8).fit(X, y), 1)
    yield Row("lasso 100 λ × 10 folds, 200k×50", "scikit-learn", theirs, seconds, 4)


def least_squares() -> Iterator[Row]:
    from threadpoolctl import threadpool_limits

    X, y = measured(500_000, 50)
    with threadpool_limits(1):
        product = processor(lambda: X.T @ X, 7)
        seconds = processor(lambda: bt.LinearRegression(n_jobs=1).fit(X, y), 7)
    yield Row("least squares 500k×50, one thread", "one X.T @ X, processor time", product, seconds, 0.75)


def logistic() -> Iterator[Row]:
    from sklearn.linear_model import LogisticRegression

    X, y = _standard(*numbers(200_000, 50, 2))
    ours = bt.LogisticRegression(standardize=False)
    seconds = best(lambda: ours.fit(X, y), 3)
    for solver in ("lbfgs", "newton-cholesky"):
        theirs = LogisticRegression(solver=solver, tol=1e-8, max_iter=1000)
        time = best(lambda theirs=theirs: theirs.fit(X, y), 2)
        yield Row("logistic L2 200k×50", f"scikit-learn {solver}", time, seconds, 2, _apart(ours, theirs, X, y, 1.0, 0))


def chosen() -> Iterator[Row]:
    from sklearn.linear_model import LogisticRegressionCV

    X, y = _standard(*numbers(200_000, 50, 2))
    seconds = best(lambda: bt.LogisticRegressionCV(Cs=10, cv=5).fit(X, y), 2)
    for solver in ("newton-cholesky", "lbfgs"):
        theirs = LogisticRegressionCV(Cs=10, cv=5, solver=solver, tol=1e-6, max_iter=1000)
        time = best(lambda theirs=theirs: theirs.fit(X, y), 1)
        yield Row("logistic 10 C × 5 folds, 200k×50", f"scikit-learn {solver}", time, seconds, 4)


def chosen_levels() -> Iterator[Row]:
    """A census, about a hundred features of which fourteen are not 0 in a row, beside glmnet on the encoded matrix."""
    table = census(30_000)
    features = pd.get_dummies(table.drop(columns="income"), dummy_na=False, drop_first=True)
    y = (table["income"] == "above").to_numpy(np.float64)
    for penalty, alpha in (("l2", 0), ("l1", 1)):
        ours = bt.LogisticRegressionCV(Cs=10, cv=5, penalty=penalty, n_jobs=1)
        seconds = processor(lambda ours=ours: ours.fit(table, "income"), 3)
        theirs = _glmnet(features.to_numpy(np.float64), y, alpha)
        name = f"logistic {penalty.upper()} 10 C × 5 folds, 30k×{features.shape[1]} of 14 columns"
        yield Row(name, "cv.glmnet, processor time", theirs, seconds, 1, "encoding included in ours")


def _glmnet(X: np.ndarray, y: np.ndarray, alpha: float) -> float:
    """The processor time of R's cv.glmnet, at the same strengths."""
    with tempfile.TemporaryDirectory() as folder:
        X.T.tofile(f"{folder}/x")
        y.tofile(f"{folder}/y")
        code = f"""
        library(glmnet); n <- {len(y)}; p <- {X.shape[1]}
        x <- matrix(readBin("{folder}/x", "double", n * p), n, p); y <- readBin("{folder}/y", "double", n)
        lambda <- sort(1 / (n * 10^seq(-4, 4, length.out = 10)), decreasing = TRUE)
        t <- system.time(cv.glmnet(x, y, family = "binomial", alpha = {alpha}, lambda = lambda, nfolds = 5, thresh = 1e-10))
        cat(t[["user.self"]] + t[["sys.self"]])
        """
        told = subprocess.run(["Rscript", "-e", code], capture_output=True, check=True, text=True).stdout
    return float(told.split()[-1])


def lasso() -> Iterator[Row]:
    from sklearn.linear_model import LogisticRegression

    X, y = _standard(*numbers(200_000, 50, 2))
    ours = bt.LogisticRegression(penalty="l1", C=0.01, standardize=False)
    seconds = best(lambda: ours.fit(X, y), 3)
    for solver in ("liblinear", "saga"):
        theirs = LogisticRegression(solver=solver, penalty="l1", C=0.01, tol=1e-6, max_iter=1000)
        time = best(lambda theirs=theirs: theirs.fit(X, y), 1)
        note = _apart(ours, theirs, X, y, 0.01, 1)
        yield Row("logistic L1 200k×50", f"scikit-learn {solver}", time, seconds, 5, note)


def _counted_words() -> tuple[Any, np.ndarray]:
    from sklearn.feature_extraction.text import CountVectorizer

    texts, y = documents()
    return CountVectorizer().fit_transform(texts).astype(np.float64), y


def words_l2() -> Iterator[Row]:
    """Both with one tolerance, of the same thing: the largest derivative of the mean loss with its penalty."""
    from sklearn.linear_model import LogisticRegression

    X, y = _counted_words()
    for tol in (1e-4, 1e-6, 1e-8):  # scikit-learn's own is the first; the last one reaches the optimum
        theirs = LogisticRegression(tol=tol, max_iter=2000)
        ours = bt.LogisticRegression(standardize=False, tol=tol)
        time, seconds = in_turn(lambda theirs=theirs: theirs.fit(X, y), lambda ours=ours: ours.fit(X, y), 2)
        steps = f"{theirs.n_iter_[0]} steps against {ours.n_iter_[0]}"
        note = f"objective {_distance(ours, theirs, X, y, 1.0, 0):+.1e}; {steps}; limit: two reads of 4.7M entries for each"
        yield Row("logistic L2, 50,000 documents", f"lbfgs, tol {tol:g}, processor time", time, seconds, 2, note)


def words_l1() -> Iterator[Row]:
    from sklearn.linear_model import LogisticRegression

    X, y = _counted_words()
    ours = bt.LogisticRegression(penalty="l1", C=0.1, standardize=False)
    seconds = best(lambda: ours.fit(X, y), 2)
    theirs = LogisticRegression(C=0.1, penalty="l1", solver="saga", max_iter=100)
    time = best(lambda: theirs.fit(X, y), 1)
    yield Row("logistic L1, 50,000 documents", "saga, 100 rounds", time, seconds, 10, _apart(ours, theirs, X, y, 0.1, 1))


def _standard(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def _apart(ours: object, theirs: object, X: np.ndarray, y: np.ndarray, C: float, l1: float) -> str:
    """How far our objective lies above theirs in words: above 1e-8 is not the same optimum."""
    apart = _distance(ours, theirs, X, y, C, l1)
    return f"objective {apart:+.1e}" + (" NOT THE SAME OPTIMUM" if apart > 1e-8 else "")


def _distance(ours: object, theirs: object, X: np.ndarray, y: np.ndarray, C: float, l1: float) -> float:
    """How far our objective lies above theirs, relative; below 0 is better."""
    mine, other = (_objective(model, X, y, C, l1) for model in (ours, theirs))
    return (mine - other) / abs(other)


def _objective(model: object, X: np.ndarray, y: np.ndarray, C: float, l1: float) -> float:
    score = X @ model.coef_.T + model.intercept_
    if score.shape[1] == 1:
        score = np.hstack([np.zeros_like(score), score])
    score = score - score.max(axis=1, keepdims=True)
    own = score[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    loss = (np.log(np.exp(score).sum(axis=1)) - own).sum()
    size = np.abs(model.coef_).sum() if l1 else (model.coef_**2).sum() / 2
    return float(C * loss + size)


WORKLOADS = [discriminant, regression, least_squares, logistic, chosen, chosen_levels, lasso, words_l2, words_l1]
