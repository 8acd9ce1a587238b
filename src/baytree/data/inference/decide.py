"""Decide how the strings of a column are parsed, from their evidence: as numbers, dates, times, or as levels.

A format is chosen if at most a proportion `_MAX_UNPARSED` of the cells does not fit it. The conventions of the table
resolve ambiguous decimal marks and date orders. Each decision comes with notes.
"""

from __future__ import annotations

from collections.abc import Collection

from baytree.data.inference.evidence import FormatDecision, StringEvidence, TableConventions, missing_token_notes
from baytree.data.parsing.numbers import AMBIGUOUS_MARKS, BY_COMMA, BY_DOT, GROUPED, UNITLESS, can_be_compared, is_known
from baytree.data.parsing.string_format import StringFormat
from baytree.data.parsing.vocabulary import BOUNDS, INEQUALITIES
from baytree.data.schema.notes import Note

# max proportion of cells of a numeric or date column that do not parse: a few remarks must not turn its numbers into levels,
# and a column of levels must not lose many of them
_MAX_UNPARSED = 0.1

_MIN_CONFLICT = 0.25  # a column of levels gets a note if a larger proportion are numbers (or dates)

_MAX_CODES = 10  # up to so many distinct strings, numbers and words together are codes, such as 1, 2, 3, A


def decide_format(name: str, evidence: StringEvidence, n_levels: int, conventions: TableConventions) -> FormatDecision:
    """Return how the strings of a column are parsed; `n_levels` is the number of its distinct strings."""
    known = evidence.n_known - evidence.n_missing
    total = known - evidence.n_no_number
    if total <= 0:
        return FormatDecision(None)
    if evidence.styles.get("code") and evidence.n_numbers + evidence.styles["code"] > (1 - _MAX_UNPARSED) * total:
        return FormatDecision(None, (_code_note(name, evidence),))
    for n, decide in (
        (evidence.n_numbers, decide_number),
        (evidence.n_dates, decide_date),
        (evidence.other.get("clock", 0), decide_clock),
    ):
        n_unparsed = total - n
        if n and n_unparsed <= _MAX_UNPARSED * total and (not n_unparsed or n_levels > _MAX_CODES):
            return decide(name, evidence, conventions, n_unparsed)
    return _decide_mixed(name, evidence, total)


def _code_note(name: str, evidence: StringEvidence) -> Note:
    text = evidence.first("code")
    message = f"digits that are a code, such as {text!r}, are kept as they are (nominal)"
    return Note(name, message, evidence.styles["code"], "numeric")


def _decide_mixed(name: str, evidence: StringEvidence, total: int) -> FormatDecision:
    """Return the decision for a column of levels of which some may be numbers or dates."""
    for n, what, styles in (
        (evidence.n_numbers, "numbers", tuple(evidence.styles)),
        (evidence.n_dates, "dates", tuple(evidence.dates)),
    ):
        if n > _MIN_CONFLICT * total:
            other = (
                evidence.first("word", "text", "email", "clock")
                or evidence.first(*evidence.dates)
                or evidence.first(*evidence.styles)
            )
            some = f"{n:,} of {total:,} cells are {what}, such as {evidence.first(*styles)!r}"
            conflict = f"{some}, the others not, such as {other!r}"
            return FormatDecision.as_levels(name, conflict, n, "numeric" if what == "numbers" else "date")
    return FormatDecision(None)


def decide_date(name: str, evidence: StringEvidence, conventions: TableConventions, n_unparsed: int) -> FormatDecision:
    """Return the decision for a column of dates: order of day and month, time zones, unparsed cells."""
    ambiguous = {style: n for style, n in evidence.dates.items() if style.startswith("dm")}
    if len(evidence.orders) > 1:
        pair = f"{evidence.first('dmy')!r} and {evidence.first('mdy')!r}"
        conflict = f"dates such as {pair} have day and month in different orders"
        return FormatDecision.as_levels(name, conflict, sum(evidence.orders.values()), "date")
    order, notes = (
        _decide_order(name, evidence, conventions, ambiguous) if ambiguous else ("dmy", [_dates_note(name, evidence, "")])
    )
    if evidence.other.get("zone"):
        n = evidence.other["zone"]
        partly = n < evidence.other.get("time", 0)
        message = f"times with a zone, such as {evidence.first('zone')!r}, are read as UTC"
        notes.append(
            Note(name, message + (", those without as they are" if partly else ""), n, "nominal", is_doubtful=partly)
        )
    return FormatDecision(StringFormat("date", order=order), (*notes, *missing_token_notes(name, evidence, n_unparsed)))


def _dates_note(name: str, evidence: StringEvidence, how: str) -> Note:
    what = "dates with a time" if evidence.other.get("time") else "dates"
    return Note(name, f"{what}{how}, such as {evidence.first(*sorted(evidence.dates))!r}", evidence.n_dates, "nominal")


