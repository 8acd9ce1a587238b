"""Decide how the strings of a column are parsed, from their evidence: as numbers, dates, times, or as levels.

A format is chosen if at most a proportion `_MAX_UNPARSED` of the cells does not fit it. The conventions of the table
resolve ambiguous decimal marks and date orders. Each decision comes with notes.
"""

from __future__ import annotations

from collections.abc import Collection

from baytree.data.inference.evidence import FormatDecision, StringEvidence, TableConventions, missing_token_notes
from baytree.data.parsing.numbers import AMBIGUOUS_MARKS, BY_COMMA, BY_DOT, GROUPED, UNITLESS, can_be_compared, is_known
from baytree.data.parsing.string_format import StringFormat
from baytree.data.parsing.vocabulary import BOUNDS
from baytree.data.schema.notes import Note

# max proportion of cells of a numeric or date column that do not parse: a few remarks must not turn its numbers into levels,
# and a column of levels must not lose many of them
_MAX_UNPARSED = 0.1

_MIN_CONFLICT = 0.25  # a column of levels gets a note if a larger proportion are numbers (or dates)

_MAX_CODES = 10  # up to so many distinct strings, numbers and words together are codes, such as 1, 2, 3, A


def decide_format(name: str, seen: StringEvidence, n_levels: int, habits: TableConventions) -> FormatDecision:
    """Return how the strings of a column are parsed; `n_levels` is the number of its distinct strings."""
    known = seen.n_known - seen.n_missing
    total = known - seen.n_no_number
    if total <= 0:
        return FormatDecision(None)
    if seen.styles.get("code") and seen.n_numbers + seen.styles["code"] > (1 - _MAX_UNPARSED) * total:
        return FormatDecision(None, (_code(name, seen),))
    for n, choose in (
        (seen.n_numbers, decide_number),
        (seen.n_dates, decide_date),
        (seen.other.get("clock", 0), decide_clock),
    ):
        n_unparsed = total - n
        if n and n_unparsed <= _MAX_UNPARSED * total and (not n_unparsed or n_levels > _MAX_CODES):
            return choose(name, seen, habits, n_unparsed)
    return _decide_mixed(name, seen, total)


def _code(name: str, seen: StringEvidence) -> Note:
    text = seen.first("code")
    message = f"digits that are a code, such as {text!r}, are kept as they are (nominal)"
    return Note(name, message, seen.styles["code"], "numeric")


def _decide_mixed(name: str, seen: StringEvidence, total: int) -> FormatDecision:
    """Return the decision for a column of levels of which some may be numbers or dates."""
    for n, what, styles in (
        (seen.n_numbers, "numbers", tuple(seen.styles)),
        (seen.n_dates, "dates", tuple(seen.dates)),
    ):
        if n > _MIN_CONFLICT * total:
            other = seen.first("word", "text", "email", "clock") or seen.first(*seen.dates) or seen.first(*seen.styles)
            some = f"{n:,} of {total:,} cells are {what}, such as {seen.first(*styles)!r}"
            conflict = f"{some}, the others not, such as {other!r}"
            return FormatDecision.as_levels(name, conflict, n, "numeric" if what == "numbers" else "date")
    return FormatDecision(None)


def decide_date(name: str, seen: StringEvidence, habits: TableConventions, strangers: int) -> FormatDecision:
    """Return the decision for a column of dates: order of day and month, time zones, unparsed cells."""
    ambiguous = {style: n for style, n in seen.dates.items() if style.startswith("dm")}
    if len(seen.orders) > 1:
        pair = f"{seen.first('dmy')!r} and {seen.first('mdy')!r}"
        conflict = f"dates such as {pair} have day and month in different orders"
        return FormatDecision.as_levels(name, conflict, sum(seen.orders.values()), "date")
    order, notes = _order(name, seen, habits, ambiguous) if ambiguous else ("dmy", [_dates(name, seen, "")])
    if seen.other.get("zone"):
        n = seen.other["zone"]
        partly = n < seen.other.get("time", 0)
        message = f"times with a zone, such as {seen.first('zone')!r}, are read as UTC"
        notes.append(
            Note(name, message + (", those without as they are" if partly else ""), n, "nominal", is_doubtful=partly)
        )
    return FormatDecision(StringFormat("date", order=order), (*notes, *missing_token_notes(name, seen, strangers)))


