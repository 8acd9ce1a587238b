"""Clusters as a user starts them: the examples of the README, and the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import baytree as bt
from baytree.cli.engine_options import _ProgressLine
from baytree.storage import dumps
from remote_tables import written

EXAMPLES = Path(__file__).parents[2] / "examples"
ENGINES = [pytest.param("dask", marks=pytest.mark.dask), pytest.param("spark", marks=pytest.mark.spark)]


def run(*words: object) -> subprocess.CompletedProcess:
    kept = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=300, env=kept)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_example_of_the_readme_runs(engine):
    pytest.importorskip({"dask": "dask.distributed", "spark": "pyspark"}[engine])
    done = run(EXAMPLES / f"on_{engine}.py")
    assert done.returncode == 0, done.stderr
    assert "2,201 rows: no (no 1490, yes 711)" in done.stdout
    assert "accuracy 0.791" in done.stdout
    assert f"python examples/on_{engine}.py" in (EXAMPLES.parent / "README.md").read_text()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_command_line_learns_on_a_cluster_and_says_nothing_else(engine, table, tmp_path):
    pytest.importorskip({"dask": "dask.distributed", "spark": "pyspark"}[engine])
    rows, saved = table.drop("w"), tmp_path / "m.baytree"
    call = ["fit", written(rows, tmp_path, 3) / "*.parquet", "-t", "y", "--engine", engine, "-o", saved]
    done = run("-c", "from baytree.cli import main; main()", *call)
    assert done.returncode == 0, done.stderr
    assert saved.read_bytes() == dumps(bt.NaiveBayesClassifier().fit(rows, "y"))
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith("note: ")]
    assert lines[0].split() == ["column", "kind", "levels"]
    assert lines[-1] == f"saved to {saved}"
    assert "WARN" not in done.stderr


def test_progress_tells_the_round_its_pieces_and_the_time_left(monkeypatch, capsys):
    clock = iter(range(100))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with _ProgressLine() as told:
        for now, done, pieces in ((1, 0, 4), (1, 1, 4), (2, 0, 1), (2, 1, 1)):
            told(now, done, pieces)
    lines = capsys.readouterr().err.replace("\x1b[K", "").split("\r")
    assert [line.split(", about")[0] for line in lines if line] == [
        "pass 1",
        "pass 1: 1 of 4",
        "pass 2",
        "pass 2: 1 of 1",
    ]
    assert "s left" in lines[2]
    assert "s left" in lines[3]  # by the time of the round before
