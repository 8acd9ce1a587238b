"""Tables on disk: the laws of reading in blocks, and a clear sentence for all that can be wrong."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import threading
import warnings
import zipfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import baytree as bt
from baytree.table import files
from baytree.table.files import blocks, delimited
from baytree.table.files.column_types import MISSING

REPEAT = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 16)
    monkeypatch.setattr(delimited, "SAMPLE", 16)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder: Path, name: str, content: str | bytes) -> pl.DataFrame:
    return bt.read(write(folder, name, content))


@given(rows=st.lists(st.lists(FIELD, min_size=2, max_size=2), min_size=1), size=st.integers(1, 40))
@REPEAT
def test_blocks_join_to_the_file_and_hold_whole_records(rows, size):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    content = text.getvalue().encode()
    parts = list(blocks.blocks(io.BytesIO(content), "x", size))
    assert b"".join(parts) == content
    assert [row for part in parts for row in csv.reader(io.StringIO(part.decode(), newline=""))] == rows


THEIR_NAMES = ["count", "proportion", "value", "values", "index", "level_0", "len", "literal", "field_0", "label"]


@pytest.mark.parametrize("name", THEIR_NAMES)
def test_a_column_may_have_a_name_that_data_frames_use_themselves(name, tmp_path):
    rows = "".join(f"{k},{'ab'[k % 2]},{k % 3}\n" for k in range(30))
    frame = read(tmp_path, "t.csv", f"{name},y,z\n{rows}")
    assert frame.columns == [name, "y", "z"]
    for table in (frame, frame.to_pandas(), frame.to_arrow(), frame.to_dict(as_series=False)):
        model = bt.CARTClassifier(schema={name: "numeric"}).fit(table, "y")
        assert model.feature_names_in_.tolist() == [name, "z"]
        assert len(model.predict(table)) == 30


@pytest.mark.slow
@given(rows=st.lists(st.lists(FIELD, min_size=3, max_size=3), min_size=1, max_size=20))
@REPEAT
@pytest.mark.usefixtures("small_blocks")
def test_reading_in_small_blocks_gives_what_was_written(rows, tmp_path):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["a", "b", "c"], *rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = bt.read(write(tmp_path, "t.csv", text.getvalue()), text="abc")
    trimmed = [tuple(field.strip(" \t") for field in row) for row in rows]
    assert frame.rows() == [tuple(None if field in MISSING else field for field in row) for row in trimmed]


VALUE = st.sampled_from(["1", "7", "2.5", "", "x", " 3 ", "2020-01-02", "?", "007"])


@pytest.mark.slow
@given(values=st.lists(VALUE, min_size=1))
@REPEAT
def test_the_types_do_not_depend_on_the_size_of_the_blocks(values, tmp_path):
    path = write(tmp_path, "t.csv", "a,b\n" + "".join(f"{value},1\n" for value in values))
    whole = files.all_rows(files.source(path))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(blocks, "BLOCK", 8)
        in_blocks = pl.concat(files.batches(path))
    assert in_blocks.equals(whole, null_equal=True)
    assert in_blocks.schema == whole.schema


def test_missing_values_are_the_empty_field_the_question_mark_and_na(tmp_path):
    frame = read(tmp_path, "t.csv", 'a,b\n1,x\n,\n?,?\nNA,"NA"\nNaN,null\n')
    assert frame.rows() == [(1, "x"), *[(None, None)] * 4]


def test_numbers_codes_dates_and_words_are_told_apart(tmp_path):
    values = "1,2.5,01234,2020-01-02,2020-01-02T10:00:00,true,12345678901234567890"
    frame = read(tmp_path, "t.csv", f"n,x,zip,day,time,flag,id\n{values}\n")
    types = [pl.Int64, pl.Float64, pl.String, pl.Date, pl.Datetime("us"), pl.String, pl.String]
    assert frame.dtypes == types
    assert frame["zip"][0] == "01234"


def test_blanks_around_values_are_trimmed(tmp_path):
    frame = read(tmp_path, "t.csv", "age, work, pay\n39, State-gov, 77516\n50, ?, 3\n")
    assert frame.to_dict(as_series=False) == {"age": [39, 50], "work": ["State-gov", None], "pay": [77516, 3]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b"\xef\xbb\xbfa,b\r\n1,x\r\n\r\n2,y\r\n\r\n"),
        ("t.csv", "a;b\n1;x\n2;y"),
        ("t.csv", "\n\na|b\n1|x\n2|y\n"),
        ("t.tsv", "a\tb\n1\tx\n2\ty\n"),
        ("t.csv", ",a,b\n0,1,x\n1,2,y\n"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,x\n2,y\n", mtime=0)),
        ("t.ndjson", '{"a":1,"b":"x"}\n\n{"b":"y","a":2}\n'),
        ("t.data", "a , b\n1 , x\n2 , y\n"),
    ],
    ids=["crlf", "semicolon", "bar", "tab", "row numbers", "gzip", "ndjson", "padded"],
)
@pytest.mark.filterwarnings("ignore:.*row numbers")
def test_every_dress_of_a_table_gives_the_same_table(tmp_path, name, content):
    assert read(tmp_path, name, content).to_dict(as_series=False) == {"a": [1, 2], "b": ["x", "y"]}


def test_parquet_gives_the_table_that_was_written(tmp_path):
    table = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    table.write_parquet(tmp_path / "t.parquet")
    assert bt.read(tmp_path / "t.parquet").equals(table)


def test_the_first_sheet_of_an_excel_file_is_read_as_text_is(tmp_path):
    write_excel(tmp_path / "t.xlsx", [["a", "b"], ["1", "x"], ["?", "NA"], ["2.5", "y"]])
    frame = bt.read(tmp_path / "t.xlsx")
    assert frame.to_dict(as_series=False) == {"a": [1.0, None, 2.5], "b": ["x", None, "y"]}


def write_excel(path: Path, rows: list[list[str]]) -> None:
    """The smallest workbook there can be: one sheet, its cells as text in place."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = "http://schemas.openxmlformats.org/package/2006/relationships"
    cells = ["".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) for row in rows]
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{links}"><Relationship Id="r" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{links}"><Relationship Id="s" '
        f'Type="{office}/worksheet" Target="worksheets/s.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{office}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="s"/></sheets></workbook>',
        "xl/worksheets/s.xml": f"<worksheet {main}><sheetData>"
        + "".join(f"<row>{row}</row>" for row in cells)
        + "</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)


