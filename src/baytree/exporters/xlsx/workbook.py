"""Export of formulas to an Excel workbook: type a row, read the prediction, its probability and the largest reasons.

Three sheets: `Predict` for rows, `Model` with the tables of the model, and `Calculation` with one column per intermediate
value. There are no macros. Excel and LibreOffice compare numbers by 15 digits, so a value that differs from a cut only in
the sixteenth counts as equal to it.
"""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from typing import Any

from baytree import param_validation
from baytree.data.schema.column import Kind
from baytree.exporters.xlsx.expressions import Expressions
from baytree.exporters.xlsx.inputs import InputCells
from baytree.exporters.xlsx.sheets import CALCULATION, MODEL, ROW, Calculation, ModelSheet, letters
from baytree.formula import Formula
from baytree.formula.inputs import PER_DAY, Input

PREDICT = "Predict"

_N_REASONS = 3

_FIRST_ROW = 4  # of the rows to predict, from 1

_MAX_ROWS = 10_000

_MAX_TEXT = 32_000  # characters of a cell; Excel allows 32,767

_TIE = 1e-12  # by which equal effects are told apart, in the order of the columns


def workbook(formula: Formula, rows: int = 200) -> bytes:
    """Workbook with live formulas for a number of rows."""
    n_rows = param_validation.integer("rows", rows, 1, _MAX_ROWS)
    model, calculation = ModelSheet(), Calculation()
    cells = [f"{PREDICT}!${letters(j)}{ROW}" for j in range(len(formula.given))]
    written = Expressions(formula, InputCells(formula, cells, model, calculation), model, calculation)
    written.run()
    outputs = _outputs(formula, written, model, calculation)
    return _written(formula, n_rows, model, calculation, outputs)


def _outputs(formula: Formula, written: Expressions, model: ModelSheet, calculation: Calculation) -> list[tuple[str, str]]:
    """Name and formula of each output column, in terms of the sheet of the calculation."""
    answers = written.stored(formula.answers)
    if formula.classes is None:
        return [("prediction", answers[0]), *_reasons(formula, written, model, calculation, None)]
    choice = "0" if formula.choice is None else calculation.store(written.element(formula.choice, 0), "choice")
    (names,) = model.add("classes", ("class",), (list(map(str, formula.classes)),))
    prediction = calculation.store(f'IF({choice}<0,"",INDEX({names},{choice}+1))', "prediction")
    each = [(f"P({label})", answers[k % len(answers)]) for k, label in enumerate(formula.classes)]
    return [("prediction", prediction), *each, *_reasons(formula, written, model, calculation, choice)]


def _reasons(
    formula: Formula, written: Expressions, model: ModelSheet, calculation: Calculation, choice: str | None
) -> list[tuple[str, str]]:
    """The columns that speak most for the prediction, with their effect against the mean of the other classes."""
    effects = [
        (formula.columns[step.effect_of].name, written.steps[k])
        for k, step in enumerate(formula.steps)
        if step.effect_of is not None and k in written.steps
    ]
    if len(effects) < 2:
        return []
    amounts = [_amount(cells, choice) for _, cells in effects]
    own = calculation.store_all([f"{each}-{k}*{_TIE:.0E}" for k, each in enumerate(amounts)], "amount of a reason")
    (names,) = model.add("columns", ("column",), ([name for name, _ in effects],))
    found, span = [], f"{own[0]}:{own[-1]}"
    for rank in range(1, min(_N_REASONS, len(effects)) + 1):
        largest = f"LARGE({span},{rank})"
        text = f'INDEX({names},MATCH({largest},{span},0))&" (+"&ROUND({largest},3)&")"'
        found.append((f"reason {rank}", calculation.store(f'IF({largest}>0.0005,{text},"")', f"reason {rank}")))
    return found


def _amount(cells: list[str], choice: str | None) -> str:
    """Effect on the chosen class less the mean effect on the others; of a number, its size."""
    n = len(cells)
    if choice is None or n == 1:
        return f"ABS({cells[0]})"
    span = f"{cells[0]}:{cells[-1]}"
    return f"IF({choice}<0,0,(INDEX({span},1,MAX({choice},0)+1)*{n}-SUM({span}))/{n - 1})"


# --- what is written ----------------------------------------------------------------------------------------------------


