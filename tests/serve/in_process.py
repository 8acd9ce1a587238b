"""A server in this process: models on disk, an application, and requests that are plain function calls."""

import asyncio
import json
import os
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("starlette", reason="the server is not installed")

from baytree.serve.app import App
from baytree.serve.models import Models
from baytree.serve.monitoring import Log


def frame(n=200, seed=0):
    """Numbers, levels, missing cells, and a name with quotes."""
    random = np.random.default_rng(seed)
    label = random.integers(0, 3, n)
    rows = pd.DataFrame({f"x{j}": np.round(random.normal(size=n) + label * j, 3) for j in range(3)})
    rows['it\'s "size"'] = np.array(["S", "M", "L"])[(label + (random.random(n) < 0.4)) % 3]
    for column in rows:
        rows.loc[random.random(n) < 0.1, column] = None
    return rows, np.array(["low", "mid", "high é"], dtype=object)[label]


def rows_of(rows):
    return [{c: None if v is None or v != v else v for c, v in row.items()} for row in rows.to_dict("records")]


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)


class Server:
    """The application, asked without a socket."""

    def __init__(self, paths, token=None, least=None):
        self.reader, writer = os.pipe()
        self.app = App(Models(paths, least), Log(writer), token)

    def ask(self, method, path, body=b"", media="application/json", headers=(), parts=None):
        return asyncio.run(self.asked(method, path, body, media, headers, parts))

    async def asked(self, method, path, body=b"", media="application/json", headers=(), parts=None):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        pieces = list(parts if parts is not None else [body])
        given = [(b"content-type", media.encode()), *headers]
        if parts is None:
            given.append((b"content-length", str(len(body)).encode()))
        sent = []

        async def receive():
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": method, "path": path, "headers": given, "root_path": "", "query_string": b""}
        await self.app(scope, receive, send)
        told = {key.decode(): value.decode() for key, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], told, sent[1]["body"])

    def predict(self, name, rows, **more):
        return self.ask("POST", f"/models/{name}/predict", {"rows": rows}, **more)

    def log(self):
        return [json.loads(line) for line in os.read(self.reader, 1 << 20).decode().splitlines()]