@pytest.mark.usefixtures("small_blocks")
def test_a_late_word_in_a_column_of_numbers_makes_it_text_and_says_so(tmp_path):
    path = write(tmp_path, "t.csv", "age,y\n" + "31,a\n" * 10 + "old,b\n")
    with pytest.warns(UserWarning, match="row 11: column 'age' looked like a whole number, but holds 'old'"):
        frame = bt.read(path)
    assert frame["age"].to_list() == ["31"] * 10 + ["old"]


@pytest.mark.usefixtures("small_blocks")
def test_a_late_fraction_makes_whole_numbers_numbers_without_a_word(tmp_path):
    path = write(tmp_path, "t.csv", "age,y\n" + "31,a\n" * 10 + "0.5,b\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bt.read(path)["age"].to_list() == [31.0] * 10 + [0.5]


def test_a_column_asked_for_as_text_keeps_what_was_written(tmp_path):
    path = write(tmp_path, "t.csv", "zip,y\n123,a\n456,b\n")
    assert bt.read(path, text=["zip"])["zip"].to_list() == ["123", "456"]


def test_a_column_asked_for_as_a_number_is_never_text(tmp_path):
    path = write(tmp_path, "t.csv", "age,y\n1,a\nold,b\n")
    with pytest.raises(files.FileError, match=r"row 2: column 'age' must be a number, but holds 'old'"):
        bt.read(path, numbers=["age"])


def test_a_source_can_be_read_again(tmp_path):
    source = files.source(write(tmp_path, "t.csv", "a,b\n1,x\n"))
    assert [f.rows() for f in source.batches()] == [f.rows() for f in source.batches()] == [[(1, "x")]]


def test_a_pipe_is_read_as_csv(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("a,b\n1,x\n"))
    writer.start()
    assert bt.read(tmp_path / "pipe").rows() == [(1, "x")]
    writer.join()


QUOTES = "a field with a quote mark stands in quote marks, and the mark inside is doubled"
FIELDS = "a field that holds ',', a quote mark or a line end must stand in quote marks"
UTF8 = "name its encoding, or save it as CSV with the encoding UTF-8"
REFUSED = {
    ("t.csv", b""): "t.csv: the file is empty",
    ("t.csv", b"\n \n"): "t.csv: the file is empty",
    ("t.csv", b"a,b\n"): "t.csv: there is a header but no row",
    ("t.csv", b"a,b,c\n1,2,3\n4,5\n"): f"t.csv, row 2: 2 fields, but the header has 3; {FIELDS}",
    ("t.csv", b"a,b,c\n4,5\n1,2,3\n"): f"t.csv, row 1: 2 fields, but the header has 3; {FIELDS}",
    ("t.csv", b"a,b\n1,2\n3,4,5\n"): f"t.csv, row 2: 3 fields, but the header has 2; {FIELDS}",
    ("t.csv", b"a,b\n1,5\" pipe\n2,x\n"): f"t.csv, row 1: a quote mark out of place at '5\" pipe'; {QUOTES}",
    ("t.csv", b"a,b\n1,x\n2,\"open\n3,x\n"): f"t.csv, row 2: a quote mark out of place at '\"open'; {QUOTES}",
    ("t.csv", b"a,b\n1,x\n2,x\0\n"): "t.csv, row 2: a NUL byte; the file is damaged or is not text",
    ("t.csv", bytes(range(256))): f"t.csv: this is not a text file (it holds NUL bytes); {UTF8}",
    ("t.csv", b"PAR1...."): "t.csv: the name says text, but this is a Parquet file; rename or convert it",
    ("t.parquet", b"a,b\n1,2\n"): "t.parquet: the name says Parquet, but this is text; rename or convert it",
    ("t.csv.gz", b"a,b\n1,2\n"): "t.csv.gz: the name says gzip, but this is text; rename or convert it",
    ("t.foo", b"a,b\n"): "t.foo: unknown kind of file; use .csv, .tsv, .parquet, .json, .ndjson, .xlsx, .zip or .csv.gz",
    ("t.ndjson", b'{"a":1}\n{"a":2\n'): "t.ndjson, line 2: this is not JSON (Input data was truncated)",
    ("t.jsonl", b'{"a":1}\n3\n'): 't.jsonl, line 2: each line must be an object, {"column": value, ...}',
    ("t.ndjson", b'{"a":[1]}\n'): "t.ndjson: column 'a' holds lists or objects, not single values",
}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), REFUSED, ids=range(len(REFUSED)))
def test_a_bad_file_is_refused_in_one_sentence_with_its_place(tmp_path, name, content):
    with pytest.raises(files.FileError) as refusal:
        read(tmp_path, name, content)
    assert str(refusal.value) == REFUSED[name, content]


