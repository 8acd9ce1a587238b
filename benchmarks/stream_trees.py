"""Trees that go on learning, beside river's, on its own streams: accuracy by test-then-train, and rows per second.

python benchmarks/stream_trees.py [stream ...]

Every column is taken as a number, as river takes it. A row (ours: a batch of 1,000) is answered before it is learnt; the
first 1,000 rows are not judged. Both have the same confidence, grace and tie, which are the defaults of both. Times are
processor time in one process. Writes STREAM_TREES.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from river import tree
from river.datasets import synth

import baytree as bt

HERE = Path(__file__).parent
N_ROWS, BATCH, FEW = 50_000, 1_000, 5_000
LEAVES = ("counts", "adaptive")
STREAMS = {
    "SEA, 10 % noise": lambda: synth.SEA(seed=1, noise=0.1),
    "Agrawal 0": lambda: synth.Agrawal(seed=1, classification_function=0),
    "Agrawal 6, perturbed": lambda: synth.Agrawal(seed=1, classification_function=6, perturbation=0.05),
    "random RBF, 4 classes": lambda: synth.RandomRBF(
        seed_model=1, seed_sample=1, n_classes=4, n_features=10, n_centroids=50
    ),
    "LED, 10 % noise": lambda: synth.LED(seed=1, noise_percentage=0.1),
    "hyperplane, drifting": lambda: synth.Hyperplane(seed=1, n_features=10, n_drift_features=2, mag_change=0.001),
}


class Result(NamedTuple):
    """How a learner fares on a stream."""

    accuracy: float
    speed: float  # rows per second of learning alone


class Stream(NamedTuple):
    """A stream as both want it."""

    rows: list[tuple[dict, Any]]
    X: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, name: str) -> Stream:
        rows = list(STREAMS[name]().take(N_ROWS))
        return cls(rows, np.array([[float(v) for v in x.values()] for x, _ in rows]), np.array([y for _, y in rows]))


def spent(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def river(make: Callable[[], Any], stream: Stream, n_rows: int = N_ROWS) -> Result:
    """One of river's trees."""
    rows, model, right = stream.rows[:n_rows], make(), 0
    for k, (x, label) in enumerate(rows):
        right += k >= BATCH and model.predict_one(x) == label
        model.learn_one(x, label)
    fresh = make()
    seconds = spent(lambda: [fresh.learn_one(x, label) for x, label in rows])
    return Result(right / (n_rows - BATCH), n_rows / seconds)


def made(stream: Stream, revise: bool, leaves: str) -> bt.StreamingTreeClassifier:
    kinds = {f"x{j}": "numeric" for j in range(stream.X.shape[1])}
    return bt.StreamingTreeClassifier(leaves=leaves, revise=revise, schema=kinds, profile=False)


def ours(stream: Stream, revise: bool, leaves: str, n_rows: int = N_ROWS) -> Result:
    """Our tree, in batches."""
    batches = [slice(first, first + BATCH) for first in range(0, n_rows, BATCH)]
    model, right = made(stream, revise, leaves), 0
    for k, part in enumerate(batches):
        right += (model.predict(stream.X[part]) == stream.y[part]).sum() if k else 0
        model.partial_fit(stream.X[part], stream.y[part])
    fresh = made(stream, revise, leaves)
    seconds = spent(lambda: [fresh.partial_fit(stream.X[part], stream.y[part]) for part in batches])
    return Result(right / (n_rows - BATCH), n_rows / seconds)


def at_once(stream: Stream, revise: bool, leaves: str) -> float:
    """Rows per second of one fit of all rows."""
    return N_ROWS / spent(lambda: made(stream, revise, leaves).fit(stream.X, stream.y))


