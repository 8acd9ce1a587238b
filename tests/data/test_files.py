"""Tables on disk: the laws of reading in blocks, and a clear sentence for all that can be wrong."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import subprocess
import sys
import threading
import warnings
import zipfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import baytree as bt
from baytree.data import files, frames
from baytree.data.files import blocks
from baytree.data.files import csv as csv_files
from baytree.data.files.csv_parse import strip_blanks
from baytree.data.inference import TableProfile
from baytree.data.parsing.vocabulary import NULL_TOKENS
from law_settings import settings

REPEAT = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 16)
    monkeypatch.setattr(csv_files, "SAMPLE_BYTES", 16)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder: Path, name: str, content: str | bytes) -> pl.DataFrame:
    return bt.read(write(folder, name, content))


def read_apart(path: Path, memory: int = 4 << 30) -> subprocess.CompletedProcess:
    """What a process of its own, with so much memory, prints of the error that reading a file raises."""
    if "ASAN_OPTIONS" in os.environ:
        pytest.skip("AddressSanitizer itself needs more memory than the limit")
    code = f"""
import resource
import baytree as bt, polars
resource.setrlimit(resource.RLIMIT_DATA, ({memory}, {memory}))
try:
    bt.read({str(path)!r})
except ValueError as error:
    print(error)
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


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
    assert frame.rows() == [tuple(None if field in NULL_TOKENS else field for field in row) for row in trimmed]


VALUE = st.sampled_from(["1", "7", "2.5", "", "x", " 3 ", "2020-01-02", "?", "007"])


@pytest.mark.slow
@given(values=st.lists(VALUE, min_size=1))
@REPEAT
def test_the_types_do_not_depend_on_the_size_of_the_blocks(values, tmp_path):
    path = write(tmp_path, "t.csv", "a,b\n" + "".join(f"{value},1\n" for value in values))
    whole = files.read_all(files.source(path))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(blocks, "BLOCK_BYTES", 8)
        in_blocks = pl.concat(files.batches(path))
    assert in_blocks.equals(whole, null_equal=True)
    assert in_blocks.schema == whole.schema


@given(st.lists(st.none() | st.text(st.sampled_from("ab\u00e4\U0001f333 "), max_size=20), max_size=40))
def test_strings_without_blanks_around_them_are_left_as_they_are_and_others_are_stripped(cells):
    series = pl.Series("x", cells, pl.String)
    bare = [(cell and cell.strip(" \t")) or None for cell in cells]
    assert strip_blanks(series).to_list() == bare
    assert (strip_blanks(series) is series) == (bare == cells)


@pytest.mark.parametrize("name", ["", "\0", "a\0b", "é\n"])
def test_strings_of_a_column_of_any_name_are_stripped(name):
    assert strip_blanks(pl.Series(name, [" v", ""])).to_list() == ["v", None]


DIGITS = st.sampled_from(["1", "25", "-3.5", "007", "-05", "00.5", "+5", "+4917012345678", "9" * 16, "1" * 17, "1e3", ""])


@pytest.mark.slow
@given(values=st.lists(DIGITS, min_size=1, max_size=30))
@REPEAT
def test_a_file_and_the_same_strings_in_a_frame_give_columns_of_the_same_kind(values, tmp_path):
    with warnings.catch_warnings(action="ignore"):
        frame = bt.read(write(tmp_path, "t.csv", "a,b\n" + "".join(f"{value},1\n" for value in values)))
        in_file, in_memory = (
            TableProfile.of(frames.read(table)).schema() for table in (frame, {"a": values, "b": [1] * len(values)})
        )
    assert [(c.name, c.kind, c.levels) for c in in_file.columns] == [(c.name, c.kind, c.levels) for c in in_memory.columns]


@pytest.mark.parametrize("number", ["9234567890123456", "+4917012345678"])
def test_card_and_phone_numbers_in_a_file_are_codes(number, tmp_path):
    with warnings.catch_warnings(action="ignore"):
        frame = read(tmp_path, "t.csv", "code,y\n" + f"{number},a\n{number[:-1]}9,b\n" * 9)
    assert frame["code"].unique().sort().to_list() == [number, f"{number[:-1]}9"]
    assert bt.CARTClassifier().fit(frame, "y").schema_["code"].kind == "nominal"


def test_a_leading_zero_before_a_decimal_point_is_no_code(tmp_path):
    with warnings.catch_warnings(action="error"):
        assert read(tmp_path, "t.csv", "a,b\n00.5,1\n07.25,2\n")["a"].to_list() == [0.5, 7.25]


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
    cells = ["".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) for row in rows]
    write_sheets(path, {"s": "<sheetData>" + "".join(f"<row>{row}</row>" for row in cells) + "</sheetData>"})


