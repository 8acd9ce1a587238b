"""On a cluster of Dask: a lost worker changes nothing, an error is one error, and rows stay where they are."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import baytree as bt
from baytree.storage import dumps
from conftest import on_dask, written

pytestmark = pytest.mark.dask


def test_a_killed_worker_changes_no_bit(client, table, tmp_path):
    import dask.dataframe as dd
    import pandas as pd

    def slowly(path):
        time.sleep(0.2)
        return pd.read_parquet(path)

    rows = table.drop("w")
    paths = sorted(map(str, written(rows, tmp_path, 8).glob("*.parquet")))
    frame = dd.from_map(slowly, paths, meta=pd.read_parquet(paths[0]).iloc[:0])
    victim = sorted(client.run(os.getpid).values())[0]
    timer = threading.Timer(0.6, os.kill, (victim, signal.SIGKILL))
    timer.start()
    there = bt.NaiveBayesClassifier().fit(frame, "y")
    timer.join()
    client.wait_for_workers(2, timeout=60)
    assert dumps(there) == dumps(bt.NaiveBayesClassifier().fit(rows, "y"))


def test_an_error_in_a_partition_is_one_error_and_the_cluster_goes_on(client, table, tmp_path):
    spoilt = on_dask(table.drop("w"), tmp_path, 4).map_partitions(
        lambda part, partition_info=None: part.assign(age=np.inf) if (partition_info or {}).get("number") == 2 else part
    )
    with pytest.raises(ValueError, match="partition 2: column 'age', row 0"):
        bt.NaiveBayesClassifier().fit(spoilt, "y")
    assert client.submit(sum, [1, 2]).result() == 3


def test_rows_stay_on_the_workers(client):
    import dask.dataframe as dd
    import pandas as pd

    def made(k):
        r = np.random.default_rng(k)
        return pd.DataFrame(r.normal(size=(50_000, 8)), columns=[f"x{j}" for j in range(8)]).assign(
            y=r.integers(0, 2, 50_000)
        )

    def sent():
        return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())

    frame, before = dd.from_map(made, range(6), meta=made(0).iloc[:0]), sent()
    bt.NaiveBayesClassifier().fit(frame, "y")
    assert sent() - before < 2_000_000  # of 19,200,000 that the rows take
