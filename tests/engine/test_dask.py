"""On a cluster of Dask: a lost worker changes nothing, an error is one error, and rows stay where they are."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import baytree as bt
from baytree.storage import dumps
from remote_tables import on_dask, written

pytestmark = pytest.mark.dask


@pytest.mark.parametrize("moment", [0.3, 1.0])
def test_a_killed_worker_changes_no_bit(moment, client, table, tmp_path):
    import dask.dataframe as dd
    import pandas as pd

    def slowly(path):
        time.sleep(0.2)
        return pd.read_parquet(path)

    rows = table.drop("w")
    paths = sorted(map(str, written(rows, tmp_path, 8).glob("*.parquet")))
    frame = dd.from_map(slowly, paths, meta=pd.read_parquet(paths[0]).iloc[:0])
    victim = sorted(client.run(os.getpid).values())[0]
    timer = threading.Timer(moment, os.kill, (victim, signal.SIGKILL))
    timer.start()
    there = bt.NaiveBayesClassifier().fit(frame, "y")
    timer.join()
    client.cluster.scale(2)  # a worker whose nanny gave up is replaced, too
    client.wait_for_workers(2, timeout=120)
    assert dumps(there) == dumps(bt.NaiveBayesClassifier().fit(rows, "y"))


def test_an_error_in_a_partition_is_one_error_and_the_cluster_goes_on(client, table, tmp_path):
    spoilt = on_dask(table.drop("w"), tmp_path, 4).map_partitions(
        lambda part, partition_info=None: part.assign(age=np.inf) if (partition_info or {}).get("number") == 2 else part
    )
    with pytest.raises(ValueError, match="partition 2: column 'age', row 0"):
        bt.NaiveBayesClassifier().fit(spoilt, "y")
    assert client.submit(sum, [1, 2]).result() == 3


def pieces_on(frame):
    import dask

    from baytree.engine.dask import collect_blocks

    return collect_blocks(dask.persist(*frame.to_delayed()))


def test_a_round_is_a_task_for_each_worker_that_holds_pieces(client, table, tmp_path, monkeypatch):
    from baytree.engine import dask as engine
    from baytree.engine.worker_results import TableList

    packs = pieces_on(on_dask(table, tmp_path, 6))
    held = {piece.key: holders for piece, holders in zip(packs.blocks, client.who_has(packs.blocks).values(), strict=True)}
    sent = []
    submit = engine.WorkerBlocks._submit_task
    recorded = lambda self, *given, **at: sent.append(at) or submit(self, *given, **at)  # noqa: E731
    monkeypatch.setattr(engine.WorkerBlocks, "_submit_task", recorded)
    assert len(packs.sum(lambda piece: TableList((len(piece),))).tables) == 6
    assert len(sent) == len({next(iter(holders)) for holders in held.values()}) <= 2


@pytest.mark.usefixtures("client")
def test_answers_are_added_in_the_order_of_the_pieces_whoever_held_them(table, tmp_path, monkeypatch):
    from baytree.engine import dask as engine
    from baytree.engine.worker_results import TableList

    rows = on_dask(table, tmp_path, 6)
    packs = pieces_on(rows)
    monkeypatch.setattr(engine.WorkerBlocks, "_query_locations", lambda _: [(None, [5, 0, 3]), (None, [4, 2, 1])])
    found = packs.sum(lambda piece: TableList((len(piece),))).tables
    assert found == tuple(rows.map_partitions(len).compute())


@pytest.mark.usefixtures("client")
def test_rows_keep_their_order_where_workers_add_up_large_answers(table, tmp_path, monkeypatch):
    from baytree.engine import dask as engine

    monkeypatch.setattr(engine, "MAX_GATHERED_BYTES", 100)
    monkeypatch.setattr(engine.WorkerBlocks, "_query_locations", lambda _: [(None, [5, 0, 3]), (None, [4, 2, 1])])
    rows = table.drop("w")
    there = on_dask(rows, tmp_path, 6)
    here, there_too = (bt.cross_validate(bt.NaiveBayesClassifier(), each, "y", cv=4) for each in (rows, there))
    assert str(here) == str(there_too)
    assert all(np.array_equal(a.answer, b.answer) for a, b in zip(here.trials, there_too.trials, strict=True))
    assert dumps(bt.C50Classifier().fit(there, "y")) == dumps(bt.C50Classifier().fit(rows, "y"))  # gathers the rows


def test_a_work_that_is_large_travels_once(client, table, tmp_path, monkeypatch):
    from baytree.engine.worker_results import TableList

    packs, large, sent = pieces_on(on_dask(table, tmp_path, 4)), np.arange(100_000), []
    submit = client.submit
    monkeypatch.setattr(client, "submit", lambda *given, **how: sent.append(given) or submit(*given, **how))
    total = packs.sum(lambda piece: TableList((len(piece) + int(large[-1]) * 0,)))
    assert sum(total.tables) == len(table)
    assert [len(given[1]) > 700_000 for given in sent if isinstance(given[1], bytes)] == [True]