def test_a_misspelt_file_gets_a_suggestion(tmp_path):
    write(tmp_path, "passengers.csv", "a\n1\n")
    with pytest.raises(files.FileError, match=r"there is no file .*; did you mean '.*passengers.csv'\?"):
        bt.read(tmp_path / "pasengers.csv")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(files.FileError, match="is a folder; name a file that holds a table"):
        bt.read(tmp_path)


def test_a_record_without_end_is_refused_before_memory_runs_out(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "LONGEST_RECORD", 1 << 20)
    monkeypatch.setattr(blocks, "BLOCK", 1 << 19)
    with pytest.raises(files.FileError, match="line 3: one record is longer than 1 MB; a quote mark may be"):
        read(tmp_path, "t.csv", 'a,b\n1,2\n3,"' + "x\n" * (1 << 20))


def test_any_cut_of_a_parquet_file_is_refused(tmp_path):
    pl.DataFrame({"a": range(50), "b": ["x"] * 50}).write_parquet(tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    for length in range(0, len(content), 7):
        with pytest.raises(files.FileError):
            read(tmp_path, "cut.parquet", content[:length])


@given(content=st.binary(max_size=200), name=st.sampled_from(["t.csv", "t.tsv", "t.ndjson", "t.xlsx"]))
@REPEAT
def test_junk_is_a_table_or_a_file_error_and_nothing_else(content, name, tmp_path):
    with warnings.catch_warnings(), contextlib.suppress(files.FileError):
        warnings.simplefilter("ignore")
        assert len(read(tmp_path, name, content))
