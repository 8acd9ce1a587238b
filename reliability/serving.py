"""G1: no request makes the server fail: mutated bodies, and those that schemathesis makes of the description."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "serve"))

import baytree as bt  # noqa: E402
import load  # noqa: E402
from baytree.serve.wire.bodies import ARROW, CSV, JSON  # noqa: E402
from figure import Figure, Scope  # noqa: E402
from in_process import Server, frame, rows_of  # noqa: E402

SECRET = "ECHO7f3a"
PATHS = ["/models/nb/predict", "/models/nb/explain", "/models/nb/interview", "/v2/models/nb/infer", "/models/x/predict", "/"]
MEDIA = [JSON, JSON, JSON, CSV, ARROW, "text/plain", "multipart/form-data; boundary=a", ""]
ODD = [None, True, 0, -1, 1e308, 10**400, 2**63, "", SECRET, "\0", "=1+1", [], {}, [[1]], 5e-324, "NaN", "S", "a: b"]


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


def described(scope: Scope) -> Iterator[Figure]:
    """What schemathesis makes of /openapi.json, where it is installed. It cannot know the columns of a model, so what is
    right for the description may be refused."""
    program, n = shutil.which("schemathesis"), scope.cases(100)
    if program is None:
        return
    with load.running() as server, tempfile.TemporaryDirectory() as folder:
        how = ["--max-examples", str(n), "--seed", str(scope.seed), "--exclude-checks", "positive_data_acceptance"]
        where = [f"http://127.0.0.1:{server.port}/openapi.json", "--no-color", "--generation-database", "none"]
        done = subprocess.run([program, "run", *where, *how], capture_output=True, text=True, cwd=folder, check=False)
    cases = re.search(r"(\d+) generated", done.stdout)
    failures = re.search(r"(\d+) failures? in", done.stdout)
    found = f"{failures[1] if failures else 0} failures"
    promise = "answers are as /openapi.json says, whatever is sent"
    yield Figure("G1", "schemathesis", promise, int(cases[1]) if cases else 0, found, done.returncode == 0)


CHECKS = {"G1": fuzz, "G1-described": described}


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
