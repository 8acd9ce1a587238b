"""G1, G3, G6: no request makes the server fail, slow clients are dropped, a changed file goes live whole or not at all."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "serve"))

import baytree as bt  # noqa: E402
from baytree.serve.wire.bodies import ARROW, CSV, JSON  # noqa: E402
from baytree.storage import dumps  # noqa: E402
from figure import Figure, Scope  # noqa: E402
from in_process import Server, frame, rows_of  # noqa: E402

SECRET = "ECHO7f3a"
PATHS = ["/models/nb/predict", "/models/nb/explain", "/models/nb/interview", "/v2/models/nb/infer", "/models/x/predict", "/"]
MEDIA = [JSON, JSON, JSON, CSV, ARROW, "text/plain", "multipart/form-data; boundary=a", ""]
ODD = [None, True, 0, -1, 1e308, 10**400, 2**63, "", SECRET, "\0", "=1+1", [], {}, [[1]], 5e-324, "NaN", "S", "a: b"]
SERVE = "from baytree.cli import main; main()"


def fuzz(scope: Scope) -> Iterator[Figure]:
    """Mutated bodies, of every content type, on every path that takes one."""
    with tempfile.TemporaryDirectory() as folder:
        server, rows = _server(Path(folder)), rows_of(frame(20)[0])
        broken, n = 0, scope.cases(100_000)
        for seed in range(scope.seed, scope.seed + n):
            choice = random.Random(seed)
            method, path = choice.choice(["POST"] * 9 + ["GET", "PUT"]), choice.choice(PATHS)
            answer = server.ask(method, path, _body(choice, rows), choice.choice(MEDIA))
            is_error = 400 <= answer.status < 500
            is_small = not is_error or (len(answer.body) <= 2048 and SECRET.encode() not in answer.body)
            broken += answer.status >= 500 or not is_small
            server.log()
    yield Figure(
        "G1", "serve", "no request makes a 5xx, errors are small and repeat nothing", n, f"{broken} broken", not broken
    )


def half_open(scope: Scope) -> Iterator[Figure]:
    """Sockets that never finish their headers, beside requests that do."""
    n = scope.cases(2000)
    with tempfile.TemporaryDirectory() as folder:
        _server(Path(folder))
        command = [sys.executable, "-c", SERVE, "serve", str(Path(folder) / "nb.baytree"), "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = int(process.stdout.readline().rpartition(":")[2])
        sockets = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(n)]
        for each in sockets:
            each.sendall(b"POST /models/nb/predict HTTP/1.1\r\nX-A: ")
        started = time.monotonic()
        closed = sum(_is_closed(each) for each in sockets)
        passed = time.monotonic() - started
        process.terminate()
        code = process.wait(10)
    found = f"{closed} closed after {passed:.0f} s, exit {code}"
    yield Figure(
        "G3", "serve", "half-open sockets are closed by their deadline", n, found, closed == n and passed < 15 and code == 0
    )


def reloads(scope: Scope) -> Iterator[Figure]:
    """Files that change between requests, every second one of them damaged."""
    n, mixed = scope.cases(1000), 0
    with tempfile.TemporaryDirectory() as folder:
        server, path = _server(Path(folder)), Path(folder) / "nb.baytree"
        X, y = frame(60, 1)
        files = [dumps(bt.NaiveBayesClassifier(alpha=1 + k).fit(X, y)) for k in range(3)]
        row = rows_of(X[:1])
        expected: dict[str, bytes] = {}
        for k in range(n):
            content = files[k % 3]
            path.write_bytes(content if k % 2 else content[: len(content) // 2])
            with contextlib.suppress(ValueError):
                server.app.serving.models.reload("nb")
            answer = server.predict("nb", row)
            version = answer.json()["version"]
            mixed += answer.status != 200 or expected.setdefault(version, answer.body) != answer.body
            server.log()
    yield Figure("G6", "serve", "a changed file goes live whole or not at all", n, f"{mixed} broken", not mixed)


CHECKS = {"G1": fuzz, "G3": half_open, "G6": reloads}


def _server(folder: Path) -> Server:
    path = folder / "nb.baytree"
    bt.save(bt.NaiveBayesClassifier().fit(*frame()), path)
    return Server([path])


def _body(choice: random.Random, rows: list[dict]) -> bytes:
    row = {name: choice.choice([value, value, choice.choice(ODD)]) for name, value in choice.choice(rows).items()}
    shapes = [{"rows": [row] * choice.choice([0, 1, 2, 30])}, {"columns": {name: [value] for name, value in row.items()}}]
    shapes += [{"answers": row}, {"inputs": [{"name": "x0", "shape": [1], "datatype": "FP64", "data": [row.get("x0")]}]}]
    shapes += [choice.choice(ODD), {"rows": choice.choice(ODD), "extra": row}]
    body = bytearray(json.dumps(choice.choice(shapes)).encode())
    for _ in range(choice.choice([0, 0, 1, 8])):
        body[choice.randrange(len(body))] = choice.randrange(256)
    return bytes(body[: choice.choice([len(body), len(body), choice.randrange(len(body) + 1)])])


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(99) == b""
    except ConnectionResetError:
        return True
    except OSError:
        return False
    finally:
        connection.close()
