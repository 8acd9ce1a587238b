"""How a column of dates or times is read, and what is told of it."""

from __future__ import annotations

from baytree.table.notes import Note
from baytree.table.reading.decision import Decision, Habits, words_of_nothing
from baytree.table.reading.evidence import Evidence
from baytree.table.reading.forms import Form


def decide_date(name: str, seen: Evidence, habits: Habits, strangers: int) -> Decision:
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
    return Decision(Form("date", order=order), (*notes, *words_of_nothing(name, seen, strangers)))


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


def decide_clock(name: str, seen: Evidence, _: Habits, strangers: int) -> Decision:
    done = f"times of day, such as {seen.first('clock')!r}"
    if seen.other.get("span"):
        done = f"durations, in hours and minutes where nothing else is said, such as {seen.first('span')!r}"
    note = Note(name, done, seen.other["clock"], "nominal")
    return Decision(Form("clock"), (note, *words_of_nothing(name, seen, strangers)))
