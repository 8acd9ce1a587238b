"""Learns on a cluster of Dask on this machine: python examples/on_dask.py, after pip install 'baytree[dask]'."""

import tempfile
from pathlib import Path

import dask.dataframe as dd
from dask.distributed import Client, LocalCluster

import baytree as bt


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    frame = bt.datasets.load("titanic")
    for k in range(4):
        frame[k::4].to_parquet(folder / f"part-{k}.parquet")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        rows = dd.read_parquet(folder / "*.parquet")  # never in memory as a whole
        model = bt.DecisionTreeClassifier(max_depth=3).fit(rows, "survived")
        print(model)
        print(f"accuracy {model.score(rows, 'survived'):.3f}")
        print(model.predict(rows).head())  # a lazy series


if __name__ == "__main__":  # workers are processes that read this file, too
    main()
