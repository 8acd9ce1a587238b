"""Late clients wait for those who are answered, and many may wait to be taken."""

import asyncio
import signal

import pytest

from baytree.serve import connections
from baytree.serve.connections import Closings
from test_process import Process


def closed_after(turns, answering):
    """Which of ten late clients are closed after so many turns of the event loop."""

    async def wait():
        closed, closings = [], Closings(answering)
        for client in range(10):
            closings.add(lambda client=client: closed.append(client))
        for _ in range(turns):
            await asyncio.sleep(0)
        return closed.copy()

    return asyncio.run(wait())


def test_late_clients_are_closed_in_their_order_and_at_most_one_in_a_turn():
    for turns in range(1, 30):
        closed = closed_after(turns, set())
        assert closed == list(range(len(closed)))
        assert len(closed) <= turns
    assert len(closed) == 10


def test_late_clients_wait_while_somebody_is_answered(monkeypatch):
    monkeypatch.setattr(connections, "_PAUSE", 3600.0)
    assert closed_after(30, {object()}) == []


def test_late_clients_are_closed_under_any_load():
    closed = []

    async def wait():
        closings = Closings({object()})
        for client in range(10):
            closings.add(lambda client=client: closed.append(client))
        while len(closed) < 10:
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(wait(), 10))
    assert closed == list(range(10))


@pytest.mark.slow
def test_connections_wait_for_a_server_that_is_busy(paths):
    with Process(paths["nb"]) as server:
        server.process.send_signal(signal.SIGSTOP)
        waiting = [server.connected(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n") for _ in range(200)]
        server.process.send_signal(signal.SIGCONT)
        assert all(each.recv(99).startswith(b"HTTP/1.1 200") for each in waiting)
        for each in waiting:
            each.close()
