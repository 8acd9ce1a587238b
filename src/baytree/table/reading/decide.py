"""From what the strings of a column look like to how they are read, and what is to be told of it."""

from __future__ import annotations

from typing import NamedTuple

from baytree.table.notes import Note
from baytree.table.reading.evidence import Evidence
from baytree.table.reading.forms import Form
from baytree.table.reading.numerals import BY_COMMA, BY_DOT, GROUPED, OPEN
from baytree.table.reading.words import BOUNDS

FEW = 0.1  # of the cells: as many may be no number in a column of numbers
MANY_NUMBERS = 10  # different values, from which on a column with a few words is one of numbers


class Decision(NamedTuple):
    """How a column of strings is read: as a number, a date, a time, or (None) as words; and what is told."""

    form: Form | None
    notes: tuple[Note, ...] = ()


class Habits(NamedTuple):
    """What the columns of a table say together, or its reader declares: the decimal mark, and the order of dates."""

    decimal: str = ""  # "." or ","; empty where nothing tells
    order: str = ""
    is_declared: bool = False
    why: str = "as in other columns of this table"

    @classmethod
    def of(cls, columns: list[Evidence], declared: str = "") -> Habits:
        """What the columns of a table have in common."""
        commas = sum(column.styles.get(style, 0) for column in columns for style in BY_COMMA)
        dots = sum(column.styles.get(style, 0) for column in columns for style in BY_DOT)
        days, months = (sum(column.orders.get(order, 0) for column in columns) for order in ("dmy", "mdy"))
        decimal = declared or ("," if commas > dots else "." if dots else "")
        order = "dmy" if days > months else "mdy" if months > days else ""
        return cls(decimal, order or ("dmy" if commas > dots or declared == "," else ""), bool(declared))


def decide(name: str, seen: Evidence, n_levels: int, habits: Habits) -> Decision:
    """How the column is read; its levels are needed for nothing but their number."""
    known = seen.n_known - seen.n_missing
    total = known - seen.n_no_number
    if total <= 0:
        return Decision(None)
    if seen.styles.get("code") and seen.n_numbers + seen.styles["code"] > (1 - FEW) * total:
        return Decision(None, (_code(name, seen),))
    for n, choose in ((seen.n_numbers, _number), (seen.n_dates, _date), (seen.other.get("clock", 0), _clock)):
        strangers = total - n
        if n and strangers <= FEW * total and (not strangers or n_levels > MANY_NUMBERS):
            return choose(name, seen, habits, strangers)
    return Decision(None, tuple(_half(name, seen, total)))


def _code(name: str, seen: Evidence) -> Note:
    text = seen.first("code")
    done = f"digits that are a code, such as {text!r}, are kept as they are (nominal)"
    return Note(name, done, seen.styles["code"], "numeric")


def _half(name: str, seen: Evidence, total: int) -> list[Note]:
    """A column of words in which some are numbers or dates."""
    for n, what, looks in (
        (seen.n_numbers, "numbers", tuple(seen.styles)),
        (seen.n_dates, "dates", tuple(seen.dates)),
    ):
        if n > FEW * total:
            other = seen.first("word", "text", "email", "clock") or seen.first(*seen.dates) or seen.first(*seen.styles)
            some = f"{n:,} of {total:,} cells are {what}, such as {seen.first(*looks)!r}"
            done = f"{some}, the others not, such as {other!r}: nominal"
            return [Note(name, done, n, "numeric" if what == "numbers" else "date", is_doubtful=True)]
    return []


# numbers


def _number(name: str, seen: Evidence, habits: Habits, strangers: int) -> Decision:
    units = {unit: n for unit, n in seen.units.items() if unit and unit not in BOUNDS}
    if len(units) > 1:
        listed = ", ".join(repr(seen.first(unit)) for unit in sorted(units)[:3])
        done = f"numbers in {len(units)} units, such as {listed}, cannot be compared: nominal"
        return Decision(None, (Note(name, done, sum(units.values()), "numeric", is_doubtful=True),))
    decimal, note = _decimal(name, seen, habits)
    notes = [note, *_marks(name, seen), *_units(name, seen, units), *_words_of_nothing(name, seen, strangers)]
    told = tuple(each for each in notes if each is not None)
    return Decision(Form("number", decimal), told or (_strings(name, seen),))


def _strings(name: str, seen: Evidence) -> Note:
    return Note(name, "strings that are numbers are read as numbers", seen.n_numbers, "nominal")


def _decimal(name: str, seen: Evidence, habits: Habits) -> tuple[str, Note | None]:
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


