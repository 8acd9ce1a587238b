"""From what the strings of a column look like to how they are read, and what is to be told of it.

How a column of dates or times is read, and what is told of it.

How a column of numbers is read, and what is told of it.
"""

from __future__ import annotations

from collections.abc import Collection

from baytree.data.inference.evidence import FEW, FormatDecision, StringEvidence, TableConventions, missing_token_notes
from baytree.data.parsing.numbers import BY_COMMA, BY_DOT, GROUPED, NONE, OPEN, can_be_compared, is_known
from baytree.data.parsing.string_format import StringFormat
from baytree.data.parsing.vocabulary import BOUNDS
from baytree.data.schema.notes import Note

HALF = 0.25  # of the cells: from as many numbers on, a column of words is told to hold some

MANY_NUMBERS = 10  # different values, from which on a column with a few words is one of numbers


def decide_format(name: str, seen: StringEvidence, n_levels: int, habits: TableConventions) -> FormatDecision:
    """How the column is read; its levels are needed for nothing but their number."""
    known = seen.n_known - seen.n_missing
    total = known - seen.n_no_number
    if total <= 0:
        return FormatDecision(None)
    if seen.styles.get("code") and seen.n_numbers + seen.styles["code"] > (1 - FEW) * total:
        return FormatDecision(None, (_code(name, seen),))
    for n, choose in (
        (seen.n_numbers, decide_number),
        (seen.n_dates, decide_date),
        (seen.other.get("clock", 0), decide_clock),
    ):
        strangers = total - n
        if n and strangers <= FEW * total and (not strangers or n_levels > MANY_NUMBERS):
            return choose(name, seen, habits, strangers)
    return FormatDecision(None, tuple(_half(name, seen, total)))


def _code(name: str, seen: StringEvidence) -> Note:
    text = seen.first("code")
    done = f"digits that are a code, such as {text!r}, are kept as they are (nominal)"
    return Note(name, done, seen.styles["code"], "numeric")


def _half(name: str, seen: StringEvidence, total: int) -> list[Note]:
    """A column of words in which some are numbers or dates."""
    for n, what, looks in (
        (seen.n_numbers, "numbers", tuple(seen.styles)),
        (seen.n_dates, "dates", tuple(seen.dates)),
    ):
        if n > HALF * total:
            other = seen.first("word", "text", "email", "clock") or seen.first(*seen.dates) or seen.first(*seen.styles)
            some = f"{n:,} of {total:,} cells are {what}, such as {seen.first(*looks)!r}"
            done = f"{some}, the others not, such as {other!r}: nominal"
            return [Note(name, done, n, "numeric" if what == "numbers" else "date", is_doubtful=True)]
    return []


def decide_date(name: str, seen: StringEvidence, habits: TableConventions, strangers: int) -> FormatDecision:
    opened = {style: n for style, n in seen.dates.items() if style.startswith("dm")}
    if len(seen.orders) > 1:
        pair = f"{seen.first('dmy')!r} and {seen.first('mdy')!r}"
        done = f"dates such as {pair} have day and month in different orders: nominal"
        return FormatDecision(None, (Note(name, done, sum(seen.orders.values()), "date", is_doubtful=True),))
    order, notes = _order(name, seen, habits, opened) if opened else ("dmy", [_dates(name, seen, "")])
    if seen.other.get("zone"):
        n = seen.other["zone"]
        partly = n < seen.other.get("time", 0)
        done = f"times with a zone, such as {seen.first('zone')!r}, are read as UTC"
        notes.append(Note(name, done + (", those without as they are" if partly else ""), n, "nominal", is_doubtful=partly))
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
    done = f"dates such as {text!r} are read with {'the day' if order == 'dmy' else 'the month'} first, {why}: no cell tells"
    other = "mdy" if order == "dmy" else "dmy"
    return order, [Note(name, done, sum(opened.values()), "date", other, is_doubtful="dm." not in opened)]


def decide_clock(name: str, seen: StringEvidence, _: TableConventions, strangers: int) -> FormatDecision:
    done = f"times of day, such as {seen.first('clock')!r}"
    if seen.other.get("span"):
        done = f"durations, in hours and minutes where nothing else is said, such as {seen.first('span')!r}"
    note = Note(name, done, seen.other["clock"], "nominal")
    return FormatDecision(StringFormat("clock"), (note, *missing_token_notes(name, seen, strangers)))


_RARE = 0.01  # of the numbers: what stands behind no more of them, and is no known unit, is a typing error


def decide_number(name: str, seen: StringEvidence, habits: TableConventions, strangers: int) -> FormatDecision:
    units = {unit: n for unit, n in seen.units.items() if unit and unit not in BOUNDS}
    typos = [unit for unit, n in units.items() if n <= _RARE * seen.n_numbers and not is_known(unit)]
    units = {unit: n for unit, n in units.items() if unit not in typos}
    if len(units) > 1 and not can_be_compared(units):
        done = f"{_mixed(seen, units)}, cannot be compared: nominal"
        return FormatDecision(None, (Note(name, done, sum(units.values()), "numeric", is_doubtful=True),))
    decimal, note = _decimal(name, seen, habits)
    wanted = max(sorted(units), key=lambda unit: units[unit]) if len(units) > 1 else ""
    of_units = _units(name, seen, units) if not wanted else _bare(name, seen, wanted)
    if wanted:
        done = f"{_mixed(seen, units)}, are all brought to {wanted}"
        of_units = [Note(name, done, sum(units.values()), "nominal", is_doubtful=True), *of_units]
    notes = [note, *_marks(name, seen), *of_units, *_typos(name, seen, typos), *missing_token_notes(name, seen, strangers)]
    told = tuple(each for each in notes if each is not None)
    wanted = wanted or (next(iter(units), NONE) if typos else "")
    return FormatDecision(StringFormat("number", decimal, unit=wanted), told or (_strings(name, seen),))


