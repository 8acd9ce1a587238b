"""Processes that are killed while they learn a stream, or interrupted by Ctrl-C."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

CHILD = """
import sys
import baytree as bt
rows = bt.scan({files!r})
source = type(rows.sources[0])
whole = source.batches
source.batches = lambda self: (part for frame in whole(self) for part in frame.iter_slices({cells} // frame.width))
print("ready", flush=True)
model = bt.partial_fit(bt.NaiveBayesClassifier(), rows, "y", {kept!r})
bt.save(model, {saved!r})
"""


def write_stream(folder: Path, n_rows: int, n_files: int = 4) -> None:
    """Files of numbers and levels; a level of the last file is new."""
    for k in range(n_files):
        r, n = np.random.default_rng(k), n_rows // n_files
        colour = [*r.choice(["red", "green"], n - 1).tolist(), f"colour {k}"]
        columns = {"x": r.normal(size=n), "n": r.integers(0, 50, n), "colour": colour, "y": r.choice(["no", "yes"], n)}
        pl.DataFrame(columns).write_parquet(folder / f"part-{k}.parquet")


def learnt(folder: Path, cells: int, after: float | None = None) -> bytes | None:
    """The model file of a run; None where it was killed, so many seconds after it began to learn."""
    saved = folder / "m.baytree"
    names = {"files": str(folder / "*.parquet"), "kept": str(folder / "kept"), "saved": str(saved)}
    code = CHILD.format(cells=cells, **names)
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        if after is not None:
            time.sleep(after)
            child.send_signal(signal.SIGKILL)
        return saved.read_bytes() if child.wait() == 0 else None


def seconds_to_interrupt(code: str, after: float) -> float:
    """The seconds from Ctrl-C to the end of a program, which prints `ready`, learns, and prints `stopped` and the time."""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(after)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        word, at = child.stdout.readline().split()
        child.wait(10)
    assert word == "stopped"
    return float(at) - sent
