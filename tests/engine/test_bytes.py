"""Rows stay where they are: what moves between machines is counted, on Dask by its workers, on Spark by what comes here."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt

ROWS = 50_000 * 6 * 9 * 8  # bytes of the table
WORK = {  # and the most that may move, as a share of the table: a fit also brings the profile of each piece
    "naive Bayes": (lambda rows: bt.NaiveBayesClassifier().fit(rows, "y"), 0.2),
    "linear discriminant": (lambda rows: bt.LinearDiscriminantAnalysis().fit(rows, "y"), 0.2),
    "logistic regression": (lambda rows: bt.LogisticRegression().fit(rows, "y"), 0.2),
    "tree": (lambda rows: bt.DecisionTreeClassifier(max_depth=2).fit(rows, "y"), 0.3),
    "ranking": (lambda rows: bt.rank_features(rows, "y"), 0.1),
    "verdict": (lambda rows: bt.evaluate(MODEL, rows), 0.2),
    "folds": (lambda rows: bt.cross_validate(bt.NaiveBayesClassifier(), rows, "y", cv=3), 0.6),  # labels and answers
}


def made(k: int) -> pd.DataFrame:
    r = np.random.default_rng(k)
    frame = pd.DataFrame(r.normal(size=(50_000, 8)).round(2), columns=[f"x{j}" for j in range(8)])
    return frame.assign(y=(frame["x0"] + frame["x1"] + r.normal(size=50_000) > 0).astype(int))


MODEL = bt.DecisionTreeClassifier(max_depth=3).fit(made(99), "y")


@pytest.mark.dask
@pytest.mark.parametrize("name", WORK)
def test_on_dask_statistics_move_and_rows_stay(name, client):
    import dask.dataframe as dd

    def sent() -> int:
        return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())

    work, share = WORK[name]
    frame, before = dd.from_map(made, range(6), meta=made(0).iloc[:0]), sent()
    work(frame)
    assert sent() - before < share * ROWS


@pytest.mark.spark
@pytest.mark.parametrize("name", WORK)
def test_on_spark_statistics_come_here_and_rows_stay(name, spark_session, tmp_path, monkeypatch):
    from baytree.engine import spark

    for k in range(6):
        made(k).to_parquet(tmp_path / f"{k}.parquet")
    came, brought = [], spark.combine_results
    monkeypatch.setattr(
        spark, "combine_results", lambda answers: came.append(sum(len(sent) for *_, sent in answers)) or brought(answers)
    )
    work, share = WORK[name]
    work(spark_session.read.parquet(str(tmp_path)))
    assert 0 < sum(came) < share * ROWS