def _dates(name: str, seen: StringEvidence, how: str) -> Note:
    what = "dates with a time" if seen.other.get("time") else "dates"
    return Note(name, f"{what}{how}, such as {seen.first(*sorted(seen.dates))!r}", seen.n_dates, "nominal")


def _order(name: str, seen: StringEvidence, habits: TableConventions, opened: dict[str, int]) -> tuple[str, list[Note]]:
    words = {"dmy": ", the day first", "mdy": ", the month first"}
    if seen.orders:
        order = next(iter(seen.orders))
        return order, [_dates(name, seen, words[order])]
    order = habits.order or ("mdy" if "dm/" in opened else "dmy")
    text = seen.first(*sorted(opened))
    why = "as in other columns of this table" if habits.order else "as is usual"
    first = "the day" if order == "dmy" else "the month"
    message = f"dates such as {text!r} are read with {first} first, {why}: every cell is ambiguous"
    other = "mdy" if order == "dmy" else "dmy"
    return order, [Note(name, message, sum(opened.values()), "date", other, is_doubtful="dm." not in opened)]


def decide_clock(name: str, seen: StringEvidence, _: TableConventions, strangers: int) -> FormatDecision:
    """Return the decision for a column of times of day or durations."""
    message = f"times of day, such as {seen.first('clock')!r}"
    if seen.other.get("span"):
        message = f"durations, in hours and minutes unless stated otherwise, such as {seen.first('span')!r}"
    note = Note(name, message, seen.other["clock"], "nominal")
    return FormatDecision(StringFormat("clock"), (note, *missing_token_notes(name, seen, strangers)))


_MAX_TYPING_ERRORS = 0.01  # unknown letters after a larger proportion of the numbers are a unit, not typing errors


def decide_number(name: str, seen: StringEvidence, habits: TableConventions, strangers: int) -> FormatDecision:
    """Return the decision for a column of numbers: decimal mark, units, unparsed cells."""
    units = {unit: n for unit, n in seen.units.items() if unit and unit not in BOUNDS}
    typos = [unit for unit, n in units.items() if n <= _MAX_TYPING_ERRORS * seen.n_numbers and not is_known(unit)]
    units = {unit: n for unit, n in units.items() if unit not in typos}
    if len(units) > 1 and not can_be_compared(units):
        conflict = f"{_mixed(seen, units)}, cannot be compared"
        return FormatDecision.as_levels(name, conflict, sum(units.values()), "numeric")
    decimal, note = _decimal(name, seen, habits)
    common_unit = max(sorted(units), key=lambda unit: units[unit]) if len(units) > 1 else ""
    unit_notes = _units(name, seen, units) if not common_unit else _bare(name, seen, common_unit)
    if common_unit:
        message = f"{_mixed(seen, units)}, are all converted to {common_unit}"
        unit_notes = [Note(name, message, sum(units.values()), "nominal", is_doubtful=True), *unit_notes]
    notes = [note, *_marks(name, seen), *unit_notes, *_typos(name, seen, typos), *missing_token_notes(name, seen, strangers)]
    all_notes = tuple(each for each in notes if each is not None)
    common_unit = common_unit or (next(iter(units), UNITLESS) if typos else "")
    return FormatDecision(StringFormat("number", decimal, unit=common_unit), all_notes or (_strings(name, seen),))


def _typos(name: str, seen: StringEvidence, units: Collection[str]) -> list[Note]:
    """Return a note on letters that follow so few numbers that they are not a unit."""
    if not units:
        return []
    message = f"{seen.first(*sorted(units))!r} looks like a typing error and becomes missing"
    return [Note(name, message, sum(seen.units[unit] for unit in units), "nominal", is_doubtful=True)]


def _mixed(seen: StringEvidence, units: Collection[str]) -> str:
    """Return a phrase that lists the units of a column with an example of each."""
    listed = ", ".join(repr(seen.first(unit)) for unit in sorted(units)[:3])
    return f"numbers in {len(units)} units ({', '.join(sorted(units)[:6])}), such as {listed}"


def _strings(name: str, seen: StringEvidence) -> Note:
    return Note(name, "strings that are numbers are read as numbers", seen.n_numbers, "nominal")