def _by_comma(name: str, seen: Evidence, cells: int) -> Note:
    return Note(name, f"a number with a decimal comma, such as {seen.first('comma', *BY_COMMA)!r}", cells, "nominal")


def _open(name: str, seen: Evidence, habits: Habits, opened: dict[str, int]) -> tuple[str, Note | None]:
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


def _marks(name: str, seen: Evidence) -> list[Note]:
    notes = []
    grouped = [style for style in seen.styles if style in GROUPED]
    if grouped:
        cells = sum(seen.styles[style] for style in grouped)
        notes.append(Note(name, f"thousands have a mark, such as {seen.first(*sorted(grouped))!r}", cells, "nominal"))
    if seen.other.get("accounting"):
        done = f"parentheses or a minus at the end mean a negative number, such as {seen.first('accounting')!r}"
        notes.append(Note(name, done, seen.other["accounting"], "nominal"))
    if seen.other.get("plus"):
        notes.append(Note(name, f"a plus in front, such as {seen.first('plus')!r}", seen.other["plus"], "nominal"))
    return notes


def _units(name: str, seen: Evidence, units: dict[str, int]) -> list[Note]:
    notes = [
        Note(name, f"{unit!r} is taken off numbers such as {seen.first(unit)!r}", n, "nominal") for unit, n in units.items()
    ]
    bare = seen.units.get("", 0)
    if units and bare > FEW * seen.n_numbers:
        done = f"{bare:,} numbers stand without {next(iter(units))!r}, and are taken to mean the same"
        notes.append(Note(name, done, bare, "nominal", is_doubtful=True))
    if seen.scales:
        listed = ", ".join(sorted(seen.scales))
        done = f"{listed} multiply the number, as in {seen.first(*sorted(seen.scales))!r}"
        notes.append(Note(name, done, sum(seen.scales.values()), "nominal"))
    bounds = {unit: n for unit, n in seen.units.items() if unit in BOUNDS}
    if bounds:
        done = f"bounds such as {seen.first(*sorted(bounds))!r} are read as the number itself"
        notes.append(Note(name, done, sum(bounds.values()), "nominal", is_doubtful=True))
    return notes


def _words_of_nothing(name: str, seen: Evidence, strangers: int) -> list[Note]:
    notes = []
    words = {**seen.nothing, **seen.no_number}
    if any(words):
        listed = ", ".join(repr(word) for word in sorted(words) if word)
        notes.append(Note(name, f"{listed} stands for a missing value", sum(n for w, n in words.items() if w), "nominal"))
    if strangers:
        text = seen.first("word", "text", "clock", "code", *seen.dates, *seen.styles)
        done = f"{text!r} and the like cannot be read here and are missing"
        notes.append(Note(name, done, strangers, "nominal", is_doubtful=True))
    return notes


# dates and times


def _date(name: str, seen: Evidence, habits: Habits, strangers: int) -> Decision:
    opened = {style: n for style, n in seen.dates.items() if style.startswith("dm")}
    if len(seen.orders) > 1:
        pair = f"{seen.first('dmy')!r} and {seen.first('mdy')!r}"
        done = f"dates such as {pair} have day and month in different orders: nominal"
        return Decision(None, (Note(name, done, sum(seen.orders.values()), "date", is_doubtful=True),))
    order, notes = _order(name, seen, habits, opened) if opened else ("dmy", [_dates(name, seen, "")])
    if seen.other.get("zone"):
        n = seen.other["zone"]
        partly = n < seen.other.get("time", 0)
        done = f"times with a zone, such as {seen.first('zone')!r}, are read as UTC"
        notes.append(Note(name, done + (", those without as they are" if partly else ""), n, "nominal", is_doubtful=partly))
    return Decision(Form("date", order=order), (*notes, *_words_of_nothing(name, seen, strangers)))


def _dates(name: str, seen: Evidence, how: str) -> Note:
    what = "dates with a time" if seen.other.get("time") else "dates"
    return Note(name, f"{what}{how}, such as {seen.first(*sorted(seen.dates))!r}", seen.n_dates, "nominal")


def _order(name: str, seen: Evidence, habits: Habits, opened: dict[str, int]) -> tuple[str, list[Note]]:
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


def _clock(name: str, seen: Evidence, _: Habits, strangers: int) -> Decision:
    done = f"times of day, such as {seen.first('clock')!r}"
    note = Note(name, done, seen.other["clock"], "nominal")
    return Decision(Form("clock"), (note, *_words_of_nothing(name, seen, strangers)))