def _written(
    formula: Formula, n_rows: int, model: ModelSheet, calculation: Calculation, outputs: list[tuple[str, str]]
) -> bytes:
    xlsxwriter = _library()
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(
        stream, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    )
    book.set_properties({"title": _cut(formula.title), "created": datetime(2000, 1, 1), "comments": "written by baytree"})
    formats = {
        "bold": book.add_format({"bold": True}),
        "input": book.add_format({"bg_color": "#fff8dc"}),
        "text": book.add_format({"bg_color": "#fff8dc", "num_format": "@"}),
        "date": book.add_format({"bg_color": "#fff8dc", "num_format": "yyyy-mm-dd"}),
        "output": book.add_format({"bg_color": "#eaf3ea"}),
        "quiet": book.add_format({"italic": True, "font_color": "#666666"}),
    }
    _write_predict(book.add_worksheet(PREDICT), formula, n_rows, outputs, formats)
    _write_model(book.add_worksheet(MODEL), formula, model, formats)
    _write_calculation(book.add_worksheet(CALCULATION), n_rows, calculation, formats)
    book.close()
    return _as_unknown_program(stream.getvalue())


def _write_predict(sheet: Any, formula: Formula, n_rows: int, outputs: list[tuple[str, str]], formats: dict) -> None:
    n = len(formula.given)
    sheet.write_string(0, 0, _cut(f"{formula.title} for {formula.target}"), formats["bold"])
    sheet.write_string(1, 0, "Type rows into the yellow cells; an empty cell is a missing value.", formats["quiet"])
    by_given = {column.given: column for column in formula.columns}
    for j, name in enumerate(formula.given):
        sheet.write_string(_FIRST_ROW - 2, j, _cut(name), formats["bold"])
        style = formats[_style(by_given[name])]
        sheet.set_column(j, j, 14)
        for i in range(n_rows):
            sheet.write_blank(_FIRST_ROW - 1 + i, j, None, style)
    last_input = letters(max(n - 1, 0))
    for k, (name, cell) in enumerate(outputs, n + 1):
        sheet.write_string(_FIRST_ROW - 2, k, _cut(name), formats["bold"])
        sheet.set_column(k, k, 22 if name.startswith("reason") else 14)
        for i in range(n_rows):
            row = str(_FIRST_ROW + i)
            value = f"{CALCULATION}!{cell}".replace(ROW, row)
            shown = f'=IF(COUNTA($A{row}:${last_input}{row})=0,"",{value})' if n else f"={value}"
            sheet.write_formula(_FIRST_ROW - 1 + i, k, shown, formats["output"], "")
    sheet.freeze_panes(_FIRST_ROW - 1, 0)


def _write_model(sheet: Any, formula: Formula, model: ModelSheet, formats: dict) -> None:
    sheet.write_string(0, 0, _cut(f"{formula.title} for {formula.target}: its tables"), formats["bold"])
    sheet.set_column(0, 0, 28)
    for table in model.tables:
        sheet.write_string(table.first - 3, 0, _cut(table.title), formats["bold"])
        for k, name in enumerate(table.header):
            sheet.write_string(table.first - 2, k, _cut(name), formats["quiet"])
        for k, values in enumerate(table.columns):
            for i, value in enumerate(values):
                _write_cell(sheet, table.first - 1 + i, k, value)


def _write_cell(sheet: Any, row: int, column: int, value: float | str) -> None:
    """Number or text; text is never read as a formula."""
    if isinstance(value, str):
        if len(value) > _MAX_TEXT:
            raise ValueError(f"Excel: a level of {len(value):,} characters does not fit a cell; export to Python or SQL")
        if value:
            sheet.write_string(row, column, value)
        return
    sheet.write_number(row, column, max(min(float(value), 1e305), -1e305))


def _write_calculation(sheet: Any, n_rows: int, calculation: Calculation, formats: dict) -> None:
    sheet.write_string(0, 0, "One column per intermediate value, one row per row of Predict.", formats["quiet"])
    for k, (name, text) in enumerate(calculation.columns):
        sheet.write_string(_FIRST_ROW - 2, k, _cut(name), formats["bold"])
        for i in range(n_rows):
            sheet.write_formula(_FIRST_ROW - 1 + i, k, "=" + text.replace(ROW, str(_FIRST_ROW + i)), None, "")


def _style(column: Input) -> str:
    if column.part or column.unit in PER_DAY:
        return "date"
    return "input" if column.kind is Kind.NUMERIC else "text"


def _cut(text: str) -> str:
    return text if len(text) <= 250 else text[:249] + "…"


def _as_unknown_program(content: bytes) -> bytes:
    """Workbook that does not claim to come from Excel: LibreOffice computes such files when it opens them.

    XlsxWriter stores no results, and LibreOffice would show those that it takes for Excel's.
    """
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.infolist():
            data = old.read(item)
            if item.filename == "docProps/app.xml":
                data = data.replace(b"<Application>Microsoft Excel</Application>", b"<Application>baytree</Application>")
            new.writestr(item, data)
    return changed.getvalue()


def _library() -> Any:
    try:
        import xlsxwriter
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "target 'xlsx' needs XlsxWriter; pip install 'baytree[export]'", name="xlsxwriter"
        ) from None
    return xlsxwriter
