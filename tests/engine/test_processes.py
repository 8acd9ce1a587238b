"""Whether another process is alive, asked without harm."""

import os
import subprocess
import sys

from baytree.engine.processes import is_alive


def test_this_process_is_alive_and_one_that_has_ended_is_not():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_alive(os.getpid())
    assert not is_alive(ended.pid)


def test_where_a_signal_would_end_a_process_none_is_sent(monkeypatch):
    def end(*_: int) -> None:
        raise AssertionError("Windows ends a process that gets any signal")

    monkeypatch.setattr(os, "kill", end)
    monkeypatch.setattr(os, "name", "nt")
    assert is_alive(12345)
