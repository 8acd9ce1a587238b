"""How a column of numbers is read, and what is told of it."""

from __future__ import annotations

from collections.abc import Collection

from baytree.table.notes import Note
from baytree.table.reading.decision import FEW, Decision, Habits, words_of_nothing
from baytree.table.reading.evidence import Evidence
from baytree.table.reading.forms import Form
from baytree.table.reading.numerals import BY_COMMA, BY_DOT, GROUPED, OPEN
from baytree.table.reading.units import NONE, can_be_compared, is_known
from baytree.table.reading.words import BOUNDS

_RARE = 0.01  # of the numbers: what stands behind no more of them, and is no known unit, is a typing error


def decide_number(name: str, seen: Evidence, habits: Habits, strangers: int) -> Decision:
    units = {unit: n for unit, n in seen.units.items() if unit and unit not in BOUNDS}
    typos = [unit for unit, n in units.items() if n <= _RARE * seen.n_numbers and not is_known(unit)]
    units = {unit: n for unit, n in units.items() if unit not in typos}
    if len(units) > 1 and not can_be_compared(units):
        done = f"{_mixed(seen, units)}, cannot be compared: nominal"
        return Decision(None, (Note(name, done, sum(units.values()), "numeric", is_doubtful=True),))
    decimal, note = _decimal(name, seen, habits)
    wanted = max(sorted(units), key=lambda unit: units[unit]) if len(units) > 1 else ""
    of_units = _units(name, seen, units) if not wanted else _bare(name, seen, wanted)
    if wanted:
        done = f"{_mixed(seen, units)}, are all brought to {wanted}"
        of_units = [Note(name, done, sum(units.values()), "nominal", is_doubtful=True), *of_units]
    notes = [note, *_marks(name, seen), *of_units, *_typos(name, seen, typos), *words_of_nothing(name, seen, strangers)]
    told = tuple(each for each in notes if each is not None)
    wanted = wanted or (next(iter(units), NONE) if typos else "")
    return Decision(Form("number", decimal, unit=wanted), told or (_strings(name, seen),))


def _typos(name: str, seen: Evidence, units: Collection[str]) -> list[Note]:
    """What is told of letters behind so few numbers that they are no unit."""
    if not units:
        return []
    done = f"{seen.first(*sorted(units))!r} looks like a typing error and is missing"
    return [Note(name, done, sum(seen.units[unit] for unit in units), "nominal", is_doubtful=True)]


def _mixed(seen: Evidence, units: Collection[str]) -> str:
    """Names the units of a column, with a number in each."""
    listed = ", ".join(repr(seen.first(unit)) for unit in sorted(units)[:3])
    return f"numbers in {len(units)} units ({', '.join(sorted(units)[:6])}), such as {listed}"


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
    if seen.other.get("mark"):
        done = f"stars and daggers, as of footnotes, are taken off numbers such as {seen.first('mark')!r}"
        notes.append(Note(name, done, seen.other["mark"], "nominal"))
    if seen.other.get("plus"):
        notes.append(Note(name, f"a plus in front, such as {seen.first('plus')!r}", seen.other["plus"], "nominal"))
    return notes


def _units(name: str, seen: Evidence, units: dict[str, int]) -> list[Note]:
    notes = [
        Note(name, f"{unit!r} is taken off numbers such as {seen.first(unit)!r}", n, "nominal") for unit, n in units.items()
    ]
    return [*notes, *(_bare(name, seen, next(iter(units))) if units else []), *_scales(name, seen)]


def _bare(name: str, seen: Evidence, unit: str) -> list[Note]:
    """What is told of numbers without the unit that the others have."""
    bare = seen.units.get("", 0)
    if bare <= FEW * seen.n_numbers:
        return []
    done = f"{bare:,} numbers stand without {unit!r}, and are taken to mean the same"
    return [Note(name, done, bare, "nominal", is_doubtful=True)]


def _scales(name: str, seen: Evidence) -> list[Note]:
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
