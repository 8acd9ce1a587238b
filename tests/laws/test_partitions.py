"""Neither threads nor the borders of parts change a result, and what goes wrong in a thread reaches the caller."""

import os
import time
from itertools import pairwise
from threading import Event

import msgspec
import numpy as np
import pytest

import baytree as bt
from baytree import _warnings
from baytree.base.learner import ObservedStatistic
from baytree.engine.partitions import LocalPartitions
from baytree.parallel import threads
from killing import seconds_to_interrupt


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
def test_parts_are_added_in_their_order_whatever_the_threads(n_jobs):
    words = threads.map_ordered(lambda part: part + ".", ["a", "b", "c", "d", "e"], n_jobs)
    assert words == ["a.", "b.", "c.", "d.", "e."]


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_an_exception_in_a_thread_is_the_callers_exception(n_jobs):
    def fail(part):
        if part == 3:
            raise ZeroDivisionError("part 3")
        return part

    with pytest.raises(ZeroDivisionError, match="part 3"):
        threads.map_ordered(fail, [1, 2, 3, 4], n_jobs)


def test_pieces_of_pieces_never_wait_for_each_other():
    def outer(k):
        return sum(threads.map_ordered(lambda j: j * k, range(50), 2))

    assert threads.map_ordered(outer, range(8), 2) == [1225 * k for k in range(8)]


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_warning_in_a_thread_reaches_the_line_of_the_caller(n_jobs):
    with pytest.warns(_warnings.BaytreeWarning, match="piece 2") as told:
        threads.map_ordered(lambda k: _warnings.warn(f"piece {k}"), [1, 2], n_jobs)
    assert [warning.filename for warning in told] == [__file__, __file__]


@pytest.mark.parametrize("wrong", [0, 1.5, True, "two"])
def test_a_wrong_number_of_threads_is_refused(wrong):
    with pytest.raises(ValueError, match="n_jobs"):
        threads.count(wrong)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_is_answered_at_once():
    code = """
import numpy as np, baytree as bt
X = np.random.default_rng(0).normal(size=(200_000, 50)); y = np.arange(200_000) % 2
bt.NaiveBayesClassifier().fit(X[:100], y[:100])
print("ready", flush=True)
try:
    while True: bt.NaiveBayesClassifier().fit(X, y, sample_weight=np.full(len(y), 0.3))
except KeyboardInterrupt:
    import time; print("stopped", time.time(), flush=True)
    import os; os._exit(0)
"""
    assert seconds_to_interrupt(code, after=0.7) < 1.0  # 200 ms on an idle machine; no test asserts a tight time


SAID = {
    "said": ["sun and sea", "sea wind", "wind and rain", "rain rain snow", "sun again today", "cold grey snow"],
    "where": ["north", "south", "south", "east", "north", "west"],
    "height": [1.0, 2.5, np.nan, 4.0, 3.0, 9.0],
    "good": ["yes", "yes", "no", "no", "yes", "never"],
}


@pytest.mark.parametrize("borders", [(3,), (1, 2), (2, 4, 5), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize(
    "estimator",
    [
        bt.NaiveBayesClassifier(schema={"said": "text", "where": "nominal"}),
        bt.NaiveBayesClassifier(schema={"said": bt.Text(tfidf=True), "where": "nominal"}),
        bt.JointDistribution(schema={"said": "nominal", "where": "nominal", "height": "nominal"}),
    ],
    ids=["words", "words weighed by their rarity", "combinations"],
)
@pytest.mark.filterwarnings("ignore:.*miss(es)? a value")
def test_parts_that_know_only_their_own_words_levels_and_classes_add_up_to_the_whole(estimator, borders):
    whole = estimator.fit(SAID, "good")
    ends = [0, *borders, 6]
    parts = [{name: values[a:b] for name, values in SAID.items()} for a, b in pairwise(ends)]
    tables = [estimator._prepare_rows(part, "good", None).table for part in parts]
    learner = estimator._learner(tables[0].schema)
    seen = threads.sum_in_order(
        [ObservedStatistic(table.schema, learner.observe_all(LocalPartitions(table))) for table in tables]
    )
    assert (seen.schema.columns, seen.schema.target) == (whole.schema_.columns, whole.schema_.target)
    assert _written(seen.seen) == _written(whole.seen_)


def _written(statistic) -> bytes:
    return msgspec.json.encode(statistic, enc_hook=lambda array: array.tolist())


def test_the_number_of_threads_does_not_change_a_model():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200_000, 3)) * 1e6 + 1e9, rng.integers(0, 3, 200_000)
    seen = [bt.NaiveBayesClassifier(n_jobs=n).fit(X, y).seen_ for n in (1, 2, 5)]
    assert seen[0] == seen[1] == seen[2]


def test_work_under_way_learns_that_nobody_waits_for_it():
    has_begun, has_ended = Event(), Event()

    def work(piece: int) -> None:
        if piece == 0:
            assert has_begun.wait(30)  # else the other piece might never be begun
            raise ValueError("the first piece fails")
        has_begun.set()
        while not threads.is_cancelled():
            time.sleep(0.01)
        has_ended.set()

    with pytest.raises(ValueError, match="the first piece fails"):
        threads.map_ordered(work, [0, 1], 2)
    assert has_ended.wait(30)
