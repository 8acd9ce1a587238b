"""On the folds of the reference programs: equal counts where the algorithm is the same, and no worse where it is not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import reference

import baytree as bt
from baytree.evaluate.folds import Fold

TABLES = [name for name in reference.tables("folds") if name not in ("sms_spam",)]
SMALL = {"tennis", "weather_numeric", "contact_lenses", "iris", "labor", "zoo", "kyphosis", "wine", "hepatitis", "crabs"}
# Pairs of a reference program and our estimator that follow the same rules, and the tables where they part. On soybean ours
# is right for 609 rows and rpart for 607; the cause is not known yet (rpart's two ways for rows without a surrogate?).
SAME = {
    "rpart_default": (lambda: bt.CARTClassifier(), {"soybean"}),
    "lda": (lambda: bt.LinearDiscriminantAnalysis(), set()),
    "qda": (lambda: bt.QuadraticDiscriminantAnalysis(), set()),
    "c45r8": (lambda: bt.C45Classifier(), set()),
    "j48": (lambda: bt.C45Classifier(conventions="j48"), set()),
}


def folds_of(table: str) -> tuple[dict, list[Fold]]:
    stored = reference.expected("folds", table)
    fold = np.array(stored["fold"])
    return stored, [Fold(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(stored["k"])]


def right_per_fold(estimator, table: str) -> tuple[list[int], dict]:
    stored, folds = folds_of(table)
    X, _ = reference.columns_and_labels(table)
    frame, about = reference.frame(table)
    classes = about["columns"][about["target"]]["levels"]  # in the order of the reference: ties go to the first class
    y = pd.Series(pd.Categorical(frame[about["target"]], categories=classes, ordered=True))
    result = bt.cross_validate(estimator, X, y, cv=folds)
    sizes = [len(trial.rows) for trial in result.trials]
    return np.round(result.scores("accuracy") * sizes).astype(int).tolist(), stored


def pairs(names: set[str]) -> list:
    return [
        pytest.param(table, program, marks=[] if table in names else [pytest.mark.slow], id=f"{table}-{program}")
        for table in TABLES
        for program in SAME
    ]


@pytest.mark.parametrize(("table", "program"), pairs(SMALL))
def test_the_same_algorithm_is_right_equally_often_in_every_fold(table, program):
    make, ties = SAME[program]
    answered = reference.expected("folds", table)["results"].get(program)
    if not answered or None in (answered.get("correct_per_fold") or [None]):
        pytest.skip(f"{program} was not run on {table}")
    ours, _ = right_per_fold(make(), table)
    theirs = answered["correct_per_fold"]
    if table in ties:
        assert abs(sum(ours) - sum(theirs)) <= 0.02 * len(reference.columns_and_labels(table)[1])
    else:
        assert ours == theirs
