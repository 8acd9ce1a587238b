"""G1: no request makes the server fail: mutated bodies, and those that schemathesis makes of the description.

G11: no body, however small, takes more than half a gigabyte.
"""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "serve"))

import baytree as bt  # noqa: E402
import load  # noqa: E402
from baytree.serve.request_body import ARROW, CSV, JSON  # noqa: E402
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


MAX_MEGABYTES = 512


def expanding(scope: Scope) -> Iterator[Figure]:
    """Bodies that would become far larger than they are, of every format; the most memory that the server ever held."""
    bodies = [*_expanding_json(), *_expanding_csv(), *_expanding_arrow()]
    n = scope.cases(20)
    statuses: Counter[int] = Counter()
    with load.running() as server:
        for _ in range(n):
            statuses.update(_posted(server.port, body, media) for body, media in bodies)
        peak = server.memory("VmHWM")
    promise = f"no body takes more than {MAX_MEGABYTES} MB, whatever it would become"
    is_kept = peak <= MAX_MEGABYTES and set(statuses) <= {400, 413, 415, 422}
    found = f"peak {peak:.0f} MB, statuses {dict(sorted(statuses.items()))}"
    yield Figure("G11", "serve", promise, n * len(bodies), found, is_kept)


CHECKS = {"G1": fuzz, "G1-described": described, "G11": expanding}


def _expanding_json() -> Iterator[tuple[bytes, str]]:
    names = json.dumps({f"n{k}": 0 for k in range(50_000)}).encode()
    yield b'{"rows": [' + b"{}," * 99_000 + names + b"]}", JSON  # each row lacks 50,000 names
    yield b'{"rows": [' + b"{}," * 5_000_000 + b"{}]}", JSON
    yield b'{"rows": [' + b'{"x0":1},' * 1_500_000 + b"{}]}", JSON
    yield b'{"columns": {"x0": [' + b"1," * 8_000_000 + b"1]}}", JSON


def _expanding_csv() -> Iterator[tuple[bytes, str]]:
    for body in (b"x0\n" + b"1\n" * 8_000_000, b"x0" + b"," * 16_000_000, b"x0\n" + b"\n" * 16_000_000 + b"a"):
        yield body, CSV


def _expanding_arrow() -> Iterator[tuple[bytes, str]]:
    import pyarrow as pa

    value, n = b"S" * 1_000_000, 50_000
    view = pa.py_buffer(struct.pack("<i4sii", len(value), value[:4], 0, 0) * n)
    repeated = pa.Array.from_buffers(pa.string_view(), n, [None, view, pa.py_buffer(value)])
    levels = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), [value.decode()])
    for column in (repeated, levels, pa.nulls(1_000_000_000)):
        yield _stream(pa.table({"x0": column})), ARROW
    yield _stream(pa.table({"x0": pa.array([0.0] * 5_000_000)}), compression="zstd"), ARROW


def _stream(table: Any, **options: Any) -> bytes:
    import pyarrow as pa

    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _posted(port: int, body: bytes, media: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/models/nb/predict", body, {"Content-Type": media})
    try:
        return urllib.request.urlopen(request, timeout=60).status
    except urllib.error.HTTPError as error:
        return error.code


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
