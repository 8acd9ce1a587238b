"""A short body that would become a large table is refused before it becomes one."""

import io
import json
import struct

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.serve.arrow_messages import _Table
from baytree.serve.limits import MAX_STRING_BYTES
from baytree.serve.request_body import ARROW, CSV
from in_process import Server

pa = pytest.importorskip("pyarrow")
SIZE = 'it\'s "size"'
JSON = "application/json"


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Return a server of a model with 1,000 columns."""
    path, choice = tmp_path_factory.mktemp("wide") / "wide.baytree", np.random.default_rng(0)
    frame = {f"x{j}": choice.normal(size=20) for j in range(1000)}
    bt.save(bt.NaiveBayesClassifier().fit(pl.DataFrame(frame), ["a", "b"] * 10), path)
    return Server([path])


def stream(table, **options):
    """Return a table as an Arrow stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def views(name, value, n_rows):
    """Return a column of string views that all point at one value."""
    view = struct.pack("<i4sii", len(value), value[:4], 0, 0)
    buffers = [None, pa.py_buffer(view * n_rows), pa.py_buffer(value)]
    return pa.table({name: pa.Array.from_buffers(pa.string_view(), n_rows, buffers)})


def with_shifted_buffers(body):
    """Return a stream of one batch whose buffers begin 4 bytes later."""
    data = bytearray(body)
    start = 8 + struct.unpack_from("<i", data, 4)[0]
    size = struct.unpack_from("<i", data, start + 4)[0]
    metadata = memoryview(data)[start + 8 : start + 8 + size]
    message = _Table(metadata, struct.unpack_from("<I", metadata)[0])
    length = message.number(3, "<q")
    np.frombuffer(message.table(2).vector(2, 16), "<i8")[::2] += 4
    struct.pack_into("<q", metadata, message.position_of(3), length + 8)
    metadata.release()
    first = start + 8 + size
    return bytes(data[:first] + bytes(4) + data[first : first + length] + bytes(4) + data[first + length :])


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("shift", [lambda body: body, with_shifted_buffers])
def test_a_compressed_arrow_stream_is_refused_wherever_its_buffers_begin(server, codec, shift):
    body = shift(stream(pa.table({"x0": np.zeros(50_000)}), compression=codec))
    answer = server.ask("POST", "/models/nb/predict", body, ARROW)
    assert (answer.status, "compressed" in answer.json()["error"]) == (415, True)


def test_values_that_look_like_compressed_buffers_are_numbers(server):
    value = struct.unpack("<d", struct.pack("<Q", 0x3FF00000_184D2204))[0]
    answer = server.ask("POST", "/models/nb/predict", stream(pa.table({"x0": [value] * 3})), ARROW)
    assert answer.body == server.predict("nb", [{"x0": value}] * 3).body


def test_string_views_that_repeat_a_long_value_are_refused(server):
    for rows, status in ((1, 200), (MAX_STRING_BYTES // 1_000_000 + 1, 413)):
        body = stream(views(SIZE, b"S" * 1_000_000, rows))
        assert len(body) < 2_000_000
        assert server.ask("POST", "/models/nb/predict", body, ARROW).status == status


def test_levels_that_repeat_a_long_value_are_refused(server):
    for n_rows, status in ((1, 200), (MAX_STRING_BYTES // 1_000_000 + 1, 413), (100_000, 413)):
        levels = pa.DictionaryArray.from_arrays(pa.array([0] * n_rows, pa.int32()), ["S" * 1_000_000])
        assert server.ask("POST", "/models/nb/predict", stream(pa.table({SIZE: levels})), ARROW).status == status


def test_string_views_are_strings(server):
    body = stream(views(SIZE, b"a level of more than twelve bytes", 3))
    expected = server.predict("nb", [{SIZE: "a level of more than twelve bytes"}] * 3)
    assert server.ask("POST", "/models/nb/predict", body, ARROW).body == expected.body


def test_columns_without_buffers_and_batches_without_rows_are_counted(server):
    one, none = pa.record_batch({"x0": pa.nulls(1)}), pa.record_batch({"x0": pa.nulls(0)})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, none.schema) as writer:
        for _ in range(50_000):
            writer.write_batch(none)
    long = stream(pa.Table.from_batches([one])).replace(struct.pack("<qq", 1, 1), struct.pack("<qq", 10**9, 10**9))
    bodies = [sink.getvalue(), long, stream(pa.table({"x0": pa.nulls(100_001)}))]
    answers = [server.ask("POST", "/models/nb/predict", body, ARROW) for body in bodies]
    assert [answer.status for answer in answers] == [413, 400, 413]


def test_a_damaged_arrow_stream_is_refused(server):
    body = stream(pa.table({"x0": [1.0, 2.0], SIZE: pa.array(["S", "M"]).dictionary_encode(), "x1": [1, 2]}))
    choice = np.random.default_rng(0)
    for _ in range(500):
        damaged = np.frombuffer(body, np.uint8).copy()
        damaged[choice.integers(0, len(body), 3)] = choice.integers(0, 256, 3)
        for sent in (damaged.tobytes(), body[: choice.integers(len(body))]):
            assert server.ask("POST", "/models/nb/predict", sent, ARROW).status < 500


def test_rows_that_share_few_names_are_counted_with_the_names_that_they_lack(server):
    body = json.dumps({"rows": [{}] * 50_000 + [{f"n{k}": 0 for k in range(50_000)}]})
    assert server.ask("POST", "/models/nb/predict", body.encode()).status == 413


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (b'{"rows": [' + b"{}," * 9999 + b"{}]}", JSON),
        (b"x0\n" + b"1\n" * 10_000, CSV),
        (stream(pa.table({"x0": np.zeros(10_000)})), ARROW),
    ],
)
def test_columns_that_are_left_out_are_counted(wide, body, media):
    answer = wide.ask("POST", "/models/wide/predict", body, media)
    assert (answer.status, "4,000 rows" in answer.json()["error"]) == (413, True)


def test_lines_of_explanations_are_counted(wide):
    body = b'{"rows": [' + b"{}," * 500 + b"{}]}"
    assert wide.ask("POST", "/models/wide/explain", body).status == 413


@pytest.mark.parametrize("body", [b"x0\n" + b"1\n" * 8_000_000, b"x0" + b"," * 16_000_000, b"x0,x1\n" + b",\n" * 5_000_000])
def test_rows_and_cells_of_a_csv_are_counted_while_it_is_read(server, body):
    assert server.ask("POST", "/models/nb/predict", body, CSV).status == 413


def test_brackets_in_strings_are_no_rows(server):
    answer = server.predict("nb", [{SIZE: "{[" * 200_000}])
    assert answer.status == 200