def _decimal(name: str, seen: StringEvidence, habits: TableConventions) -> tuple[str, Note | None]:
    """Return the decimal mark of ambiguous numbers, and a note."""
    commas = sum(seen.styles.get(style, 0) for style in BY_COMMA)
    dots = sum(seen.styles.get(style, 0) for style in BY_DOT)
    ambiguous = {mark: seen.styles.get(style, 0) for style, mark in AMBIGUOUS_MARKS.items()}
    mark = "," if commas > dots else "." if dots else ""
    if commas and dots:
        message = (
            f"decimal commas and decimal points in one column, such as {seen.first(*BY_COMMA)!r} and {seen.first(*BY_DOT)!r}"
        )
        return mark, Note(name, message, commas + dots, "nominal", is_doubtful=True)
    if mark:
        return mark, _by_comma(name, seen, commas) if mark == "," else None
    if not any(ambiguous.values()):
        return habits.decimal or ".", None
    return _open(name, seen, habits, ambiguous)


def _by_comma(name: str, seen: StringEvidence, cells: int) -> Note:
    return Note(name, f"a number with a decimal comma, such as {seen.first('comma', *BY_COMMA)!r}", cells, "nominal")


def _open(name: str, seen: StringEvidence, habits: TableConventions, opened: dict[str, int]) -> tuple[str, Note | None]:
    """Return the mark if every one precedes exactly three digits: the other columns decide, else the usual convention."""
    comma, dot = opened[","], opened["."]
    if comma and dot:
        mark, thousands, decimals = (",", "dot3", "comma3") if habits.decimal == "," else (".", "comma3", "dot3")
        message = f"{seen.first(thousands)!r} is read as thousands, {seen.first(decimals)!r} as decimals"
        return mark, Note(name, message, comma + dot, "nominal", is_doubtful=True)
    mark = habits.decimal or "."
    text = seen.first("comma3" if comma else "dot3")
    if dot and mark == ".":
        return ".", None
    means = "decimals" if (mark == ",") == bool(comma) else "thousands"
    why = " as declared" if habits.is_declared else f", {habits.why}" if habits.decimal else ""
    other = "." if mark == "," else ","
    message = f"{text!r} is read as {means}{why}"
    return mark, Note(name, message, comma + dot, "decimal", other, is_doubtful=not habits.is_declared)


def _marks(name: str, seen: StringEvidence) -> list[Note]:
    notes = []
    grouped = [style for style in seen.styles if style in GROUPED]
    if grouped:
        cells = sum(seen.styles[style] for style in grouped)
        notes.append(Note(name, f"thousands have a mark, such as {seen.first(*sorted(grouped))!r}", cells, "nominal"))
    if seen.other.get("accounting"):
        message = f"parentheses or a minus at the end mean a negative number, such as {seen.first('accounting')!r}"
        notes.append(Note(name, message, seen.other["accounting"], "nominal"))
    if seen.other.get("mark"):
        message = f"footnote marks are removed from numbers such as {seen.first('mark')!r}"
        notes.append(Note(name, message, seen.other["mark"], "nominal"))
    if seen.other.get("plus"):
        notes.append(Note(name, f"a plus in front, such as {seen.first('plus')!r}", seen.other["plus"], "nominal"))
    return notes


def _units(name: str, seen: StringEvidence, units: dict[str, int]) -> list[Note]:
    notes = [
        Note(name, f"{unit!r} is removed from numbers such as {seen.first(unit)!r}", n, "nominal")
        for unit, n in units.items()
    ]
    return [*notes, *(_bare(name, seen, next(iter(units))) if units else []), *_scales(name, seen)]


def _bare(name: str, seen: StringEvidence, unit: str) -> list[Note]:
    """Return a note on numbers without the unit that the others have."""
    bare = seen.units.get("", 0)
    if bare <= _MAX_UNPARSED * seen.n_numbers:
        return []
    message = f"{bare:,} numbers have no unit and are assumed to be in {unit!r}"
    return [Note(name, message, bare, "nominal", is_doubtful=True)]


def _scales(name: str, seen: StringEvidence) -> list[Note]:
    notes = []
    if seen.scales:
        listed = ", ".join(sorted(seen.scales))
        message = f"{listed} multiply the number, as in {seen.first(*sorted(seen.scales))!r}"
        notes.append(Note(name, message, sum(seen.scales.values()), "nominal"))
    bounds = {unit: n for unit, n in seen.units.items() if unit in BOUNDS}
    if bounds:
        message = f"bounds such as {seen.first(*sorted(bounds))!r} are read as the number itself"
        notes.append(Note(name, message, sum(bounds.values()), "nominal", is_doubtful=True))
    return notes
