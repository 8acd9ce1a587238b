"""Streaming trees learn rows of every engine in their order, without all of them in memory."""

import polars as pl
import pytest

import baytree as bt
from baytree.engine import remote
from baytree.storage import dumps
from remote_tables import on_disk

LEAVES = ["counts", "adaptive"]


@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("weights", [None, "w"])
def test_the_tree_of_a_stream_is_that_of_memory_whatever_the_pieces(place, table, leaves, weights):
    rows = table if weights else table.drop("w")
    model = bt.StreamingTreeClassifier(leaves=leaves, grace=50, profile=False, schema={"colour": "nominal"})
    here = dumps(model.fit(rows, "y", sample_weight=weights))
    for pieces in (1, 3, 7):
        assert dumps(model.fit(place(rows, pieces), "y", sample_weight=weights)) == here
    assert model.n_leaves_ > 1 or leaves == "adaptive"


@pytest.mark.parametrize("leaves", LEAVES)
def test_a_table_above_the_memory_budget_is_streamed(place, table, leaves, monkeypatch):
    if place(table) is table:
        pytest.skip("rows in memory are there already")
    rows = table.drop("w")
    model = bt.StreamingTreeClassifier(leaves=leaves, grace=50, profile=False)
    here = dumps(model.fit(rows, "y"))
    source = place(rows, 7)
    monkeypatch.setattr(
        remote, "PEAK_MEMORY_FACTOR", 3 * 2**31 // 20_000
    )  # as if the default budget were far below the table
    with pytest.raises(ValueError, match="this needs all rows in memory"):
        bt.CARTClassifier().fit(source, "y")
    assert dumps(model.fit(source, "y")) == here


def test_a_scan_reads_each_block_once(table, tmp_path, monkeypatch):
    rows = pl.concat([table.drop("w")] * 20)
    on_disk(rows, tmp_path, 5)
    source = bt.scan(next(tmp_path.rglob("*.parquet")).parent / "*.parquet", memory="1MB")
    with pytest.raises(ValueError, match="this needs all rows in memory"):
        bt.CARTClassifier().fit(source, "y")
    selected = []
    select = remote._select_rows
    monkeypatch.setattr(remote, "_select_rows", lambda *given: selected.append(select(*given)) or selected[-1])
    model = bt.StreamingTreeClassifier().fit(source, "y")
    n_rows = [len(part) for parts in selected for part in parts.tables]
    assert sum(n_rows) == model.n_seen_ == len(rows)
    assert max(n_rows) < len(rows)
    assert model.n_leaves_ > 1


def test_blocks_that_are_elsewhere_are_brought_by_ranges_of_rows(table, tmp_path, monkeypatch):
    rows = pl.concat([table.drop("w")] * 20)
    on_disk(rows, tmp_path, 5)
    source = bt.scan(next(tmp_path.rglob("*.parquet")).parent / "*.parquet", memory="1MB")
    model = bt.StreamingTreeClassifier(profile=False)
    here, gathered = dumps(model.fit(source, "y")), []
    gather = remote.RemotePartitions.gather
    monkeypatch.setattr(remote, "StreamedBlocks", type("NoBlocks", (), {}))
    monkeypatch.setattr(remote.RemotePartitions, "gather", lambda *given: gathered.append(gather(*given)) or gathered[-1])
    assert dumps(model.fit(source, "y")) == here
    assert len(gathered) > 1
    assert sum(map(len, gathered)) == len(rows)