def _decide_order(
    name: str, evidence: StringEvidence, conventions: TableConventions, ambiguous: dict[str, int]
) -> tuple[str, list[Note]]:
    words = {"dmy": ", the day first", "mdy": ", the month first"}
    if evidence.orders:
        order = next(iter(evidence.orders))
        return order, [_dates_note(name, evidence, words[order])]
    order = conventions.order or ("mdy" if "dm/" in ambiguous else "dmy")
    text = evidence.first(*sorted(ambiguous))
    why = "as in other columns of this table" if conventions.order else "as is usual"
    first = "the day" if order == "dmy" else "the month"
    message = f"dates such as {text!r} are read with {first} first, {why}: every cell is ambiguous"
    other = "mdy" if order == "dmy" else "dmy"
    return order, [Note(name, message, sum(ambiguous.values()), "date", other, is_doubtful="dm." not in ambiguous)]


def decide_clock(name: str, evidence: StringEvidence, _: TableConventions, n_unparsed: int) -> FormatDecision:
    """Return the decision for a column of times of day or durations."""
    message = f"times of day, such as {evidence.first('clock')!r}"
    if evidence.other.get("span"):
        message = f"durations, in hours and minutes unless stated otherwise, such as {evidence.first('span')!r}"
    note = Note(name, message, evidence.other["clock"], "nominal")
    return FormatDecision(StringFormat("clock"), (note, *missing_token_notes(name, evidence, n_unparsed)))


_MAX_TYPING_ERRORS = 0.01  # unknown letters after a larger proportion of the numbers are a unit, not typing errors


def decide_number(name: str, evidence: StringEvidence, conventions: TableConventions, n_unparsed: int) -> FormatDecision:
    """Return the decision for a column of numbers: decimal mark, units, unparsed cells."""
    units = {unit: n for unit, n in evidence.units.items() if unit and unit not in BOUNDS}
    typos = [unit for unit, n in units.items() if n <= _MAX_TYPING_ERRORS * evidence.n_numbers and not is_known(unit)]
    units = {unit: n for unit, n in units.items() if unit not in typos}
    if len(units) > 1 and not can_be_compared(units):
        conflict = f"{_units_phrase(evidence, units)}, cannot be compared"
        return FormatDecision.as_levels(name, conflict, sum(units.values()), "numeric")
    if sum(n for unit, n in evidence.units.items() if unit in INEQUALITIES) == evidence.n_numbers:
        conflict = (
            f"ranges such as {evidence.first(*sorted(INEQUALITIES & evidence.units.keys()))!r}, without any plain number"
        )
        return FormatDecision.as_levels(name, conflict, evidence.n_numbers, "numeric")
    decimal, note = _decide_decimal(name, evidence, conventions)
    common_unit = max(sorted(units), key=lambda unit: units[unit]) if len(units) > 1 else ""
    unit_notes = _unit_notes(name, evidence, units) if not common_unit else _bare_note(name, evidence, common_unit)
    if common_unit:
        message = f"{_units_phrase(evidence, units)}, are all converted to {common_unit}"
        unit_notes = [Note(name, message, sum(units.values()), "nominal", is_doubtful=True), *unit_notes]
    notes = [
        note,
        *_mark_notes(name, evidence),
        *unit_notes,
        *_typo_notes(name, evidence, typos),
        *missing_token_notes(name, evidence, n_unparsed),
    ]
    all_notes = tuple(each for each in notes if each is not None)
    common_unit = common_unit or (next(iter(units), UNITLESS) if typos else "")
    return FormatDecision(StringFormat("number", decimal, unit=common_unit), all_notes or (_strings_note(name, evidence),))


def _typo_notes(name: str, evidence: StringEvidence, units: Collection[str]) -> list[Note]:
    """Return a note on letters that follow so few numbers that they are not a unit."""
    if not units:
        return []
    message = f"{evidence.first(*sorted(units))!r} looks like a typing error and becomes missing"
    return [Note(name, message, sum(evidence.units[unit] for unit in units), "nominal", is_doubtful=True)]


def _units_phrase(evidence: StringEvidence, units: Collection[str]) -> str:
    """Return a phrase that lists the units of a column with an example of each."""
    listed = ", ".join(repr(evidence.first(unit)) for unit in sorted(units)[:3])
    return f"numbers in {len(units)} units ({', '.join(sorted(units)[:6])}), such as {listed}"


def _strings_note(name: str, evidence: StringEvidence) -> Note:
    return Note(name, "strings that are numbers are read as numbers", evidence.n_numbers, "nominal")