def _typos(name: str, seen: StringEvidence, units: Collection[str]) -> list[Note]:
    """What is told of letters behind so few numbers that they are no unit."""
    if not units:
        return []
    done = f"{seen.first(*sorted(units))!r} looks like a typing error and is missing"
    return [Note(name, done, sum(seen.units[unit] for unit in units), "nominal", is_doubtful=True)]


def _mixed(seen: StringEvidence, units: Collection[str]) -> str:
    """Names the units of a column, with a number in each."""
    listed = ", ".join(repr(seen.first(unit)) for unit in sorted(units)[:3])
    return f"numbers in {len(units)} units ({', '.join(sorted(units)[:6])}), such as {listed}"


def _strings(name: str, seen: StringEvidence) -> Note:
    return Note(name, "strings that are numbers are read as numbers", seen.n_numbers, "nominal")


def _decimal(name: str, seen: StringEvidence, habits: TableConventions) -> tuple[str, Note | None]:
    """The decimal mark of what is open, and what is told of it."""
    commas = sum(seen.styles.get(style, 0) for style in BY_COMMA)
    dots = sum(seen.styles.get(style, 0) for style in BY_DOT)
    opened = {mark: seen.styles.get(style, 0) for style, mark in OPEN.items()}
    mark = "," if commas > dots else "." if dots else ""
    if commas and dots:
        done = (
            f"decimal commas and decimal points in one column, such as {seen.first(*BY_COMMA)!r} and {seen.first(*BY_DOT)!r}"
        )
        return mark, Note(name, done, commas + dots, "nominal", is_doubtful=True)
    if mark:
        return mark, _by_comma(name, seen, commas) if mark == "," else None
    if not any(opened.values()):
        return habits.decimal or ".", None
    return _open(name, seen, habits, opened)


def _by_comma(name: str, seen: StringEvidence, cells: int) -> Note:
    return Note(name, f"a number with a decimal comma, such as {seen.first('comma', *BY_COMMA)!r}", cells, "nominal")


def _open(name: str, seen: StringEvidence, habits: TableConventions, opened: dict[str, int]) -> tuple[str, Note | None]:
    """Every mark stands before three digits: the other columns decide, else what is usual."""
    comma, dot = opened[","], opened["."]
    if comma and dot:
        mark, thousands, decimals = (",", "dot3", "comma3") if habits.decimal == "," else (".", "comma3", "dot3")
        done = f"{seen.first(thousands)!r} is read as thousands, {seen.first(decimals)!r} as decimals"
        return mark, Note(name, done, comma + dot, "nominal", is_doubtful=True)
    mark = habits.decimal or "."
    text = seen.first("comma3" if comma else "dot3")
    if dot and mark == ".":
        return ".", None
    means = "decimals" if (mark == ",") == bool(comma) else "thousands"
    why = " as declared" if habits.is_declared else f", {habits.why}" if habits.decimal else ""
    other = "." if mark == "," else ","
    done = f"{text!r} is read as {means}{why}"
    return mark, Note(name, done, comma + dot, "decimal", other, is_doubtful=not habits.is_declared)


def _marks(name: str, seen: StringEvidence) -> list[Note]:
    notes = []
    grouped = [style for style in seen.styles if style in GROUPED]
    if grouped:
        cells = sum(seen.styles[style] for style in grouped)
        notes.append(Note(name, f"thousands have a mark, such as {seen.first(*sorted(grouped))!r}", cells, "nominal"))
    if seen.other.get("accounting"):
        done = f"parentheses or a minus at the end mean a negative number, such as {seen.first('accounting')!r}"
        notes.append(Note(name, done, seen.other["accounting"], "nominal"))
    if seen.other.get("mark"):
        done = f"stars and daggers, as of footnotes, are taken off numbers such as {seen.first('mark')!r}"
        notes.append(Note(name, done, seen.other["mark"], "nominal"))
    if seen.other.get("plus"):
        notes.append(Note(name, f"a plus in front, such as {seen.first('plus')!r}", seen.other["plus"], "nominal"))
    return notes


def _units(name: str, seen: StringEvidence, units: dict[str, int]) -> list[Note]:
    notes = [
        Note(name, f"{unit!r} is taken off numbers such as {seen.first(unit)!r}", n, "nominal") for unit, n in units.items()
    ]
    return [*notes, *(_bare(name, seen, next(iter(units))) if units else []), *_scales(name, seen)]


def _bare(name: str, seen: StringEvidence, unit: str) -> list[Note]:
    """What is told of numbers without the unit that the others have."""
    bare = seen.units.get("", 0)
    if bare <= FEW * seen.n_numbers:
        return []
    done = f"{bare:,} numbers stand without {unit!r}, and are taken to mean the same"
    return [Note(name, done, bare, "nominal", is_doubtful=True)]


def _scales(name: str, seen: StringEvidence) -> list[Note]:
    notes = []
    if seen.scales:
        listed = ", ".join(sorted(seen.scales))
        done = f"{listed} multiply the number, as in {seen.first(*sorted(seen.scales))!r}"
        notes.append(Note(name, done, sum(seen.scales.values()), "nominal"))
    bounds = {unit: n for unit, n in seen.units.items() if unit in BOUNDS}
    if bounds:
        done = f"bounds such as {seen.first(*sorted(bounds))!r} are read as the number itself"
        notes.append(Note(name, done, sum(bounds.values()), "nominal", is_doubtful=True))
    return notes
