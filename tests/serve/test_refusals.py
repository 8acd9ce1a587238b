"""What is refused: with which status, in how many letters, and without a word of what was sent."""

import io
import json

import polars as pl
import pytest

from baytree.serve.limits import MAX_BODY_BYTES
from baytree.serve.request_body import ARROW, CSV
from baytree.serve.routes import ENDPOINTS
from in_process import Server

SECRET = "ECHO7f3a"
NOT_JSON = [b"", b"{", b"[1,", b"\xff\xfe\x00", b"{'rows': []}", SECRET.encode(), b'{"rows": []} {}']
NOT_JSON += [b'{"rows": [{"x0": "\\ud800"}]}x', b'{"rows": [{"x0": "\xff"}]}']
NO_NUMBER = [b'{"rows": [{"x0": %s}]}' % each for each in (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999")]
TWICE = [b'{"rows": [{"x0": 1, "x0": 2}]}', b'{"rows": [], "rows": [{}]}', b'{"rows": [{"x0": 1, "\\u00780": 2}]}']
TWICE += [b'{"columns": {"x0": [":"], "x0": [1]}}', b'{"rows": [{"x0": "\\":", "x0": 2}]}']
DEEP = [b"[" * 100_000, b'{"rows": ' + b"[" * 50 + b"]" * 50 + b"}", b'{"a":' * 5000 + b"1" + b"}" * 5000]
SHAPES = [b"[]", b"1", b"null", b"{}", b'{"rows": {}}', b'{"rows": [1]}', b'{"rows": [null]}', b'{"rows": [[1, 2]]}']
SHAPES += [b'{"columns": ["x0"], "rows": [[1, 2]]}', b'{"columns": ["x0", "x0"], "rows": [[1, 2]]}']
SHAPES += [b'{"columns": {"x0": [1], "x1": []}}', b'{"columns": ["x0"]}', b'{"rows": [], "more": 1}', b'{"rows": [{}, []]}']
BAD_CSV = [b"", b"x0\n1,2", b"x0,x0\n1,2", b"x0\n" + SECRET.encode(), SECRET.encode() + b"\n1", b'x0\n"1\n', b"\xff\n1"]
NO_TABLES = NOT_JSON + NO_NUMBER + TWICE + DEEP + SHAPES


def is_small(answer):
    return len(answer.body) <= 2048 and isinstance(answer.json()["error"], str) and SECRET not in answer.body.decode()


@pytest.mark.parametrize("body", NO_TABLES, ids=range(len(NO_TABLES)))
def test_what_is_no_table_is_refused(server, body):
    answer = server.ask("POST", "/models/nb/predict", body)
    assert answer.status in (400, 422)
    assert is_small(answer)


def test_a_colon_within_a_string_is_no_key(server):
    assert server.predict("nb", [{'it\'s "size"': 'a: "b": c'}, {"x0": 1}]).status == 200


@pytest.mark.parametrize("value", [SECRET, [1], {"a": SECRET}, True, "12 " + SECRET, 10**400, 2**60])
def test_a_value_of_another_type_names_its_column(server, value):
    answer = server.predict("nb", [{"x0": 1}, {"x2": value}])
    assert answer.status == 422 or value == 10**400
    assert "x2" in answer.body.decode() or value == 10**400
    assert is_small(answer)


def test_levels_are_strings_where_they_were_strings(server):
    assert server.predict("nb", [{'it\'s "size"': 3}]).status == 422


def test_a_column_that_training_did_not_have_is_named(server):
    answer = server.predict("nb", [{"x00": 1}])
    assert (answer.status, "x00" in answer.json()["error"]) == (422, True)


@pytest.mark.parametrize("body", BAD_CSV)
def test_a_bad_csv_is_refused(server, body):
    answer = server.ask("POST", "/models/nb/predict", body, CSV)
    assert answer.status in (400, 422)
    assert is_small(answer)


@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity", "1e400", "-1e999", "1e400 €"])
@pytest.mark.parametrize("route", ["nb/predict", "nb/explain", "cart/predict", "amount/predict"])
def test_an_infinite_number_names_its_column(server, cell, route):
    arrow = io.BytesIO()
    pl.DataFrame({"x1": [0.0], "x0": [float("-inf" if "-" in cell else "inf")]}).write_ipc_stream(arrow)
    for body, media in ((f"x1,x0\n0,{cell}\n".encode(), CSV), (arrow.getvalue(), ARROW)):
        answer = server.ask("POST", f"/models/{route}", body, media)
        assert (answer.status, "'x0'" in answer.json()["error"]) == (422, True)


def test_a_bad_or_compressed_arrow_stream_is_refused(server):
    buffer = io.BytesIO()
    pl.DataFrame({"x0": [0.0] * 10_000}).write_ipc_stream(buffer, compression="zstd")
    nested = io.BytesIO()
    pl.DataFrame({"x0": [[1.0]]}).write_ipc_stream(nested, compression="uncompressed")
    bodies = (b"", b"ARROW", buffer.getvalue(), nested.getvalue())
    answers = [server.ask("POST", "/models/nb/predict", body, ARROW) for body in bodies]
    assert [answer.status for answer in answers] == [400, 400, 415, 422]


def test_other_content_types_are_refused(server):
    for media in ("application/x-python-pickle", "multipart/form-data; boundary=a", "text/html"):
        assert server.predict("nb", [{}], media=media).status == 415
    assert server.predict("nb", [{}], headers=[(b"content-encoding", b"gzip")]).status == 415


def test_a_body_is_counted_while_it_is_read(server):
    part = b" " * (1 << 20)
    answer = server.ask("POST", "/models/nb/predict", parts=[part] * 17)
    assert (answer.status, answer.headers["connection"]) == (413, "close")
    length = (b"content-length", str(MAX_BODY_BYTES + 1).encode())
    assert server.ask("POST", "/models/nb/predict", headers=[length], parts=[b"{}"]).status == 413


def test_too_many_rows_are_refused(server):
    assert server.ask("POST", "/models/nb/predict", b'{"rows": [' + b"{}," * 100_000 + b"{}]}").status == 413
    assert server.ask("POST", "/models/nb/explain", b'{"rows": [' + b"{}," * 10_000 + b"{}]}").status == 413
    assert server.ask("POST", "/models/nb/predict", b'{"rows": [' + b"{}," * 5_000_000 + b"{}]}").status == 413


def test_unknown_paths_models_and_methods_are_told_apart(server):
    assert server.predict("nobody", [{}]).status == 404
    assert server.ask("GET", "/nothing" + SECRET).status == 404
    assert server.ask("GET", "/models/nb/predict").status == 405
    assert server.ask("TRACE", "/").status == 405
    assert server.ask("TRACE", "/").headers["allow"] == "GET, HEAD"
    assert server.ask("GET", "/models/nb/predict").headers["allow"] == "POST"
    assert server.ask("POST", "/models/../nb/predict", {"rows": []}).status == 404


def test_without_its_token_nothing_but_health_is_answered(paths):
    server = Server([paths["nb"]], token="right")
    for given in (None, b"Bearer wrong", b"Basic right", b"Bearer", b"right"):
        headers = [] if given is None else [(b"authorization", given)]
        assert server.predict("nb", [{}], headers=headers).status == 401
        assert server.ask("GET", "/metrics", headers=headers).status == 401
    assert server.predict("nb", [{}], headers=[(b"authorization", b"Bearer right")]).status == 200
    assert server.ask("GET", "/health").json() == {"status": "ok"}


def test_without_a_token_only_names_of_this_machine_are_answered(paths):
    server = Server([paths["nb"]])
    for host in ("localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.2", "[::1]", "[::1]:8080", "::1"):
        assert server.predict("nb", [{}], headers=[(b"host", host.encode())]).status == (421 if host == "::1" else 200)
    for host in ("example.org", "example.org:80", "127.0.0.1.example.org", "localhost.example.org", "10.0.0.1", "[::2]", ""):
        for method, path in (("POST", "/models/nb/predict"), ("GET", "/health"), ("GET", "/metrics")):
            answer = server.ask(method, path, {"rows": [{}]}, headers=[(b"host", host.encode())])
            assert (answer.status, "--token-file" in answer.json()["error"]) == (421, True)
    with_token = Server([paths["nb"]], token="right")
    headers = [(b"host", b"example.org"), (b"authorization", b"Bearer right")]
    assert with_token.predict("nb", [{}], headers=headers).status == 200


def test_no_route_takes_a_path_a_url_or_an_archive():
    assert {part for way in ENDPOINTS for part in way.path.split("/") if part.startswith("{")} == {"{name}"}
    assert {method for way in ENDPOINTS for method in way.handlers} == {"GET", "POST"}


def test_the_log_has_a_line_for_each_request_and_nothing_of_the_rows(paths):
    server = Server([paths["nb"]])
    server.predict("nb", [{'it\'s "size"': SECRET}])
    server.predict(SECRET, [{}])
    lines = server.log()
    assert [(line["route"], line["status"], line["rows"]) for line in lines] == [
        ("/models/{name}/predict", 200, 1),
        ("/models/{name}/predict", 404, 0),
    ]
    assert SECRET not in json.dumps(lines)
