"""What `baytree.audit` finds: ten kinds of traps planted in 20 clean tables, false alarms, and what it costs in `compare`.

python benchmarks/audit.py [--time]

The tables are those of the oracles without equal rows. One trap at a time is planted in each of them: 200 in total. A trap
is found if a finding of its kind names its column (for exact copies: if the kind is found). On the tables as they are, each
finding of the planted kinds is a false alarm unless `KNOWN` explains it. Writes AUDIT.md.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import baytree as bt

HERE = Path(__file__).parent
ORACLES = HERE.parents[1] / "shared" / "oracles" / "data"
TABLES = (
    "stagec", "lymph", "iris", "hepatitis", "wine", "crabs", "glass", "penguins", "vote", "wdbc", "credit_a", "pima",
    "tictactoe", "etitanic", "cmc", "car", "segment", "vehicle", "cpu", "ozone1",
)  # fmt: skip
MORE = ("soybean", "anneal", "autos", "airquality", "kyphosis", "monks1", "titanic", "zoo", "mushroom", "mtcars")
KINDS = ("leak", "duplicates", "groups", "time")
KNOWN = {
    ("penguins", "time"): "`year` is the year of the measurement",
    ("cpu", "duplicates"): "machines of the same specification, with different performance",
}  # findings on clean tables that are true


def clean(name: str) -> tuple[pd.DataFrame, str, dict[str, str]]:
    """A table without equal rows, its target, and the kinds of its columns."""
    about = json.loads((ORACLES / f"{name}.json").read_text())
    kinds = {column: each["kind"] for column, each in about["columns"].items()}
    types = {column: "float64" if kind == "numeric" else "str" for column, kind in kinds.items()}
    frame = pd.read_csv(ORACLES / f"{name}.csv", keep_default_na=False, na_values=[""], dtype=types)
    target = about["target"]
    frame = frame[frame[target].notna()].drop_duplicates().sample(frac=1.0, random_state=0).reset_index(drop=True)
    return frame, target, {column: kind for column, kind in kinds.items() if column != target and kind == "nominal"}


# --- traps: (table, target, random numbers) -> table with the trap, kind of the finding, column -------------------------

Planted = tuple[pd.DataFrame, str, str]
Trap = Callable[[pd.DataFrame, str, np.random.Generator], Planted]


def _is_number(y: pd.Series) -> bool:
    return y.dtype.kind == "f" and y.nunique() > 20


def _second_half(y: pd.Series) -> np.ndarray:
    """Rows of the classes but the largest, or of the larger numbers."""
    return (y > y.median()).to_numpy() if _is_number(y) else (y != y.mode()[0]).to_numpy()


def transform(frame: pd.DataFrame, target: str, _rng: np.random.Generator) -> Planted:
    """A monotone transform of a number, or a code of the class."""
    y = frame[target]
    leak = np.log(y - y.min() + 1) if _is_number(y) else y.map({v: f"k{i}" for i, v in enumerate(sorted(y.unique()))})
    return frame.assign(log_amount=leak), "leak", "log_amount"


def recorded_afterwards(frame: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    """A date of the outcome: known for one side of the target only."""
    is_known = _second_half(frame[target])
    if frame[target].nunique() > 2 and not _is_number(frame[target]):
        is_known = (frame[target] == frame[target].mode()[0]).to_numpy()
    return frame.assign(settled=np.where(is_known, rng.normal(50, 9, len(frame)), np.nan)), "leak", "settled"


def noisy_copy(frame: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    """A number that separates the classes, wrong in one row of a hundred."""
    y = frame[target]
    if _is_number(y):
        return frame.assign(paid=np.round(y, 1) * 1.19 + 3), "leak", "paid"
    code = y.map({v: i for i, v in enumerate(sorted(y.unique()))}).to_numpy(float)
    wrong = rng.random(len(frame)) < 0.01
    code[wrong] = rng.permutation(code)[wrong]
    return frame.assign(paid=10 * code + rng.uniform(0, 5, len(frame))), "leak", "paid"


def level_of_one_class(frame: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    """A level that half of the rows of a smaller class have, and no other; a group of a number's values."""
    y = frame[target]
    if _is_number(y):
        return frame.assign(band=pd.qcut(y, 4, labels=["low", "medium", "high", "top"]).astype(str)), "leak", "band"
    smaller = y.value_counts().index[1]
    level = rng.choice(["web", "shop", "phone"], len(frame)).astype(object)
    level[(y == smaller).to_numpy() & (rng.random(len(frame)) < 0.5)] = "returned"
    return frame.assign(channel=level), "leak", "channel"