def _decide_decimal(name: str, evidence: StringEvidence, conventions: TableConventions) -> tuple[str, Note | None]:
    """Return the decimal mark of ambiguous numbers, and a note."""
    commas = sum(evidence.styles.get(style, 0) for style in BY_COMMA)
    dots = sum(evidence.styles.get(style, 0) for style in BY_DOT)
    ambiguous = {mark: evidence.styles.get(style, 0) for style, mark in AMBIGUOUS_MARKS.items()}
    mark = "," if commas > dots else "." if dots else ""
    if commas and dots:
        pair = f"{evidence.first(*BY_COMMA)!r} and {evidence.first(*BY_DOT)!r}"
        message = f"decimal commas and decimal points in one column, such as {pair}"
        return mark, Note(name, message, commas + dots, "nominal", is_doubtful=True)
    if mark:
        return mark, _comma_note(name, evidence, commas) if mark == "," else None
    if not any(ambiguous.values()):
        return conventions.decimal or ".", None
    return _decide_ambiguous_mark(name, evidence, conventions, ambiguous)


def _comma_note(name: str, evidence: StringEvidence, cells: int) -> Note:
    return Note(name, f"a number with a decimal comma, such as {evidence.first('comma', *BY_COMMA)!r}", cells, "nominal")


def _decide_ambiguous_mark(
    name: str, evidence: StringEvidence, conventions: TableConventions, ambiguous: dict[str, int]
) -> tuple[str, Note | None]:
    """Return the mark if every one precedes exactly three digits: the other columns decide, else the usual convention."""
    comma, dot = ambiguous[","], ambiguous["."]
    if comma and dot:
        mark, thousands, decimals = (",", "dot3", "comma3") if conventions.decimal == "," else (".", "comma3", "dot3")
        message = f"{evidence.first(thousands)!r} is read as thousands, {evidence.first(decimals)!r} as decimals"
        return mark, Note(name, message, comma + dot, "nominal", is_doubtful=True)
    mark = conventions.decimal or "."
    text = evidence.first("comma3" if comma else "dot3")
    if dot and mark == ".":
        return ".", None
    means = "decimals" if (mark == ",") == bool(comma) else "thousands"
    why = " as declared" if conventions.is_declared else f", {conventions.why}" if conventions.decimal else ""
    other = "." if mark == "," else ","
    message = f"{text!r} is read as {means}{why}"
    return mark, Note(name, message, comma + dot, "decimal", other, is_doubtful=not conventions.is_declared)


def _mark_notes(name: str, evidence: StringEvidence) -> list[Note]:
    notes = []
    grouped = [style for style in evidence.styles if style in GROUPED]
    if grouped:
        cells = sum(evidence.styles[style] for style in grouped)
        notes.append(Note(name, f"thousands have a mark, such as {evidence.first(*sorted(grouped))!r}", cells, "nominal"))
    if evidence.other.get("accounting"):
        message = f"parentheses or a minus at the end mean a negative number, such as {evidence.first('accounting')!r}"
        notes.append(Note(name, message, evidence.other["accounting"], "nominal"))
    if evidence.other.get("mark"):
        message = f"footnote marks are removed from numbers such as {evidence.first('mark')!r}"
        notes.append(Note(name, message, evidence.other["mark"], "nominal"))
    if evidence.other.get("plus"):
        notes.append(Note(name, f"a plus in front, such as {evidence.first('plus')!r}", evidence.other["plus"], "nominal"))
    return notes


def _unit_notes(name: str, evidence: StringEvidence, units: dict[str, int]) -> list[Note]:
    notes = [
        Note(name, f"{unit!r} is removed from numbers such as {evidence.first(unit)!r}", n, "nominal")
        for unit, n in units.items()
    ]
    return [*notes, *(_bare_note(name, evidence, next(iter(units))) if units else []), *_scale_notes(name, evidence)]


def _bare_note(name: str, evidence: StringEvidence, unit: str) -> list[Note]:
    """Return a note on numbers without the unit that the others have."""
    bare = evidence.units.get("", 0)
    if bare <= _MAX_UNPARSED * evidence.n_numbers:
        return []
    message = f"{bare:,} numbers have no unit and are assumed to be in {unit!r}"
    return [Note(name, message, bare, "nominal", is_doubtful=True)]


def _scale_notes(name: str, evidence: StringEvidence) -> list[Note]:
    notes = []
    if evidence.scales:
        listed = ", ".join(sorted(evidence.scales))
        message = f"{listed} multiply the number, as in {evidence.first(*sorted(evidence.scales))!r}"
        notes.append(Note(name, message, sum(evidence.scales.values()), "nominal"))
    bounds = {unit: n for unit, n in evidence.units.items() if unit in BOUNDS}
    if bounds:
        message = f"bounds such as {evidence.first(*sorted(bounds))!r} are read as the number itself"
        notes.append(Note(name, message, sum(bounds.values()), "nominal", is_doubtful=True))
    return notes