def measured(name: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of a stream in the three tables."""
    stream = Stream.of(name)
    made(stream, True, "adaptive").fit(stream.X[:BATCH], stream.y[:BATCH])  # imports are not learning
    majority = river(lambda: tree.HoeffdingTreeClassifier(leaf_prediction="mc"), stream)
    nba = river(tree.HoeffdingTreeClassifier, stream)
    found = {(leaves, revise): ours(stream, revise, leaves) for leaves in LEAVES for revise in (True, False)}
    accuracies = [f"{each.accuracy:.3f}" for each in (*found.values(), majority, nba)]
    speeds = [f"{majority.speed:,.0f}", f"{nba.speed:,.0f}"]
    for leaves, theirs in zip(LEAVES, (majority, nba), strict=True):
        speeds += [_beside(found[leaves, False].speed, theirs), _beside(at_once(stream, False, leaves), theirs)]
    speeds += [_beside(found["adaptive", True].speed, nba), _beside(at_once(stream, True, "adaptive"), nba)]
    anytime = river(tree.ExtremelyFastDecisionTreeClassifier, stream, FEW)
    early = {leaves: ours(stream, True, leaves, FEW) for leaves in LEAVES}
    few = [f"{each.accuracy:.3f}" for each in (*early.values(), anytime)]
    few += [f"{anytime.speed:,.0f}", *(_beside(each.speed, anytime) for each in early.values())]
    return [name, *accuracies], [name, *speeds], [name, *few]


def _beside(speed: float, theirs: Result) -> str:
    return f"{speed:,.0f} ({speed / theirs.speed:,.0f}×)"


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    lines = []
    for name in names or STREAMS:
        lines.append(measured(name))
        print(*lines[-1], sep="\n", flush=True)
    text = page(*zip(*lines, strict=True))
    if not names:
        (HERE / "STREAM_TREES.md").write_text(text)


def page(accuracies: Sequence[list[str]], speeds: Sequence[list[str]], few: Sequence[list[str]]) -> str:
    return "\n".join(
        [
            "# Trees that go on learning, beside river's",
            "",
            f"`python benchmarks/stream_trees.py` makes it anew: river's own streams, {N_ROWS:,} rows, all columns as",
            "numbers, its parameters and ours at their defaults. Accuracy is by test-then-train: ours answers and learns",
            f"batches of {BATCH:,} rows, river's single rows. Speed is rows learnt per second of processor time.",
            "",
            "river's *majority* leaves (`leaf_prediction='mc'`) answer as our *counts* do; its default, *nba*, keeps a",
            "naive Bayes model in each leaf and answers with it where that was better so far, as our *adaptive* leaves do;",
            "where our tree revises, inner nodes do so, too. *Firm* is `revise=False`, as river's tree is.",
            "",
            *_table("stream | counts | counts, firm | adaptive | adaptive, firm | river, majority | river, nba", accuracies),
            "",
            f"river's nba leaves answer more rows right than adaptive ones on {_where(accuracies, 6, 3)};",
            f"than adaptive, firm ones on {_where(accuracies, 6, 4)}.",
            "",
            "Rows per second; in brackets beside river's tree with the same kind of leaves:",
            "",
            *_table(
                "stream | river, majority | river, nba | counts, firm, batches | one `fit` | adaptive, firm, batches | "
                "one `fit` | adaptive, revising, batches | one `fit`",
                speeds,
            ),
            "",
            f"Beside river's anytime tree (`ExtremelyFastDecisionTreeClassifier`, nba leaves), on the first {FEW:,} rows:",
            "",
            *_table(
                "stream | accuracy, counts | adaptive | river | rows/s river | counts, batches | adaptive, batches", few
            ),
            "",
            f"There river answers more rows right than adaptive leaves on {_where(few, 3, 2)}.",
            "",
        ]
    )


def _where(lines: Sequence[list[str]], theirs: int, ours: int) -> str:
    """The streams on which one column of accuracies is above another."""
    return "; ".join(line[0] for line in lines if float(line[theirs]) > float(line[ours])) or "none of the streams"


def _table(head: str, lines: Sequence[list[str]]) -> list[str]:
    columns = head.count("|")
    return [f"| {head} |", "|---|" + "--:|" * columns, *("| " + " | ".join(line) + " |" for line in lines)]


if __name__ == "__main__":
    main(sys.argv[1:])