def write_sheets(path: Path, sheets: dict[str, str]) -> None:
    """A workbook of these sheets, whose XML is given."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = "http://schemas.openxmlformats.org/package/2006/relationships"
    linked = "".join(
        f'<Relationship Id="s{k}" Type="{office}/worksheet" Target="worksheets/s{k}.xml"/>' for k in range(len(sheets))
    )
    listed = "".join(f'<sheet name="{name}" sheetId="{k + 1}" r:id="s{k}"/>' for k, name in enumerate(sheets))
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{links}"><Relationship Id="r" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{links}">{linked}</Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
        **{f"xl/worksheets/s{k}.xml": f"<worksheet {main}>{xml}</worksheet>" for k, xml in enumerate(sheets.values())},
    }
    with zipfile.ZipFile(path, "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)


def cell(place: str, value: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'


TABLE = (
    f'<row r="1">{cell("A1", "x")}{cell("B1", "y")}</row><row r="2">{cell("A2", "1")}{cell("B2", "a")}</row>'
    f'<row r="3">{cell("A3", "2")}{cell("B3", "b")}</row>'
)


@pytest.mark.parametrize(
    "far",
    [
        f'<row r="1048576">{cell("XFD1048576", "7")}</row>',
        "<row r='1048576'><c t='>' \n r = 'XFD1048576'><v>7</v></c></row>",
        '<x:row r="1048576"><x:c s="1" r="XFD1048576"><v>7</v></x:c></x:row>',
        '<row r="1048576"><c><v>7</v></c></row><row r="5"><c r="XFC5"><v>7</v></c><c><v>7</v></c></row>',
        f'<row r="4294967295">{cell("ZZZZ4294967295", "7")}</row>',
    ],
)
def test_a_sheet_with_a_cell_far_away_is_refused_before_it_is_laid_out(far, tmp_path):
    """In a process of its own: the reader would end it."""
    write_sheets(tmp_path / "t.xlsx", {"s": f"<sheetData>{TABLE}{far}</sheetData>"})
    result = read_apart(tmp_path / "t.xlsx")
    assert "t.xlsx: sheet 's' has" in result.stdout, result.stderr[:300]
    assert "delete the cells far from the table" in result.stdout


def test_cells_far_away_that_only_have_a_format_do_not_matter(tmp_path):
    far = '<row r="1048576" ht="9"><c r="XFD1048576" s="3"/></row>'
    write_sheets(tmp_path / "t.xlsx", {"s": f'<dimension ref="A1:XFD1048576"/><sheetData>{TABLE}{far}</sheetData>'})
    assert bt.read(tmp_path / "t.xlsx").to_dict(as_series=False) == {"x": [1, 2], "y": ["a", "b"]}


def grid(rows: dict[int, str], merged: str = "") -> str:
    """The XML of a sheet: rows by their numbers, their cells separated by `|`, from column B on."""
    lines = []
    for number, cells in rows.items():
        placed = [cell(f"{chr(66 + j)}{number}", text) for j, text in enumerate(cells.split("|")) if text]
        lines.append(f'<row r="{number}">{"".join(placed)}</row>')
    ranges = "".join(f'<mergeCell ref="{each}"/>' for each in merged.split())
    return f"<sheetData>{''.join(lines)}</sheetData>" + (f"<mergeCells>{ranges}</mergeCells>" if ranges else "")


def test_merged_cells_are_filled_and_told(tmp_path):
    rows = {3: "region|x|y", 4: "north|1|a", 5: "|2|b", 7: "|3|a", 8: "south|4|b", 9: "|5|", 10: "east|6|a"}
    write_sheets(tmp_path / "t.xlsx", {"s": grid(rows, "B4:B7 B8:B9 D8:D9")})
    with pytest.warns(bt.BaytreeWarning, match=r"merged cells are filled with their value \(4 cells\)"):
        frame = bt.read(tmp_path / "t.xlsx")
    assert frame["region"].to_list() == ["north", "north", "north", "south", "south", "east"]
    assert frame["y"].to_list() == ["a", "b", "a", "b", "b", "a"]


def test_merged_titles_and_groups_of_columns_give_no_names(tmp_path):
    title = {1: "Results of the year", 3: "name|scores||y", 4: "|maths|art|"}
    rows = {k: f"n{k}|{k}|{k % 3}|{'ab'[k % 2]}" for k in range(5, 12)}
    write_sheets(tmp_path / "t.xlsx", {"s": grid({**title, **rows, 12: "a|7||b"}, "B1:E1 B3:B4 C3:D3 E3:E4 C12:D12")})
    with warnings.catch_warnings(action="ignore"):
        frame = bt.read(tmp_path / "t.xlsx")
    assert frame.columns == ["name", "maths", "art", "y"]
    assert frame["art"].to_list() == [2, 0, 1, 2, 0, 1, 2, 7]


def test_the_sheet_that_has_the_target_is_read_and_told(tmp_path):
    notes, data = {1: "Made by|the office", 2: "in|2024"}, {1: "x|y", 2: "1|a", 3: "2|b", 4: "3|a"}
    write_sheets(tmp_path / "t.xlsx", {"Notes": grid(notes), "Empty": "<sheetData/>", "Data": grid(data)})
    with pytest.warns(bt.BaytreeWarning, match="the sheet 'Data' is read, which has the column 'y'"):
        frame = bt.read(tmp_path / "t.xlsx", target="y")
    assert frame["y"].to_list() == ["a", "b", "a"]
    with pytest.raises(ValueError, match="there is no column 'z'"), warnings.catch_warnings(action="ignore"):
        bt.read(tmp_path / "t.xlsx", target="z")
    with pytest.raises(ValueError, match="there is no column 'y'"), warnings.catch_warnings(action="ignore"):
        bt.read(tmp_path / "t.xlsx", target="y", sheet="Notes")


def test_a_missing_column_of_a_table_without_a_header_names_the_remedy(tmp_path):
    path = write(tmp_path, "t.csv", "5.1,3.5,setosa\n4.9,3.0,virginica\n")
    with pytest.raises(ValueError, match=r"no column 'species'.*first row is not a header, read with header=0"):
        bt.read(path, target="species")
    assert bt.read(path, header=0).columns == ["column_1", "column_2", "column_3"]


@pytest.mark.parametrize("name", ["blood\npressure", "blood  pressure", "a\r\nb"])
def test_a_name_with_a_line_break_stays_as_it_is(name, tmp_path):
    frame = pl.DataFrame({name: [1.0, 2.0, 8.0, 9.0], "y": ["a", "a", "b", "b"]})
    frame.write_csv(tmp_path / "t.csv")
    assert bt.read(tmp_path / "t.csv").columns == [name, "y"]
    model = bt.NaiveBayesClassifier().fit(frame, "y")
    assert model.predict(bt.read(tmp_path / "t.csv")).tolist() == ["a", "a", "b", "b"]


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


QUOTES = "enclose a field that contains quote marks in quote marks, and double the marks inside"
FIELDS = "a field that holds ',', a quote mark or a line end must be enclosed in quote marks"
UTF8 = "name its encoding, or save it as CSV with the encoding UTF-8"
REFUSED = {
    ("t.csv", b""): "t.csv: the file is empty",
    ("t.csv", b"\n \n"): "t.csv: the file is empty",
    ("t.csv", b"a,b\n"): "t.csv: there is a header but no row",
    ("t.csv", b"a,b,c\n1,2,3\n4,5\n"): f"t.csv, row 2: 2 fields, but the header has 3; {FIELDS}",
    ("t.csv", b"a,b,c\n4,5\n1,2,3\n"): f"t.csv, row 1: 2 fields, but the header has 3; {FIELDS}",
    ("t.csv", b"a,b\n1,2\n3,4,5\n"): f"t.csv, row 2: 3 fields, but the header has 2; {FIELDS}",
    ("t.csv", b"a,b\n1,5\" pipe\n2,x\n"): f"t.csv, row 1: misplaced quote mark at '5\" pipe'; {QUOTES}",
    ("t.csv", b"a,b\n1,x\n2,\"open\n3,x\n"): f"t.csv, row 2: misplaced quote mark at '\"open'; {QUOTES}",
    ("t.csv", b"a,b\n1,x\n2,x\0\n"): "t.csv, row 2: a NUL byte; the file is damaged or is not text",
    ("t.csv", bytes(range(256))): f"t.csv: this is not a text file (it holds NUL bytes); {UTF8}",
    ("t.csv", b"PAR1...."): "t.csv: the name says text, but this is a Parquet file; rename or convert it",
    ("t.parquet", b"a,b\n1,2\n"): "t.parquet: the name says Parquet, but this is text; rename or convert it",
    ("t.csv.gz", b"a,b\n1,2\n"): "t.csv.gz: the name says gzip, but this is text; rename or convert it",
    ("t.foo", b"a,b\n"): "t.foo: unknown kind of file; use .csv, .tsv, .parquet, .json, .ndjson, .xlsx, .zip or .csv.gz",
    ("t.ndjson", b'{"a":1}\n{"a":2\n'): "t.ndjson, line 2: this is not JSON (Input data was truncated)",
    ("t.jsonl", b'{"a":1}\n3\n'): 't.jsonl, line 2: each line must be an object, {"column": value, ...}',
    ("t.ndjson", b'{"a":[1]}\n'): "t.ndjson: column 'a' holds lists or objects, not single values; "
    "leave it out, on the command line with --drop 'a'",
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
    monkeypatch.setattr(blocks, "MAX_RECORD_BYTES", 1 << 20)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1 << 19)
    with pytest.raises(files.FileError, match="line 3: one record is longer than 1 MB; a quote mark may be"):
        read(tmp_path, "t.csv", 'a,b\n1,2\n3,"' + "x\n" * (1 << 20))


@pytest.mark.parametrize("head", ["", "x,y\n1,2\n", "x,y\n" + "1,2\n" * 99_999, "x y\n" + "1 2\n" * 99_999])
def test_a_compressed_record_without_end_is_refused_before_memory_runs_out(head, tmp_path):
    """A file of 2 MB that holds 2 GB, read by a process that may have 600 MB."""
    block = gzip.compress(b"a" * (16 << 20))
    path = write(tmp_path, "a.csv.gz", gzip.compress(head.encode()) + block * 128)
    result = read_apart(path, 600 << 20)
    assert "a.csv.gz" in result.stdout, result.stderr
    assert "one record is longer than 64 MB" in result.stdout


def test_remarks_below_a_compressed_table_are_left_out(tmp_path):
    text = "x,y\n" + "".join(f"{k},a\n" for k in range(50_000)) + "Source: the office.\n"
    with pytest.warns(bt.BaytreeWarning, match="a remark below the table is left out"):
        assert len(read(tmp_path, "a.csv.gz", gzip.compress(text.encode()))) == 50_000


@pytest.mark.parametrize(("n_columns", "separator"), [(20_000, ","), (6_000, ";")])
def test_a_table_of_many_columns_is_read(n_columns, separator, tmp_path):
    names = [f"a_column_with_a_long_name_{k}" for k in range(n_columns)]
    lines = [names, *([str(k + j % 7) for j in range(n_columns)] for k in range(3))]
    path = write(tmp_path, "wide.csv", "\n".join(map(separator.join, lines)) + "\n")
    source = files.source(path, text=names)
    assert source.columns == tuple(names)
    assert files.read_all(source)[:, -1].to_list() == lines[1][-1:] + lines[2][-1:] + lines[3][-1:]


@pytest.mark.parametrize("depth", [70, 500, 900, 2000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a\\"": "}]"},', "]")])
@pytest.mark.parametrize("name", ["a.json", "a.ndjson"])
def test_deeply_nested_values_are_refused_in_a_sentence(name, opening, closing, depth, tmp_path):
    cell = opening * depth + "1" + closing * depth
    row = f'{{"x": 1, "y": {cell}}}\n'
    path = write(tmp_path, name, f"[{row}]" if name == "a.json" else f'{{"x": 0, "y": 1}}\n{row}')
    if depth > 500:  # a parser that follows them may end the process
        result = read_apart(path)
        assert "nested more than 64 levels deep" in result.stdout, result.stderr
        return
    with pytest.raises(files.FileError, match="nested more than 64 levels deep"):
        bt.read(path)


def test_brackets_in_texts_are_no_nesting(tmp_path):
    cell = "[{" * 100 + '\\"' + "[" * 100 + "\\\\"
    row = f'{{"x": "{cell}", "y": {{"z": [1]}}}}\n'
    with pytest.raises(files.FileError, match=r"'y\.z' holds lists"):
        read(tmp_path, "a.ndjson", row * 3)
    with pytest.raises(files.FileError, match=r"'y\.z' holds lists"):
        read(tmp_path, "a.json", f"[{row},{row}]")


def test_a_whole_number_that_no_double_holds_is_refused_by_its_column(tmp_path):
    assert read(tmp_path, "a.json", f'[{{"x": {2**70}}}, {{"x": 1}}]')["x"].to_list() == [2**70, 1]
    assert read(tmp_path, "a.json", f'[{{"x": {2**200}}}, {{"x": 1}}]')["x"].to_list() == [float(2**200), 1.0]
    with pytest.raises(files.FileError, match="column 'x' holds a whole number beyond the range of doubles"):
        read(tmp_path, "a.json", f'[{{"x": {10**400}}}, {{"x": 1}}]')


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
