"""Logistic regression by cross-validation on tables of several classes and many levels, beside scikit-learn and glmnet.

The tables are outside the repository (`splice`, `nursery`, `adult`, `soybean`) or in R's mlbench (`letter`, `satellite`); a
missing table is skipped with a message. Every program chooses among the same ten C in five folds. Processor time; a peer is
stopped after `LIMIT` seconds, and its row says so. `python benchmarks/several_classes.py PEER TABLE PENALTY` times one peer.

The rows of L2 beside scikit-learn also say how far the two objectives are apart at the chosen C: the same features, weights
and penalty, scikit-learn's `newton-cholesky` with a tight tolerance. The peer `objective` prints the relative difference,
ours less theirs. At its default tolerance scikit-learn ends its search early; `sklearn tol=1e-7` is nearer to our 1e-8.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import baytree as bt
from baytree.linear.logistic.dense_block import DenseBlock
from baytree.linear.logistic.fit import fit_task
from baytree.linear.logistic.learner import _task
from baytree.linear.logistic.problem import penalty_of
from baytree.linear.logistic.rows import DenseRows
from harness import Row, processor

SHARED = Path(__file__).resolve().parents[2] / "shared"
FILES = {"splice": "tables", "nursery": "tables", "adult": "tables", "soybean": "oracles/data"}
MLBENCH = {"letter": ("LetterRecognition", "lettr"), "satellite": ("Satellite", "classes")}
LIMIT = 300  # seconds of a peer
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def several_classes() -> Iterator[Row]:
    for name in (*FILES, *MLBENCH):
        try:
            X, y = table(name)
        except (OSError, subprocess.CalledProcessError):
            print(f"{name}: not found, skipped", flush=True)
            continue
        for penalty in ("l2", "l1"):
            model = bt.LogisticRegressionCV(penalty=penalty, Cs=10, cv=5, n_jobs=1)
            seconds = processor(lambda model=model, X=X, y=y: model.fit(X, y), 2)
            workload = f"logistic {penalty.upper()} 10 C × 5 folds, {name}, {len(np.unique(y))} classes"
            for peer, goal in (("glmnet", 1), ("sklearn", 5), ("sklearn tol=1e-7", 5)):
                if peer != "glmnet" and penalty == "l1":
                    continue  # saga does not reach the optimum within the limit
                theirs, note = timed(peer, name, penalty)
                if peer == "sklearn":
                    note = f"{note}; {compared_objective(name)}"
                yield Row(workload, f"{peer}, processor time", theirs, seconds, goal, note)


def timed(peer: str, name: str, penalty: str) -> tuple[float, str]:
    """Processor time of a peer in a process of its own, or of its attempt, and a note.

    One thread, as ours: BLAS threads that wait for each other use processor time, on a busy machine several times the work.
    """
    command = [sys.executable, "-W", "ignore", __file__, peer, name, penalty]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=os.environ | ONE_THREAD)
    except subprocess.TimeoutExpired:
        return float(LIMIT), f"stopped after {LIMIT} s"
    if run.returncode:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime, "the peer does not converge on this grid; time of the attempt"
    return float(run.stdout.split()[-1]), "encoding included in ours"


def compared_objective(name: str) -> str:
    """The relative difference of the objectives as a note."""
    command = [sys.executable, "-W", "ignore", __file__, "objective", name, "l2"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"objective not compared within {LIMIT} s"
    return f"objective {run.stdout.split()[-1]} apart" if not run.returncode else "the peer finds no objective"


def objective_difference(X: pd.DataFrame, y: np.ndarray, _: str) -> str:
    """Difference of our objective and scikit-learn's at the chosen C, relative to theirs."""
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    C = bt.LogisticRegressionCV(Cs=10, cv=5, n_jobs=1).fit(X, y).C_
    ours = bt.LogisticRegression(C=C)
    rows = ours._prepare_rows(X, y, None).rows
    learner = ours._learner(rows.schema)
    task = _task(rows, learner.options, learner.class_weight)
    penalty = penalty_of(task, learner.options)
    fit = fit_task(task, learner.options, penalty)
    strength = penalty.ridge[:-1]
    if isinstance(task.rows, DenseRows):
        block = DenseBlock.joined(task.rows.pieces.gather())
        features = (block.x - task.rows.centre) / task.rows.scale / np.sqrt(strength)
    else:
        block = task.rows.gathered()
        x = csr_array((block.x.value, block.x.code, block.x.start), shape=(len(block), block.q))
        features = x[:, :-1].toarray() / np.sqrt(strength)
    peer = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-9, max_iter=1000)
    peer.fit(features, block.label, sample_weight=block.weight)
    theta = np.column_stack([peer.coef_ / np.sqrt(strength), peer.intercept_])
    objectives = [task.rows.loss_gradient(each).loss + penalty.cost(each) for each in (fit.theta, theta)]
    return f"{(objectives[0] - objectives[1]) / objectives[1]:.0e}"


