"""The server as a process of its own: its socket, its deadlines, its signals, what it imports."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from baytree.serve import server


class Process:
    def __init__(self, *args, seconds=None):
        shorter = f"import baytree.serve.limits as l; l.HEADER_TIMEOUT = l.BODY_TIMEOUT = {seconds};"
        short = "" if seconds is None else shorter
        code = f"{short}from baytree.cli import main; main()"
        command = [sys.executable, "-c", code, "serve", *map(str, args), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self.process.stdout.readline())
        self.port = int(found[1]) if found else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def connected(self, text):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        connection.sendall(text)
        return connection

    def predict(self, name, rows):
        body = json.dumps({"rows": rows}).encode()
        url, head = f"http://127.0.0.1:{self.port}/models/{name}/predict", {"Content-Type": "application/json"}
        request = urllib.request.Request(url, body, head)
        return json.load(urllib.request.urlopen(request, timeout=10))


@pytest.mark.slow
def test_slow_clients_are_dropped_and_a_stop_waits_for_none_of_them(paths):
    with Process(paths["nb"], seconds=1) as server:
        silent = server.connected(b"")
        half = server.connected(b"POST /models/nb/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ")
        slow = server.connected(b"POST /models/nb/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        assert server.predict("nb", [{}])["predictions"]
        assert silent.recv(99) == b""
        assert half.recv(99) == b""
        assert slow.recv(99).startswith(b"HTTP/1.1 408")
        waiting = server.connected(b"POST /models/nb/pre")
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0
        assert time.monotonic() - started < 5
        waiting.close()


@pytest.mark.slow
def test_a_pipe_that_nobody_reads_stops_neither_answers_nor_the_end(paths):
    with Process(paths["nb"]) as server:
        for _ in range(800):  # more than 64 kB of lines, the size of a pipe; uvicorn logs what is no HTTP, too
            with server.connected(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nno HTTP\r\n\r\n") as client:
                assert client.recv(99).startswith(b"HTTP/1.1 200")
        assert server.predict("nb", [{}])["predictions"]
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0


@pytest.mark.slow
def test_a_hangup_reads_the_files_again(paths, tmp_path):
    file = tmp_path / "live.baytree"
    file.write_bytes(paths["nb"].read_bytes())
    with Process(file) as server:
        before = server.predict("live", [{}])["version"]
        file.write_bytes(paths["cart"].read_bytes())
        server.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 10
        while server.predict("live", [{}])["version"] == before and time.monotonic() < until:
            time.sleep(0.05)
        assert server.predict("live", [{}])["version"] != before


@pytest.mark.slow
def test_an_address_that_others_reach_needs_a_token(paths):
    code = "from baytree.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", str(paths["nb"]), "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "token" in done.stderr


@pytest.mark.slow
def test_serving_imports_neither_scikit_learn_nor_a_frame_library(paths):
    code = (
        "import sys; from pathlib import Path; from baytree.serve.server import run; from baytree.serve.app import App;"
        "from baytree.serve.models import Models; from baytree.serve.monitoring import Log;"
        f"App(Models([Path({str(paths['nb'])!r}), Path({str(paths['cart'])!r})]), Log());"
        "print([m for m in ('sklearn', 'scipy', 'pandas', 'polars', 'pyarrow', 'narwhals') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.stdout.strip() == "[]", done.stderr


def test_where_the_loop_takes_no_signals_the_system_does(monkeypatch):
    """As on Windows, whose loops refuse, and which has no SIGHUP."""
    asked, before = [], signal.getsignal(signal.SIGTERM)

    async def run() -> None:
        def refuse(*_: object) -> None:
            raise NotImplementedError

        monkeypatch.setattr(asyncio.get_running_loop(), "add_signal_handler", refuse)
        monkeypatch.delattr(signal, "SIGHUP")
        server._on_signal("SIGHUP", lambda: asked.append("SIGHUP"))
        server._on_signal("SIGTERM", lambda: asked.append("SIGTERM"))
        signal.raise_signal(signal.SIGTERM)
        await asyncio.sleep(0.01)

    try:
        asyncio.run(run())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert asked == ["SIGTERM"]
