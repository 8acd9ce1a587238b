"""Linear models beside scikit-learn, to the same optimum: each row notes how far apart the objectives are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import baytree as bt
from harness import Row, best
from tables import numbers


def discriminant() -> Iterator[Row]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = numbers(200_000, 100, 5)
    seconds = best(lambda: bt.LinearDiscriminantAnalysis().fit(X, y), 5)
    theirs = best(lambda: LinearDiscriminantAnalysis(solver="lsqr").fit(X, y), 2)
    yield Row("LDA 200k×100, 5 classes", "scikit-learn lsqr", theirs, seconds, 3)
    yield Row("LDA 200k×100, 5 classes", "one X.T @ X", best(lambda: X.T @ X, 5), seconds, 0.5)


def logistic() -> Iterator[Row]:
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

    X, y = _standard(*numbers(200_000, 50, 2))
    ours = bt.LogisticRegression(standardize=False)
    seconds = best(lambda: ours.fit(X, y), 3)
    for solver in ("lbfgs", "newton-cholesky"):
        theirs = LogisticRegression(solver=solver, tol=1e-8, max_iter=1000)
        time = best(lambda theirs=theirs: theirs.fit(X, y), 2)
        yield Row("logistic L2 200k×50", f"scikit-learn {solver}", time, seconds, 2, _apart(ours, theirs, X, y, 1.0, 0))
    theirs = LogisticRegressionCV(Cs=10, cv=5, solver="newton-cholesky", tol=1e-6)
    seconds = best(lambda: bt.LogisticRegressionCV(Cs=10, cv=5).fit(X, y), 1)
    time = best(lambda: theirs.fit(X, y), 1)
    yield Row("logistic 10 C × 5 folds, 200k×50", "scikit-learn newton-cholesky", time, seconds, 4)


def lasso() -> Iterator[Row]:
    from sklearn.linear_model import LogisticRegression

    X, y = _standard(*numbers(200_000, 50, 2))
    ours = bt.LogisticRegression(penalty="l1", C=0.01, standardize=False)
    theirs = LogisticRegression(solver="liblinear", penalty="l1", C=0.01, tol=1e-6)
    seconds = best(lambda: ours.fit(X, y), 2)
    time = best(lambda: theirs.fit(X, y), 1)
    yield Row("logistic L1 200k×50", "scikit-learn liblinear", time, seconds, 5, _apart(ours, theirs, X, y, 0.01, 1))


def _standard(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def _apart(ours: object, theirs: object, X: np.ndarray, y: np.ndarray, C: float, l1: float) -> str:
    """How far our objective lies above theirs, relative; below 0 is better."""
    mine, other = (_objective(model, X, y, C, l1) for model in (ours, theirs))
    return f"objective {(mine - other) / abs(other):+.1e}"


def _objective(model: object, X: np.ndarray, y: np.ndarray, C: float, l1: float) -> float:
    score = X @ model.coef_[0] + model.intercept_[0]
    loss = np.logaddexp(0.0, np.where(y == model.classes_[1], -score, score)).sum()
    size = np.abs(model.coef_).sum() if l1 else (model.coef_**2).sum() / 2
    return float(C * loss + size)


WORKLOADS = [discriminant, logistic, lasso]
