"""Late clients wait for those who are answered, and many may wait to be taken."""

import asyncio
import signal

import pytest

from baytree.serve import connections
from baytree.serve.connections import CloseQueue
from baytree.serve.limits import MAX_BODY_BYTES, MAX_LARGE_BODIES_BYTES
from baytree.serve.request_body import MemoryBudget, MemoryLease
from in_process import Server
from test_process import Process

GET = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def closed_after(turns, answering):
    """Which of ten late clients are closed after so many turns of the event loop."""

    async def wait():
        closed, closings = [], CloseQueue(answering)
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
    monkeypatch.setattr(connections, "_CLOSE_INTERVAL_SECONDS", 3600.0)
    assert closed_after(30, {object()}) == []


def test_late_clients_are_closed_under_any_load():
    closed = []

    async def wait():
        closings = CloseQueue({object()})
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
        waiting = [server.connected(GET) for _ in range(200)]
        server.process.send_signal(signal.SIGCONT)
        assert all(each.recv(99).startswith(b"HTTP/1.1 200") for each in waiting)
        for each in waiting:
            each.close()


def received(connection):
    """Return all bytes until the other side closes."""
    with connection:
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"", b"{"])
def test_a_post_behind_a_get_has_a_deadline(paths, body):
    post = b"POST /models/nb/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n"
    with Process(paths["nb"], seconds=1) as server:
        answers = received(server.connected(GET + GET + post + body))
    assert [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"200", b"200", b"408"]


def test_clients_that_announce_large_bodies_and_send_nothing_hold_nobody_up(paths):
    server = Server([paths["nb"]])

    async def ask():
        silence = asyncio.Event()

        async def receive():
            await silence.wait()
            return {"type": "http.disconnect"}

        async def send(_):
            raise AssertionError

        scope = {"type": "http", "method": "POST", "path": "/models/nb/predict", "root_path": "", "query_string": b""}
        scope["headers"] = [(b"content-length", str(MAX_BODY_BYTES).encode())]
        silent = [asyncio.create_task(server.app(scope, receive, send)) for _ in range(10)]
        await asyncio.sleep(0)
        parts = [b'{"rows": [{}', *[b" " * (1 << 20)] * 3, b"]}"]
        answer = await asyncio.wait_for(server.asked("POST", "/models/nb/predict", parts=parts), 10)
        silence.set()
        await asyncio.gather(*silent)
        return answer

    assert asyncio.run(ask()).status == 200


def test_bodies_that_grow_side_by_side_stay_within_the_room_and_all_get_through():
    sizes = {}

    async def read(room, name):
        held = MemoryLease(room)
        for megabytes in range(2, 17):
            await held.grow(megabytes << 20)
            sizes[name] = megabytes << 20
            assert sum(sizes.values()) <= MAX_LARGE_BODIES_BYTES
            await asyncio.sleep(0)
        del sizes[name]
        await held.release()

    async def read_all():
        room = MemoryBudget()
        await asyncio.wait_for(asyncio.gather(*(read(room, name) for name in range(20))), 20)

    asyncio.run(read_all())


def test_a_body_with_two_lengths_is_refused(paths):
    server, chunked = Server([paths["nb"]]), (b"transfer-encoding", b"chunked")
    for method, path in (("POST", "/models/nb/predict"), ("GET", "/health")):
        answer = server.ask(method, path, {"rows": [{}]}, headers=[chunked])
        assert (answer.status, answer.headers["connection"]) == (400, "close")
    assert server.ask("POST", "/models/nb/predict", headers=[chunked], parts=[b'{"rows":', b" []}"]).status == 200


@pytest.mark.slow
def test_a_stop_resets_no_client_whose_request_has_arrived(paths):
    with Process(paths["nb"]) as server:
        answered = [server.connected(GET) for _ in range(50)]
        for each in answered:
            while not each.recv(999).endswith(b"}"):
                pass
        server.process.send_signal(signal.SIGSTOP)
        for each in answered:
            each.sendall(GET)
        waiting = [server.connected(GET) for _ in range(300)]
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGCONT)
        answers = [received(each) for each in (*answered, *waiting)]
        assert {answer[:12] for answer in answers} == {b"HTTP/1.1 200"}
        assert b"\r\nconnection: close\r\n" in answers[-1].lower()
        assert server.process.wait(10) == 0