def table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns without missing values, and the classes."""
    if name in MLBENCH:
        data, target = MLBENCH[name]
        code = f"library(mlbench); data({data}); write.csv({data}, row.names = FALSE)"
        output = subprocess.run(["Rscript", "-e", code], capture_output=True, check=True, text=True).stdout
        frame = pd.read_csv(pd.io.common.StringIO(output))
        return frame.drop(columns=target), frame[target].astype(str).to_numpy()
    folder = SHARED / FILES[name]
    description = json.loads((folder / f"{name}.json").read_text())
    kinds, target = {column: each["kind"] for column, each in description["columns"].items()}, description["target"]
    types = {column: "float64" if kind == "numeric" else "str" for column, kind in kinds.items()}
    frame = pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""], dtype=types)
    X, y = frame.drop(columns=target), frame[target].astype(str).to_numpy()
    numeric = X.columns[[kinds[column] == "numeric" for column in X]]
    X[numeric] = X[numeric].fillna(X[numeric].mean())
    return X.fillna("?"), y


def time_sklearn(X: pd.DataFrame, y: np.ndarray, _: str, tol: float = 1e-4) -> float:
    """Processor time of a fit. The default `tol` ends its search early; ours is 1e-8."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numeric = list(X.select_dtypes("number"))
    nominal = [column for column in X if column not in numeric]
    encode = make_column_transformer((StandardScaler(), numeric), (OneHotEncoder(drop="first"), nominal))
    given = {"Cs": 10, "cv": 5, "max_iter": 1000 if tol == 1e-4 else 20_000, "scoring": "neg_log_loss", "tol": tol}
    model = make_pipeline(encode, LogisticRegressionCV(**given))
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def time_glmnet(X: pd.DataFrame, y: np.ndarray, penalty: str) -> float:
    features = pd.get_dummies(X, drop_first=True).to_numpy(np.float64)
    family = "binomial" if len(np.unique(y)) == 2 else "multinomial"
    with tempfile.TemporaryDirectory() as folder:
        np.asfortranarray(features).T.tofile(f"{folder}/x")
        np.unique(y, return_inverse=True)[1].astype(np.float64).tofile(f"{folder}/y")
        code = f"""
        library(glmnet); n <- {len(y)}; p <- {features.shape[1]}
        x <- matrix(readBin("{folder}/x", "double", n * p), n, p); y <- readBin("{folder}/y", "double", n)
        lambda <- sort(1 / (n * 10^seq(-4, 4, length.out = 10)), decreasing = TRUE)
        alpha <- {int(penalty == "l1")}
        t <- system.time(cv.glmnet(x, y, family = "{family}", alpha = alpha, lambda = lambda, nfolds = 5, thresh = 1e-10))
        cat(t[["user.self"]] + t[["sys.self"]])
        """
        output = subprocess.run(["Rscript", "-e", code], capture_output=True, check=True, text=True).stdout
    return float(output.split()[-1])


WORKLOADS = [several_classes]

if __name__ == "__main__":
    peer, name, penalty = sys.argv[1:]
    peers = {
        "sklearn": time_sklearn,
        "sklearn tol=1e-7": partial(time_sklearn, tol=1e-7),
        "glmnet": time_glmnet,
        "objective": objective_difference,
    }
    print(peers[peer](*table(name), penalty))
