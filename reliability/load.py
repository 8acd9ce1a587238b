"""G2, G3, G6, G7, G10: a server in a process of its own, and clients that ask it at a steady rate while it is disturbed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "serve"))

import baytree as bt  # noqa: E402
from baytree.serve.limits import MAX_BODY_BYTES  # noqa: E402
from baytree.storage import dumps  # noqa: E402
from figure import Figure, Scope  # noqa: E402
from in_process import frame, rows_of  # noqa: E402

SERVE = "from baytree.cli import main; main()"
RATE = 200  # requests a second
N_CLIENTS = 8
_TURNS = 5


class Running(NamedTuple):
    """A server that listens."""

    process: subprocess.Popen
    port: int
    path: Path  # of its model

    def memory(self, field: str = "VmRSS") -> float:
        """Its memory in MB; VmHWM is the most that it ever held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"{field}:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0

    def n_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stopped(self) -> tuple[int, float]:
        """Its exit code after SIGTERM, and the seconds that it took."""
        started = time.monotonic()
        self.process.terminate()
        return self.process.wait(30), time.monotonic() - started


class Answered(NamedTuple):
    """What came back for one request."""

    seconds: float
    status: int
    body: bytes


@contextmanager
def running() -> Iterator[Running]:
    """A server of a small model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nb.baytree"
        bt.save(bt.NaiveBayesClassifier().fit(*frame()), path)
        command = [sys.executable, "-c", SERVE, "serve", str(path), "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        try:
            yield Running(process, int(process.stdout.readline().rpartition(":")[2]), path)
        finally:
            process.kill()
            process.wait()


def asked(port: int, seconds: float, meanwhile: Callable[[], object] = lambda: None) -> list[Answered]:
    """The answers to requests of one row at a steady rate, until so many seconds are over and `meanwhile` has ended."""
    other = threading.Thread(target=meanwhile)
    other.start()
    found = asyncio.run(_steadily(port, seconds, other))
    other.join()
    return found


def slowest(answers: list[Answered]) -> float:
    """The 99th percentile of the seconds that answers took."""
    times = sorted(each.seconds for each in answers)
    return times[min(len(times) - 1, len(times) * 99 // 100)]


def bodies(scope: Scope) -> Iterator[Figure]:
    """Bodies of 16 MiB, all sent at once."""
    n = scope.cases(64)
    with running() as server:
        asked(server.port, 1)
        idle, body = server.memory(), _full()
        statuses = asyncio.run(_all_at_once(server.port, body, n))
        peak = server.memory("VmHWM") - idle
    good, failed = statuses.count(200), sum(status >= 500 or status == 0 for status in statuses)
    found = f"{good} answered, {n - good - failed} refused, {failed} failed; {peak:.0f} MB above {idle:.0f} MB"
    promise = "full-size bodies at once take at most 256 MB more than an idle server"
    yield Figure("G2", "serve", promise, n, found, not failed and peak <= 256)


def half_open(scope: Scope) -> Iterator[Figure]:
    """Sockets that never finish their headers, beside requests at a steady rate, in turn with requests alone.

    The slowest of a hundred answers is that of a moment in which the machine did something else, so the middle of five turns
    is held against the promise.
    """
    n, closed, ratios, failed = scope.cases(2000), [], [], 0
    with running() as server:
        for _ in range(_TURNS):
            quiet = slowest(asked(server.port, 10))
            sockets = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(n)]
            for each in sockets:
                each.sendall(b"POST /models/nb/predict HTTP/1.1\r\nX-A: ")
            answers = asked(server.port, 9, lambda: closed.extend(_closed(sockets)))  # noqa: B023
            ratios.append(slowest(answers) / quiet)
            failed += sum(each.status != 200 for each in answers)
        code, _ = server.stopped()
    ratio, last = sorted(ratios)[_TURNS // 2], max(closed, default=99.0)
    turns = f"{min(ratios):.1f} to {max(ratios):.1f}"
    found = (
        f"{len(closed)} closed within {last:.0f} s, p99 {ratio:.1f} times as long ({turns}), {failed} failed, exit {code}"
    )
    is_kept = len(closed) == n * _TURNS and last < 15 and ratio <= 2 and not failed and code == 0
    yield Figure("G3", "serve", "half-open sockets are closed by their deadline", n * _TURNS, found, is_kept)


def reloads(scope: Scope) -> Iterator[Figure]:
    """A file that changes under requests, every second time to one that is damaged."""
    n, (X, y) = scope.cases(1000), frame(60, 1)
    files = [dumps(bt.NaiveBayesClassifier(alpha=1 + k).fit(X, y)) for k in range(3)]
    with running() as server:

        def change() -> None:
            for k in range(n):
                content = files[k % 3]
                new = server.path.with_suffix(".new")
                new.write_bytes(content if k % 2 else content[: len(content) // 2])
                new.replace(server.path)
                server.process.send_signal(signal.SIGHUP)
                time.sleep(0.04)

        answers = asked(server.port, 5, change)
    by_version: dict[str, set[str]] = {}
    for each in answers:
        if each.status == 200:
            told = json.loads(each.body)
            by_version.setdefault(told["version"], set()).add(json.dumps([told["digest"], told["probabilities"]]))
    mixed, failed = sum(len(each) > 1 for each in by_version.values()), sum(each.status != 200 for each in answers)
    found = f"{len(answers):,} requests, {failed} failed, {len(by_version)} versions, {mixed} of them mixed"
    promise = "a changed file goes live whole or not at all, under requests"
    yield Figure("G6", "serve", promise, n, found, not failed and not mixed)


def stopping(scope: Scope) -> Iterator[Figure]:
    """SIGTERM under requests and half-open sockets."""
    n, broken, longest = scope.cases(20), 0, 0.0
    for _ in range(n):
        with running() as server:
            sockets = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(50)]
            for each in sockets:
                each.sendall(b"POST /models/nb/predict HTTP/1.1\r\nX-A: ")
            ended: list[tuple[int, float]] = []
            answers = asked(server.port, 1, lambda: (time.sleep(0.5), ended.append(server.stopped())))  # noqa: B023
            code, seconds = ended[0]
            longest = max(longest, seconds)
            broken += code != 0 or seconds > 5 or any(each.status not in (200, 0) for each in answers)
    found = f"{broken} broken, at most {longest:.1f} s"
    yield Figure("G7", "serve", "SIGTERM ends it with 0 within five seconds, under load", n, found, not broken)


def soak(scope: Scope) -> Iterator[Figure]:
    """Half an hour of requests at a steady rate: memory and open files stay as they are after the first tenth."""
    seconds = max(20.0, 1800 * scope.share)
    with running() as server:
        first = asked(server.port, seconds / 10)
        before, files = server.memory(), server.n_files()
        answers = [*first, *asked(server.port, seconds * 0.9)]
        drift, more = server.memory() / before - 1, server.n_files() - files
    failed = sum(each.status != 200 for each in answers)
    found = f"{seconds / 60:.0f} min, memory {drift:+.1%} of {before:.0f} MB, files {more:+d}, {failed} failed"
    promise = "memory and open files stay flat at 200 requests a second"
    yield Figure("G10", "serve", promise, len(answers), found, drift < 0.01 and more <= N_CLIENTS and not failed)


CHECKS = {"G2": bodies, "G3": half_open, "G6": reloads, "G7": stopping, "G10": soak}


def _full() -> bytes:
    """As many rows as a body may have, filled up with blanks to the last byte."""
    column = [round(k * 0.6180339887498949 % 1, 15) for k in range(100_000)]
    body = json.dumps({"columns": {f"x{j}": column for j in range(3)}}).encode()
    return body + b" " * (MAX_BODY_BYTES - len(body))


async def _all_at_once(port: int, body: bytes, n: int) -> list[int]:
    async def one() -> int:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            answer = await asyncio.wait_for(_answer(reader, writer, _request(body)), 300)
            writer.close()
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            return 0
        return answer.status

    return list(await asyncio.gather(*(one() for _ in range(n))))


async def _steadily(port: int, seconds: float, other: threading.Thread) -> list[Answered]:
    request, until = _request(json.dumps({"rows": rows_of(frame(1)[0])}).encode()), time.monotonic() + seconds
    found: list[Answered] = []

    async def client(k: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        due = time.monotonic() + k / RATE
        while time.monotonic() < until or other.is_alive():
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due = max(due + N_CLIENTS / RATE, time.monotonic() - 1)
            try:
                found.append(await _answer(reader, writer, request))
            except (OSError, asyncio.IncompleteReadError):  # stopped, or not reached: told as 0
                found.append(Answered(0.0, 0, b""))
                return
        writer.close()

    clients: list[Awaitable[None]] = [client(k) for k in range(N_CLIENTS)]
    await asyncio.gather(*clients)
    return found


def _request(body: bytes) -> bytes:
    head = "POST /models/nb/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> Answered:
    started = time.perf_counter()
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    body = await reader.readexactly(int(length[1]) if length else 0)
    return Answered(time.perf_counter() - started, int(head.split(b" ", 2)[1]), body)


def _closed(sockets: list[socket.socket]) -> Iterator[float]:
    """When each of these was closed by the other side, in seconds from now."""
    started = time.monotonic()
    for each in sockets:
        try:
            is_closed = each.recv(99) == b""
        except ConnectionResetError:
            is_closed = True
        except OSError:
            is_closed = False
        each.close()
        if is_closed:
            yield time.monotonic() - started
