"""On Spark: large answers are added up in two steps, and an error in a block is one error."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.engine import spark as engine
from baytree.engine.blocks import BlockInspection
from baytree.engine.worker_results import TableList
from baytree.storage import dumps
from remote_tables import on_spark

pytestmark = pytest.mark.spark


@pytest.fixture
def packs(spark_session, table, tmp_path):
    source = engine.SparkFrame(on_spark(spark_session, table.drop("w"), tmp_path, 9))
    found, _ = source.pack_blocks(lambda frame, place: (place.encode() * (len(frame) > 0), BlockInspection(place)))
    return found


@pytest.fixture
def blocks():
    """What is made of a block: its place. Made here, because workers do not know this file."""
    return lambda content: TableList((bytes(content).decode(),))


def test_large_answers_are_added_up_in_two_steps_and_each_piece_counts_once(packs, blocks, monkeypatch):
    brought = []
    monkeypatch.setattr(
        engine, "combine_results", lambda answers, add=engine.combine_results: brought.append(len(answers)) or add(answers)
    )
    at_once = packs.map_reduce(blocks)
    monkeypatch.setattr(engine, "MAX_GATHERED_BYTES", 100)
    in_two_steps = [packs.map_reduce(blocks) for _ in range(2)]
    assert brought[0] == packs.n_parts
    assert max(brought[1:]) <= -(-packs.n_parts // 2)
    assert [sorted(each.tables) for each in in_two_steps] == [sorted(at_once.tables)] * 2
    assert len(set(at_once.tables)) == len(at_once.tables) == packs.n_parts


def test_the_number_of_partitions_does_not_matter_where_large_answers_are_added_up_in_two_steps(
    spark_session, table, tmp_path, monkeypatch
):
    """Sums of neighbouring partitions come in any order, and the fold of a row hangs on its place."""
    monkeypatch.setattr(engine, "MAX_GATHERED_BYTES", 100)
    rows = pl.concat([table.drop("w")] * 40)  # more than are gathered for a node
    cart = bt.CARTClassifier(cp=0.001, pruning="1se", max_surrogates=0)
    there = on_spark(spark_session, rows, tmp_path, 13)
    assert dumps(cart.fit(there, "y")) == dumps(bt.CARTClassifier(cp=0.001, pruning="1se", max_surrogates=0).fit(rows, "y"))
    here, there = (bt.cross_validate(bt.NaiveBayesClassifier(), each, "y", cv=4) for each in (rows, there))
    assert str(here) == str(there)
    assert all(np.array_equal(a.answer, b.answer) for a, b in zip(here.trials, there.trials, strict=True))


def test_what_was_large_is_not_worked_out_twice_in_the_next_round(packs, blocks, monkeypatch):
    asked = []
    monkeypatch.setattr(engine, "MAX_GATHERED_BYTES", 100)
    mapped = engine.CachedBlocks._map_blocks
    recorded = lambda self, *given: asked.append(given[1]) or mapped(self, *given)  # noqa: E731
    monkeypatch.setattr(engine.CachedBlocks, "_map_blocks", recorded)
    for _ in range(3):
        packs.map_reduce(blocks)
    assert [most is None for most in asked] == [False, True, True, True]


def test_a_block_whose_file_is_gone_is_handed_to_the_worker_again_and_kept(packs, blocks):
    from pyspark import SparkFiles

    before = packs.map_reduce(blocks)
    folder = Path(SparkFiles.getRootDirectory()) / "baytree-blocks"
    files = [folder / row.file_name for row in packs.blocks.select("file_name").collect()]
    assert len(files) == packs.n_parts
    for file in files[::2]:
        file.unlink()
    assert [packs.map_reduce(blocks), packs.gather(blocks)] == [before] * 2
    assert all(file.exists() for file in files)


def test_an_error_in_a_block_is_one_error_and_the_session_goes_on(spark_session, table, tmp_path):
    from pyspark.sql import functions

    rows = on_spark(spark_session, table.drop("w"), tmp_path, 3)
    spoilt = rows.withColumn("age", functions.when(rows.width > 3, float("inf")).otherwise(rows.age))
    with pytest.raises(ValueError, match=r"^partition \d, block 0: column 'age', row \d+: ") as told:
        bt.LinearDiscriminantAnalysis().fit(spoilt, "y")
    assert len(str(told.value)) < 300
    assert np.isfinite(bt.LinearDiscriminantAnalysis().fit(rows, "y").coef_).all()


def test_a_round_over_blocks_of_one_executor_takes_as_many_tasks_as_run_at_a_time(packs, blocks, spark_session):
    at_a_time = spark_session.sparkContext.defaultParallelism
    assert packs.n_parts > at_a_time
    assert packs._map_blocks(blocks, None, "file_name").rdd.getNumPartitions() == at_a_time
    assert packs._map_blocks(blocks, None, "content").rdd.getNumPartitions() >= packs.n_parts


def test_blocks_that_several_executors_keep_stay_where_they_are(packs):
    source = engine.SparkFrame(packs.blocks)
    assert source._n_tasks(["a-1", "b-2", "b-3"]) >= 3
    assert source._n_tasks(["a-1", None]) is None
