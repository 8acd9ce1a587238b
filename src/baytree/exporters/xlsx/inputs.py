"""Input cells of a workbook: typed values to numbers and codes of levels.

A number is "" if it is missing, and a code is −1 if the level is missing or did not occur in training. Text in a column of
numbers is an error (#N/A), which every cell that depends on it shows. Levels are compared by EXACT, because MATCH ignores
case and reads * and ? as wildcards.
"""

from __future__ import annotations

from baytree.data.schema.column import Kind
from baytree.exporters.xlsx.sheets import Calculation, ModelSheet
from baytree.formula import Formula
from baytree.formula.inputs import PER_DAY, Input, in_cases

_EPOCH = 25569  # serial number of 1970-01-01

_PER_DAY_EXACT = 86_400_000  # milliseconds: finer parts of a day are lost in a serial number

_PARTS = {"year": "YEAR({})", "month": "MONTH({})", "weekday": "WEEKDAY({},2)-1"}


class InputCells:
    """References to the value of each column of a formula: a number or "", or a code."""

    def __init__(self, formula: Formula, cells: list[str], model: ModelSheet, calculation: Calculation) -> None:
        self.formula, self.model, self.calculation = formula, model, calculation
        self.values = [self._read(column, cells[formula.place(j)]) for j, column in enumerate(formula.columns)]

    def _read(self, column: Input, cell: str) -> str:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"Excel: column {column.name!r} is text, whose words a sheet cannot count; export to Python or C"
            )
        if column.part:
            return self._part(column, cell)
        if column.kind is Kind.NUMERIC:
            return self._number(column, cell)
        return self._code(column, cell)

    def _number(self, column: Input, cell: str) -> str:
        value = cell
        if column.unit in PER_DAY:
            value = _from_serial(cell, PER_DAY[column.unit])
        if column.domain == "count":
            value = f"IF({cell}<0,NA(),{value})"
        is_blank = f'IF(TRIM({cell})="","",NA())'
        return self.calculation.store(f'IF(ISBLANK({cell}),"",IF(ISNUMBER({cell}),{value},{is_blank}))', column.name)

    def _part(self, column: Input, cell: str) -> str:
        value = _PARTS[str(column.part)].format(cell)
        missing = "-1" if column.part == "weekday" else '""'
        return self.calculation.store(f"IF(ISNUMBER({cell}),{value},{missing})", column.name)

    def _code(self, column: Input, cell: str) -> str:
        if column.is_boolean:
            codes = in_cases(column)
            texts, positions = list(codes), [float(code + 1) for code in codes.values()]
            given = f'IF(ISLOGICAL({cell}),IF({cell},"true","false"),TRIM({cell}))'
        else:
            texts = [str(level) for level in column.levels]
            positions = [float(k + 1) for k in range(len(texts))]
            given = f'IF(ISLOGICAL({cell}),IF({cell},"True","False"),{cell})'
        if not texts:
            return self.calculation.store("-1", column.name)
        unknown = "NA()" if self.formula.unseen == "error" else "-1"
        numbers = [_as_number(text) for text in texts]
        names, codes_range, number_range = self.model.add(
            f"levels of {column.name}", ("level", "position", "as a number"), (texts, positions, numbers)
        )
        by_text = f"SUMPRODUCT(--EXACT({names},{given}),{codes_range})"
        by_number = f"IFERROR(INDEX({codes_range},MATCH({cell},{number_range},0)),0)"
        found = self.calculation.store(
            f'IF(ISBLANK({cell}),0,IF(ISNUMBER({cell}),{by_number},IF({cell}="",0,{by_text})))', column.name
        )
        is_empty = f'IF(ISBLANK({cell}),TRUE,{cell}="")'
        return self.calculation.store(f"IF({found}>0,{found}-1,IF({is_empty},-1,{unknown}))", column.name)


def _as_number(text: str) -> float | str:
    """Number that Excel makes of a level when it is typed; "" if it is none, or not written as Excel would."""
    try:
        value = float(text)
    except ValueError:
        return ""
    is_plain = value - value == 0 and abs(value) < 1e15 and text in (repr(value), str(int(value)))
    return value if is_plain else ""


def _from_serial(cell: str, per_day: int) -> str:
    """Date as a count of units since 1970."""
    if per_day == 1:
        return f"INT({cell})-{_EPOCH}"
    exact = min(per_day, _PER_DAY_EXACT)
    rounded = f"ROUND(({cell}-{_EPOCH})*{exact},0)"
    return rounded if exact == per_day else f"{rounded}*{per_day // exact}"
