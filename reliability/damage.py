"""F2, F4: damaged files are named, and a stream that was killed ends as one without a break."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq

import baytree as bt
from baytree.storage import dumps
from figure import Figure, Scope
from killing import learnt, write_stream


def damaged_files(scope: Scope) -> Iterator[Figure]:
    """F2: bits flipped in, and ends cut off, Parquet files with and without checksums."""
    refused = "a damaged Parquet file is refused by its name, or read as it was"
    with tempfile.TemporaryDirectory() as folder:
        for name, has_checksums in (("flipped bits, with checksums", True), ("flipped bits, without checksums", False)):
            counts = _tried(Path(folder), scope.seeds(200), has_checksums, _flipped)
            yield Figure("F2", name, refused, sum(counts.values()), _words(counts), not counts["read as other values"])
        counts = _tried(Path(folder), scope.seeds(200), False, _cut)
        yield Figure(
            "F2", "files cut short", refused, sum(counts.values()), _words(counts), not counts["read as other values"]
        )


def _tried(folder: Path, seeds: range, has_checksums: bool, damage: object) -> dict[str, int]:
    r, n, path = np.random.default_rng(0), 3000, folder / "a.parquet"
    columns = {
        "x": r.normal(size=n),
        "n": r.integers(0, 1000, n),
        "c": r.choice(["a", "b"], n),
        "y": r.choice(["no", "yes"], n),
    }
    pq.write_table(pl.DataFrame(columns).to_arrow(), path, write_page_checksum=has_checksums, row_group_size=1000)
    good, counts = path.read_bytes(), {"refused": 0, "read as it was": 0, "read as other values": 0}
    expected = dumps(bt.NaiveBayesClassifier().fit(bt.scan(path), "y"))
    for seed in seeds:
        path.write_bytes(damage(good, np.random.default_rng(seed)))
        try:
            content = dumps(bt.NaiveBayesClassifier().fit(bt.scan(path, verify=has_checksums), "y"))
            counts["read as it was" if content == expected else "read as other values"] += 1
        except ValueError:
            counts["refused"] += 1
    return counts


def _flipped(content: bytes, random: np.random.Generator) -> bytes:
    bits = np.unpackbits(np.frombuffer(content, np.uint8))
    bits[random.integers(len(bits))] ^= 1
    return np.packbits(bits).tobytes()


def _cut(content: bytes, random: np.random.Generator) -> bytes:
    return content[: random.integers(len(content))]


def _words(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items())


def killed_streams(scope: Scope) -> Iterator[Figure]:
    """F4: SIGKILL at random moments of a stream; the next run goes on to the end."""
    promise = "a stream that was killed goes on and ends with the model of a run without a break"
    with tempfile.TemporaryDirectory() as name:
        folder, wrong, killed = Path(name), 0, 0
        write_stream(folder, 200_000)
        start = time.perf_counter()
        expected = learnt(folder, 40_000)
        whole = time.perf_counter() - start
        for seed in scope.seeds(50):
            for kept in ("kept", "m.baytree"):
                (folder / kept).unlink(missing_ok=True)
            killed += learnt(folder, 40_000, whole * np.random.default_rng(seed).random()) is None
            wrong += learnt(folder, 40_000) != expected
        found = f"{killed} killed before their end, {wrong} other models"
        yield Figure("F4", "naive Bayes of 200,000 rows", promise, len(scope.seeds(50)), found, not wrong)


CHECKS = {"F2": damaged_files, "F4": killed_streams}
