"""Serving beside a bare echo, and a file answered beside a file that is only copied."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl

import baytree as bt
from harness import Row, processor

ECHO = """
import socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def echo(request): return JSONResponse(await request.json())
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
s.bind(("127.0.0.1", 0)); print(f"http://127.0.0.1:{s.getsockname()[1]}", flush=True)
app = Starlette(routes=[Route("/models/m/predict", echo, methods=["POST"])])
uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False)).run(sockets=[s])
"""
COPY = "import polars as pl; pl.read_csv({0!r}).write_csv({1!r})"
SERVE = "from baytree.cli import main; main()"


def one_row_requests() -> Iterator[Row]:
    """Processor time of a request, eight connections at once: a bare echo of the same body, and an answer."""
    with tempfile.TemporaryDirectory() as folder:
        model, rows = _model(Path(folder))
        body = json.dumps({"rows": rows[:1]}).encode()
        with (
            _process([sys.executable, "-c", ECHO]) as echo,
            _process([sys.executable, "-c", SERVE, "serve", model, "--port", "0"]) as ours,
        ):
            spent = [min(_spent(each, body) for _ in range(3)) for each in (echo, ours)]
    yield Row("a request of one row, 8 connections", "an echo by Starlette", *spent, goal=0.5)


def rows_beyond_parsing() -> Iterator[Row]:
    """Processor time of 1,000 rows above that of reading their JSON, beside the three milliseconds that are allowed."""
    from baytree.serve.batching import predict_now
    from baytree.serve.json_body import columns_of
    from baytree.serve.models import Models
    from baytree.serve.responses import encode, identity

    with tempfile.TemporaryDirectory() as folder:
        model, rows = _model(Path(folder))
        body, served = json.dumps({"rows": rows}).encode(), Models([model])["m"]
        gc.freeze()  # as the server does
        parsing = processor(lambda: json.loads(body), 50)
        whole = processor(lambda: encode({**identity(served), **predict_now(served, columns_of(body))}), 50)
    yield Row("1,000 rows above parsing", "3 ms", 0.003, max(whole - parsing, 1e-6), goal=1)


def a_file_answered() -> Iterator[Row]:
    """Processor time of predicting a CSV of 10 million rows beside reading and writing it, and the memory it takes."""
    with tempfile.TemporaryDirectory() as folder:
        model, _ = _model(Path(folder))
        table, out = Path(folder) / "t.csv", str(Path(folder) / "o.csv")
        for n in (1_000_000, 10_000_000):
            _frame(n).write_csv(table)
            copied, _ = _run([sys.executable, "-c", COPY.format(str(table), out)])
            taken, peak = _run([sys.executable, "-c", SERVE, "predict", str(model), str(table), "-o", out, "-q"])
            yield Row(
                f"predict a CSV of {n:,} rows", "polars, read and write", copied, taken, goal=0.5, note=f"peak {peak} MB"
            )


WORKLOADS = [one_row_requests, rows_beyond_parsing, a_file_answered]


def _frame(n: int) -> pl.DataFrame:
    random = np.random.default_rng(0)
    numbers = {f"x{j}": random.normal(size=n).round(4) for j in range(5)}
    words = {"c": random.choice(["red", "green", "blue"], n), "d": random.choice(["S", "M", "L"], n)}
    return pl.DataFrame({**numbers, **words})


def _model(folder: Path) -> tuple[Path, list[dict]]:
    frame = _frame(1000)
    label = np.where(frame["x0"].to_numpy() + (frame["c"] == "red").to_numpy() > 0.3, "yes", "no")
    path = folder / "m.baytree"
    bt.save(bt.NaiveBayesClassifier().fit(frame, label), path)
    return path, frame.to_dicts()


@contextmanager
def _process(command: list) -> Iterator[tuple[int, int]]:
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process.pid, int(re.search(r":(\d+)\s*$", process.stdout.readline())[1])
    finally:
        process.terminate()
        process.wait()


def _spent(server: tuple[int, int], body: bytes, seconds: float = 3.0) -> float:
    """Processor seconds of the server for each request."""
    process, port = server
    head = "POST /models/m/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"

    async def connection(until: float) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        n = 0
        while time.perf_counter() < until:
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", answer)[1]))
            n += 1
        writer.close()
        return n

    async def eight() -> int:
        return sum(await asyncio.gather(*(connection(time.perf_counter() + seconds) for _ in range(8))))

    before = _ticks(process)
    n = asyncio.run(eight())
    return (_ticks(process) - before) / n


def _ticks(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _run(command: list[str]) -> tuple[float, int]:
    """Processor seconds of a command, and the most memory that it held, in MB."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    seconds, peak = done.stdout.split()[-2:]
    return float(seconds), int(peak) // 1024