def copies(frame: pd.DataFrame, _target: str, rng: np.random.Generator) -> Planted:
    """One row of twenty once more."""
    again = frame.sample(frac=0.05, random_state=int(rng.integers(1 << 30)))
    return _shuffled(pd.concat([frame, again]), rng), "duplicates", ""


def copies_with_a_number(frame: pd.DataFrame, _target: str, rng: np.random.Generator) -> Planted:
    """The same, and each row has a number of its own."""
    again = frame.sample(frac=0.05, random_state=int(rng.integers(1 << 30)))
    both = _shuffled(pd.concat([frame, again]), rng)
    return both.assign(receipt=rng.permutation(len(both) * 7)[: len(both)] + 10_000), "duplicates", "receipt"


def blocks(frame: pd.DataFrame, _target: str, rng: np.random.Generator) -> Planted:
    """Rows of one customer one after the other."""
    size = rng.integers(2, 8, len(frame))
    customer = np.repeat(rng.permutation(len(frame)) + 4000, size)[: len(frame)]
    return frame.assign(holder=[f"H{number}" for number in customer]), "groups", "holder"


def repeated_measurements(frame: pd.DataFrame, _target: str, rng: np.random.Generator) -> Planted:
    """Several rows of one subject, in any order, with the same home and age."""
    n = max(len(frame) // 5, 10)
    subject = rng.integers(0, n, len(frame))
    home, age = rng.integers(0, 6, n), np.round(rng.normal(50, 12, n), 1)
    more = {"ref": [f"r{each:04d}" for each in subject], "home": [f"h{k}" for k in home[subject]], "years_old": age[subject]}
    return frame.assign(**more), "groups", "ref"


def dates(frame: pd.DataFrame, _target: str, rng: np.random.Generator) -> Planted:
    """Dates in any order, along which a price rises."""
    day = rng.integers(0, 900, len(frame))
    when = pd.Timestamp("2021-03-01") + pd.to_timedelta(day, "D")
    more = {"signed": [each.strftime("%Y-%m-%d") for each in when], "price": day / 100 + rng.normal(size=len(frame))}
    return frame.assign(**more), "time", "signed"


def sorted_days(frame: pd.DataFrame, _target: str, rng: np.random.Generator) -> Planted:
    """Rows in the order of a day number, along which a price rises."""
    day = np.sort(rng.integers(1, 400, len(frame)))
    return frame.assign(day=day, price=day / 60 + rng.normal(size=len(frame))), "time", "day"


TRAPS: tuple[Trap, ...] = (
    transform, recorded_afterwards, noisy_copy, level_of_one_class, copies, copies_with_a_number, blocks,
    repeated_measurements, dates, sorted_days,
)  # fmt: skip


def _shuffled(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return frame.sample(frac=1.0, random_state=int(rng.integers(1 << 30))).reset_index(drop=True)


def is_found(audit: bt.Audit, kind: str, column: str) -> bool:
    """Whether a finding of this kind names the column."""
    return any(each.kind == kind and (not column or column in each.columns) for each in audit.findings)


def main() -> None:
    """Plant, audit and count, also on `MORE` clean tables; with --time also the time that the audit takes in `compare`."""
    found: dict[str, list[str]] = {trap.__name__: [] for trap in TRAPS}
    alarms, n_checks, rows = [], 0, []
    bt.audit(*clean("iris")[:2])  # imports what the first call needs
    for number, name in enumerate(TABLES):
        frame, target, schema = clean(name)
        start = time.process_time()
        audit = bt.audit(frame, target, schema=schema)
        seconds = time.process_time() - start
        n_checks += len(KINDS)
        for kind in KINDS:
            own = [each for each in audit.findings if each.kind == kind]
            if own and (name, kind) not in KNOWN:
                alarms.append(f"{name}: {kind}: {own[0].message}")
        missed = []
        for k, trap in enumerate(TRAPS):
            table, kind, column = trap(frame, target, np.random.default_rng(100 * number + k))
            if is_found(bt.audit(table, target, schema=schema), kind, column):
                found[trap.__name__].append(name)
            else:
                missed.append(trap.__name__)
        rows.append((name, len(frame), frame.shape[1] - 1, seconds, missed))
        print(name, f"{seconds:.3f} s", "missed:", missed, flush=True)
    for name in MORE:
        frame, target, schema = clean(name)
        audit, n_checks = bt.audit(frame, target, schema=schema), n_checks + len(KINDS)
        alarms += [f"{name}: {each.kind}: {each.message}" for each in audit.findings if each.kind in KINDS]
    n_found = sum(map(len, found.values()))
    print(n_found, "of", len(TRAPS) * len(TABLES), "alarms:", *alarms, sep="\n")
    (HERE / "AUDIT.md").write_text(page(found, alarms, n_checks, rows, costs() if "--time" in sys.argv else []))


def costs() -> list[tuple[str, float, float]]:
    """Processor time of the audit and of the whole comparison, on four tables."""
    results = []
    for name in ("iris", "pima", "car", "segment"):
        frame, target, schema = clean(name)
        start = time.process_time()
        bt.audit(frame, target, schema=schema)
        middle = time.process_time()
        bt.compare(frame, target, schema=schema)
        results.append((name, middle - start, time.process_time() - middle))
    return results


def page(found: dict, alarms: list, n_checks: int, rows: list, spent: list) -> str:
    """The page, as Markdown."""
    n_found, n_planted = sum(map(len, found.values())), len(TRAPS) * len(TABLES)
    lines = [
        "# What `baytree.audit` finds",
        "",
        f"Ten kinds of traps, one at a time, in each of {len(TABLES)} clean tables: {n_found} of {n_planted} were found "
        f"({n_found / n_planted:.1%}).",
        f"On the clean tables: {len(alarms)} false alarms in {n_checks} checks (leak, duplicates, groups and time of each "
        f"table, and of {len(MORE)} more).",
        "The limits of the audit were chosen with these tables at hand, so expect less on others.",
        "`python benchmarks/audit.py --time` makes this page anew; the tables are read from beside the clone.",
        "",
        "| trap | found | missed on |",
        "|---|--:|---|",
    ]
    for trap in TRAPS:
        own = found[trap.__name__]
        missed = ", ".join(name for name in TABLES if name not in own)
        lines.append(f"| {(trap.__doc__ or '').strip().rstrip('.')} | {len(own)} of {len(TABLES)} | {missed} |")
    lines += ["", "| table | rows | columns | audit, processor seconds |", "|---|--:|--:|--:|"]
    lines += [f"| {name} | {n:,} | {p} | {seconds:.3f} |" for name, n, p, seconds, _ in rows]
    if spent:
        lines += ["", "| table | audit, s | `compare` with it, s |", "|---|--:|--:|"]
        lines += [f"| {name} | {own:.2f} | {whole:.2f} |" for name, own, whole in spent]
    lines += ["", "False alarms:" if alarms else "No false alarm.", *(f"- {alarm}" for alarm in alarms)]
    lines += ["", "Findings on clean tables that are true:", *(f"- {n}, {kind}: {why}" for (n, kind), why in KNOWN.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
