"""Workbooks computed by LibreOffice: cells are typed into the file, and the results are read back."""

from __future__ import annotations

import re
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

NS = {"s": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
FIRST_ROW = 4
PREDICT = "xl/worksheets/sheet1.xml"


def type_rows(workbook: bytes, columns: Sequence[str], rows: Sequence[Mapping], path: Path) -> None:
    """Write the workbook with these rows in its input cells."""
    values = {f"{letters(j)}{FIRST_ROW + i}": row[name] for i, row in enumerate(rows) for j, name in enumerate(columns)}
    path.write_bytes(workbook)
    with zipfile.ZipFile(path) as old:
        parts = {item: old.read(item) for item in old.namelist()}
    sheet = parts[PREDICT].decode()
    sheet = re.sub(r'<c r="([A-Z]+\d+)" s="(\d+)"/>', lambda match: cell(*match.groups(), values.get(match[1])), sheet)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for item, content in parts.items():
            new.writestr(item, sheet if item == PREDICT else content)


def cell(place: str, style: str, value: object) -> str:
    if isinstance(value, bool):
        return f'<c r="{place}" s="{style}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime):
        value = (value - datetime(1899, 12, 30)).total_seconds() / 86400
    if isinstance(value, (int, float)):
        return f'<c r="{place}" s="{style}"><v>{value!r}</v></c>'
    if value is None:
        return f'<c r="{place}" s="{style}"/>'
    text = escape(str(value)).replace("\r", "_x000D_")
    return f'<c r="{place}" s="{style}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def computed(paths: Sequence[Path], folder: Path) -> dict[str, list[dict[str, object]]]:
    """Cells of the sheet `Predict` by row after LibreOffice has computed each workbook: the header, then the rows."""
    out = folder / "out"
    command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "xlsx"]
    subprocess.run([*command, "--outdir", str(out), *map(str, paths)], check=True, capture_output=True, timeout=900)
    return {path.stem: predict_sheet(out / path.name) for path in paths}


def predict_sheet(path: Path) -> list[dict[str, object]]:
    with zipfile.ZipFile(path) as book:
        shared = shared_strings(book)
        root = ElementTree.fromstring(book.read(PREDICT))
    rows = [{c.get("r", "").rstrip("0123456789"): content(c, shared) for c in row} for row in root.iterfind(".//s:row", NS)]
    numbers = [int(row.get("r", "0")) for row in root.iterfind(".//s:row", NS)]
    by_number = dict(zip(numbers, rows, strict=True))
    header = by_number[FIRST_ROW - 1]
    return [
        {str(name): by_number[n].get(column) for column, name in header.items() if name}
        for n in sorted(by_number)
        if n >= FIRST_ROW
    ]


def shared_strings(book: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in book.namelist():
        return []
    root = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
    return ["".join(t.text or "" for t in item.iterfind(".//s:t", NS)) for item in root]


def content(c: ElementTree.Element, shared: list[str]) -> object:
    value, kind = c.find("s:v", NS), c.get("t", "n")
    if value is None or value.text is None:
        return None
    if kind == "s":
        return re.sub("_x000D_", "\r", shared[int(value.text)])
    return float(value.text) if kind == "n" else value.text


def letters(column: int) -> str:
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name
