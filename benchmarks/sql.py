"""Training inside DuckDB compared with an export to Parquet and `bt.scan`, and with fetching all rows into memory.

    python benchmarks/sql.py [rows]

Twelve columns: six numbers (two of many values), six of levels. Each figure is the clock of one run in a process of its own,
because DuckDB works on threads of its own; a ratio is the figure.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MODELS = {
    "naive Bayes": "bt.NaiveBayesClassifier()",
    "CHAID, depth 4": "bt.CHAIDClassifier(max_depth=4)",
    "tree of two branches, depth 8": "bt.DecisionTreeClassifier(max_depth=8)",
    "logistic regression": "bt.LogisticRegression()",
}
WAYS = ("database", "export and scan", "fetch")


def make_table(path: Path, n_rows: int) -> None:
    """Write the table `t` of a DuckDB file."""
    import duckdb

    levels = ", ".join(f"'l' || (hash(i * 7 + {j}) % {2 + 2 * j})::INTEGER AS level{j}" for j in range(6))
    few = ", ".join(f"(hash(i * 11 + {j}) % {20 * (j + 1)})::DOUBLE AS few{j}" for j in range(4))
    many = ", ".join(f"((hash(i * 13 + {j}) % 1000003) / 1000003.0)::DOUBLE AS many{j}" for j in range(2))
    score = "few0 / 20 + many0 + (level1 = 'l1')::INTEGER + (hash(i * 17) % 1000) / 1000.0"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT * EXCLUDE i, CASE WHEN {score} > 1.6 THEN 'yes' ELSE 'no' END AS y "
            f"FROM (SELECT i, {levels}, {few}, {many} FROM range({n_rows}) r(i))"
        )


def run(path: str, way: str, model: str) -> dict[str, Any]:
    """Fit a model one way; returns seconds, peak memory and rows that left the database."""
    import duckdb

    import baytree as bt

    estimator = eval(model, {"bt": bt})  # the names of this page; its modules are loaded before the clock starts
    bt.sql("SELECT 1 AS x", duckdb.connect())
    begin = time.perf_counter()
    with duckdb.connect(path, read_only=True) as connection, tempfile.TemporaryDirectory() as folder:
        if way == "database":
            fitted = estimator.fit(bt.sql("t", connection), "y")
            fetched = sum(query.bytes for query in fitted.queries_)
        elif way == "fetch":
            estimator.fit(connection.execute("SELECT * FROM t").df(), "y")
            fetched = -1
        else:
            target = Path(folder) / "t.parquet"
            connection.execute(f"COPY t TO '{target}' (FORMAT parquet)")
            fetched = target.stat().st_size
            estimator.fit(bt.scan(target), "y")
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "bytes": fetched}


def main(n_rows: int) -> None:
    """Print a table of all models and ways, and the time of one aggregation of the whole table."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        make_table(path, n_rows)
        with duckdb.connect(str(path), read_only=True) as connection:
            begin = time.perf_counter()
            columns = [name for name, *_ in connection.execute("DESCRIBE t").fetchall() if name != "y"]
            for name in columns:
                connection.execute(f"SELECT {name}, y, COUNT(*) FROM t GROUP BY 1, 2").fetchall()
            print(f"one aggregation of each column: {time.perf_counter() - begin:.2f} s")
        for name, model in MODELS.items():
            for way in WAYS:
                command = [sys.executable, __file__, "--run", str(path), way, model]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                print(name, "·", way, "·", done.stdout.strip() or done.stderr.strip()[-300:], flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(run(*sys.argv[2:])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
