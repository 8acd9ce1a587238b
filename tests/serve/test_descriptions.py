"""What the server tells of itself: its models, its routes, its counts."""

import os
import re

from baytree.serve.routes import ENDPOINTS
from in_process import Server, rows_of


def test_the_openapi_document_is_valid_and_has_every_route(server):
    from openapi_spec_validator import validate

    document = server.ask("GET", "/openapi.json").json()
    validate(document)
    told = {(path, method.upper()) for path, item in document["paths"].items() for method in item}
    assert told == {(way.path, method) for way in ENDPOINTS for method in way.handlers}


def test_a_model_is_described_by_its_columns_and_classes(server):
    told = server.ask("GET", "/models/nb").json()
    assert told["columns"][0] == {"name": "x0", "kind": "numeric"}
    assert told["columns"][-1]["levels"] == ["L", "M", "S"]
    assert told["target"]["classes"] == ["high é", "low", "mid"]
    assert [each["name"] for each in server.ask("GET", "/models").json()["models"]] == ["nb", "cart", "amount"]


def test_requests_and_rows_are_counted(server):
    def counted():
        text = server.ask("GET", "/metrics").body.decode()
        route = r'\{route="/models/\{name\}/predict",method="POST",status="200"\}'
        return int(re.search(rf"baytree_requests_total{route} (\d+)", text)[1]), int(
            re.search(r'baytree_rows_total\{model="nb"\} (\d+)', text)[1]
        )

    server.predict("nb", [{}])
    before = counted()
    server.predict("nb", [{}, {}])
    assert counted() == (before[0] + 1, before[1] + 2)


def test_buckets_of_time_end_with_all_requests(server):
    server.predict("nb", [{}])
    text = server.ask("GET", "/metrics").body.decode()
    route = r'\{route="/models/\{name\}/predict"'
    whole = re.search(rf'baytree_request_seconds_bucket{route},le="\+Inf"\}} (\d+)', text)[1]
    assert whole == re.search(rf"baytree_request_seconds_count{route}\}} (\d+)", text)[1]


def test_the_drift_of_answered_rows_is_told(paths, table):
    server = Server([paths["nb"]])
    for row in rows_of(table[0]):
        server.predict("nb", [row])
    text = server.ask("GET", "/metrics").body.decode()
    assert 'baytree_drift_rows{model="nb"} 200' in text
    assert 'baytree_drift_alarm{model="nb",column="x0"} 0' in text
    moved = table[0].assign(x0=table[0].x0 + 50)
    server.ask("POST", "/models/nb/predict", moved.to_csv(index=False).encode(), "text/csv")
    text = server.ask("GET", "/metrics").body.decode()
    assert 'baytree_drift_rows{model="nb"} 400' in text
    assert 'baytree_drift_alarm{model="nb",column="x0"} 1' in text
    assert 'baytree_drift_alarm{model="nb",column="x1"} 0' in text


def test_a_log_that_nobody_reads_stops_no_answer_and_its_lost_lines_are_counted(paths):
    server = Server([paths["nb"]])
    n_asked = 1000  # lines of more than 64 kB, the size of a pipe
    assert {server.ask("GET", "/health").status for _ in range(n_asked)} == {200}
    dropped = int(re.search(r"baytree_log_lines_dropped_total (\d+)", server.ask("GET", "/metrics").body.decode())[1])
    assert 0 < dropped < n_asked
    assert len(server.log()) == n_asked - dropped


def test_a_log_that_was_closed_stops_no_answer(paths):
    server = Server([paths["nb"]])
    os.close(server.reader)
    assert server.predict("nb", [{}]).status == 200
    assert "baytree_log_lines_dropped_total 1" in server.ask("GET", "/metrics").body.decode()
