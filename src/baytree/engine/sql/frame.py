"""`SqlFrame`: columns, target and weights of the rows of a query, and the profile from which the schema is inferred.

Kinds come from the types of the database: numbers and dates are numeric, strings and booleans nominal. One query counts,
one looks for columns of many distinct values in the first rows, and one counts the values of all other columns by class.
Messy strings (numbers with units, missing tokens) are repaired in memory only: here the query does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from baytree.data.encoding.labels import Labels, without_words_for_none
from baytree.data.encoding.sample import ReadLabels, warn_of_unlabelled, with_target
from baytree.data.frames.numbers import Codes, Numbers, booleans
from baytree.data.frames.raw import Raw, RawFrame
from baytree.data.inference.column_profile import ColumnProfile
from baytree.data.inference.infer import TableProfile
from baytree.data.inference.number_checks import NumberProfile
from baytree.data.schema.column import Kind, Text
from baytree.data.schema.schema import Schema
from baytree.engine.sql import cells as grouping
from baytree.engine.sql.catalog import Family
from baytree.engine.sql.cells import Cells, TooManyCells
from baytree.engine.sql.group_sizes import check_group_sizes
from baytree.engine.sql.partitions import SqlPartitions
from baytree.engine.sql.rows import SqlRows

MAX_VALUES = 65_536  # distinct numbers of a column that are counted one by one, as for trees on other engines

MAX_LEVELS = 1_000_000  # distinct strings, as in inference on other engines

_FIRST_ROWS = 200_000  # rows in which columns of many distinct values are looked for

_MAX_CLASSES = 10_000

_MAX_EXACT = 2.0**53

_COLUMNS_PER_SUMMARY = 300  # four aggregates each, below the limit of 1,664 results in PostgreSQL

# strings only identify rows if nearly all differ, as in data.inference.identifiers
_MIN_DISTINCT, _MIN_NEARLY_DISTINCT, _MIN_PROPORTION = 10, 20, 0.95


class ColumnSummary(msgspec.Struct, frozen=True):
    """Number of known values of a column and, for numbers, their range and mean."""

    known: int
    low: float = np.nan
    high: float = np.nan
    mean: float = np.nan


class SqlFrame:
    """Columns of the rows of a query; the counterpart of `data.frames.raw.RawFrame` for the SQL engine."""

    is_named = True
    matrix = None

    def __init__(self, rows: SqlRows, target: str, weight: str | None, read_labels: ReadLabels, reader: str):
        self.rows, self.target, self.weight, self.reader = rows, target, weight, reader
        self._read_labels = read_labels
        for name, role in ((target, "target"), (weight, "sample_weight")):
            if name is not None and name not in rows.columns:
                raise ValueError(f"no {role} column {name!r}; the columns are {', '.join(map(repr, rows.columns))}")
        self.columns: dict[str, Any] = {name: None for name in rows.columns if name not in (target, weight)}
        self.min_count = rows.min_count
        self.label: Labels | None = None
        self.n_rows = 0
        self.class_rows = np.zeros(0, np.int64)
        self.class_weights = np.zeros(0)
        self.cells: dict[str, Cells] = {}  # by column, of columns whose values are all counted
        self.summaries: dict[str, ColumnSummary] = {}
        self.codes: dict[Any, int] = {}  # class code of each label as the database returns it
        self._order: list[str] = []

    # --- the clean table ----------------------------------------------------------------------------------------------

    @property
    def is_classification(self) -> bool:
        """Whether the target has classes."""
        assert self.label is not None
        return self.label.target.classes is not None

    def table(self, names: Sequence[str], *, with_target: bool = True) -> Any:
        """Clean columns `c0`, `c1`, … of the rows that have a label and a positive weight, with class `y` and weight `w`."""
        source = self.rows.source()
        columns = {f"c{j}": self.rows.value(source, name) for j, name in enumerate(names)}
        columns["y"] = self.rows.value(source, self.target)
        if self.weight is not None:
            columns["w"] = self.rows.value(source, self.weight)
        clean = source.select(**columns)
        clean = clean.filter(clean.y.notnull())
        if self.weight is not None:
            clean = clean.filter(clean.w > 0)
        return clean if with_target else clean.drop("y")

    def run(self, expression: Any) -> list[tuple]:
        """Answer of an expression over the rows."""
        return self.rows.run(expression)

    def class_codes(self, labels: Sequence[Any]) -> np.ndarray:
        """Class codes of labels as the database returns them; −1 for words that mean a missing label. int32"""
        codes = self.codes
        return np.array([codes[label] for label in labels], np.int32)

    def decoded(self, column: int, values: np.ndarray) -> Sequence[Any]:
        """Strings of a column of the current query as they are in the table."""
        return self.rows.decode(self._order[column], values.tolist())

    def set_order(self, names: Sequence[str]) -> None:
        """Columns of the next query, by which its strings are decoded."""
        self._order = list(names)

    def is_string(self, name: str) -> bool:
        """Whether a column holds strings in the database."""
        return self.rows.types[name].family is Family.STRING

    def grouped(self, names: Sequence[str]) -> dict[str, Cells]:
        """Cells of columns by class."""
        self.set_order(names)
        table = self.table(names)
        table = table if self.is_classification else table.drop("y")
        found = grouping.grouped(self, table, {j: table[f"c{j}"] for j in range(len(names))})
        return {name: found[j] for j, name in enumerate(names)}

    # --- reading ------------------------------------------------------------------------------------------------------

    def census(self, declared: Mapping[str, Any] | None) -> TableProfile:
        """Profile of the columns, given what is declared of them."""
        declared = {name: kind for name, kind in (declared or {}).items() if name != self.target}
        for name in declared:
            if name not in self.columns:
                raise ValueError(f"schema names {name!r}, but the columns are {', '.join(map(repr, self.columns))}")
        self._read({name for name, kind in declared.items() if kind == "drop"})
        return TableProfile(tuple(self._profile(name, declared.get(name)) for name in self.columns))

    def parts(self, schema: Schema, accepts_infinite: bool, n_jobs: int | None) -> SqlPartitions:
        """Rows as partitions under a schema."""
        if not self.n_rows:
            self._read(set(self.columns) - set(schema.sources))
        assert self.label is not None
        for column in schema.columns:
            if column.kind is Kind.TEXT:
                raise ValueError(
                    f"column {column.name!r} is text: a database cannot count words; leave it out with "
                    f"schema={{{column.name!r}: 'drop'}}, or use bt.scan of an export"
                )
            if column.source not in self.cells and (column.kind is not Kind.NUMERIC or column.form is not None):
                raise ValueError(f"column {column.source!r} has too many distinct values to be {column.kind}; leave it out")
        return SqlPartitions(self, with_target(schema, self.label.target, self.n_rows), n_jobs)

    def raw(self, name: str, values: Sequence[Any]) -> Raw:
        """Values of a column, as the database returned them, as a raw column."""
        family = self.rows.types[name].family
        if family is Family.STRING:
            levels = tuple(sorted({value for value in values if value is not None}))
            code = {level: k for k, level in enumerate(levels)}
            return Codes(np.array([-1 if value is None else code[value] for value in values], np.int32), levels)
        numbers = np.asarray(values, np.float64)
        if family is Family.BOOLEAN:
            return booleans(np.where(np.isnan(numbers), -1, numbers).astype(np.int8))
        unit = "D" if family is Family.DATE else None
        return Numbers.of(numbers, name, unit=unit, is_whole=family is Family.INTEGER)

    def _read(self, dropped: set[str]) -> None:
        if self.n_rows:
            return
        names = [name for name in self.columns if name not in dropped]
        self._read_target()
        names = names if self.is_classification else [*names, self.target]
        self._summarise(names)
        numeric = [n for n in names if self.rows.types[n].family in (Family.NUMBER, Family.INTEGER, Family.DATE)]
        others = [name for name in names if name not in numeric]
        distinct = self._distinct_in_first_rows([*numeric, *others]) if self.n_rows > MAX_VALUES else {}
        narrow = [name for name in numeric if distinct.get(name, 0) <= MAX_VALUES]
        counted = [name for name in others if not self._is_identifier_in(name, distinct.get(name, 0), _FIRST_ROWS)]
        self._count([*narrow, *counted])

    def _read_target(self) -> None:
        """Read the classes with their numbers of rows; the rows without a label are counted to be reported."""
        source = self.rows.source()
        y = self.rows.value(source, self.target)
        labels = source.select(y=y)
        first = self.run(labels.filter(labels.y.notnull()).limit(1))
        n_given = int(self.run(source.aggregate(n=source.count()))[0][0])
        if not n_given:
            raise ValueError("Found array with 0 sample(s): the table has no rows")
        if not first:
            raise ValueError(f"no row has a label in the target column {self.target!r}")
        self._check_weights()
        label = self._read_labels(self.rows.labels_of(self.target, [first[0][0]]), self.target)
        table = self.table([])
        if label.target.classes is None:
            weight = table.w.sum() if self.weight is not None else table.count()
            self.label, found = label, self.run(table.aggregate(n=table.count(), s=weight))[0]
            self.n_rows, self.class_rows, self.class_weights = found[0], np.array([found[0]]), np.array([float(found[1])])
        else:
            weight = {"s": table.w.sum()} if self.weight is not None else {}
            groups = table.group_by("y").aggregate(n=table.count(), **weight)
            check_group_sizes(self, groups)
            self._read_classes(self.run(groups.limit(_MAX_CLASSES + 1)))
        if self.n_rows < n_given and self.weight is None:
            warn_of_unlabelled(n_given - self.n_rows, self.target)

    def _read_classes(self, counted: list[tuple]) -> None:
        if len(counted) > _MAX_CLASSES:
            raise ValueError(f"the target {self.target!r} has more than {_MAX_CLASSES:,} classes; group them in the query")
        counted = sorted(counted, key=lambda row: str(row[0]))
        found = self._read_labels(self.rows.labels_of(self.target, [row[0] for row in counted]), self.target)
        labels = without_words_for_none(found)
        self.label = labels
        self.codes = {row[0]: int(code) for row, code in zip(counted, labels.values, strict=True)}
        known = labels.values >= 0
        rows = np.array([row[1] for row in counted], np.int64)[known]
        self.class_rows = np.bincount(labels.values[known], rows, len(labels.target.classes or ())).astype(np.int64)
        weight = np.array([row[-1] for row in counted], np.float64)[known]
        self.class_weights = np.bincount(labels.values[known], weight, len(self.class_rows)).astype(np.float64)
        self.n_rows = int(rows.sum())
        if not self.n_rows:
            raise ValueError(f"no row has a label in the target column {self.target!r}")

    def _check_weights(self) -> None:
        if self.weight is None:
            return
        source = self.rows.source()
        if self.rows.types[self.weight].family not in (Family.NUMBER, Family.INTEGER):
            raise ValueError(f"sample_weight={self.weight!r} is not numeric; give the name of a column of numbers")
        w = self.rows.value(source, self.weight)
        low, high, known, n = self.run(source.aggregate(low=w.min(), high=w.max(), known=w.count(), n=source.count()))[0]
        if known < n:
            raise ValueError(f"sample_weight={self.weight!r} has missing values; weights are finite and not negative")
        if n and (low < 0 or not np.isfinite(high)):
            raise ValueError(
                f"sample_weight={self.weight!r} holds {low if low < 0 else high}; weights are finite and not negative"
            )
        if n and not high:
            raise ValueError(
                "Sample weights are all zero: no row counts; sample_weight must contain at least one non-zero number"
            )

    def _summarise(self, names: Sequence[str]) -> None:
        """Count the known values of each column; refuse infinite numbers and integers beyond doubles."""
        for first in range(0, len(names), _COLUMNS_PER_SUMMARY):
            batch = names[first : first + _COLUMNS_PER_SUMMARY]
            table = self.table(batch)
            sums = {}
            for j, name in enumerate(batch):
                column = table[f"c{j}"]
                sums[f"n{j}"] = column.count()
                if self._is_number(name):
                    sums |= {f"l{j}": column.min(), f"h{j}": column.max()}
            names_of, values = list(sums), self.run(table.aggregate(**sums))[0]
            found = dict(zip(names_of, values, strict=True))
            for j, name in enumerate(batch):
                low, high = (_number(found.get(f"{end}{j}")) for end in "lh")
                self.summaries[name] = ColumnSummary(int(found[f"n{j}"]), low, high)
                self._check_range(name, low, high)

    def _check_range(self, name: str, low: float, high: float) -> None:
        if np.isinf([low, high]).any():
            raise ValueError(
                f"column {name!r} holds {low if np.isinf(low) else high}, which is infinity; replace it in the query by a "
                "large number, or by NULL if it is missing"
            )
        largest = max(abs(low), abs(high))
        if largest > _MAX_EXACT and self.rows.types[name].family is Family.INTEGER:
            raise ValueError(
                f"column {name!r} holds {largest:.0f}, an integer that no double represents exactly; cast it to a string in "
                "the query if it is a code, or divide it"
            )

    def _is_number(self, name: str) -> bool:
        return self.rows.types[name].family is not Family.STRING

    def _distinct_in_first_rows(self, names: Sequence[str]) -> dict[str, int]:
        found = {}
        for first in range(0, len(names), _COLUMNS_PER_SUMMARY):
            batch = names[first : first + _COLUMNS_PER_SUMMARY]
            head = self.table(batch).limit(_FIRST_ROWS)
            values = self.run(head.aggregate(**{f"d{j}": head[f"c{j}"].nunique() for j in range(len(batch))}))[0]
            found |= {name: int(n) for name, n in zip(batch, values, strict=True)}
        return found

    def _count(self, names: Sequence[str]) -> None:
        """Count the values of columns; those of too many distinct numbers stay uncounted."""
        if not names:
            return
        try:
            found = self.grouped(names)
        except TooManyCells:
            if len(names) > 1:
                middle = len(names) // 2
                self._count(names[:middle])
                self._count(names[middle:])
                return
            if not self._is_number(names[0]):
                raise ValueError(
                    f"column {names[0]!r} has too many distinct strings to count; if it only identifies rows, leave it out "
                    f"with schema={{{names[0]!r}: 'drop'}}"
                ) from None
            return
        for name, cells in found.items():
            n_distinct = len(set(cells.value)) if not self._is_number(name) else len(np.unique(cells.value))
            if n_distinct <= (MAX_VALUES if self._is_number(name) else MAX_LEVELS):
                self.cells[name] = cells

    # --- inference ----------------------------------------------------------------------------------------------------

    def _profile(self, name: str, declared: Any) -> ColumnProfile:
        if declared == "drop":
            return ColumnProfile(name, Kind.NUMERIC, declared="drop")
        family, is_counted = self.rows.types[name].family, name in self.cells
        if declared is not None:
            return self._declared_profile(name, declared, family)
        if family is Family.STRING:
            if not is_counted or self._only_identifies(name):
                return self._identifier(name)
            return ColumnProfile(
                name, Kind.NOMINAL, frozenset(level for level in set(self.cells[name].value) if level is not None)
            )
        if family is Family.BOOLEAN:
            return ColumnProfile(name, Kind.NOMINAL, (False, True))
        unit = "D" if family is Family.DATE else None
        return ColumnProfile(name, Kind.NUMERIC, unit=unit, number_profile=self._number_profile(name))

    def _declared_profile(self, name: str, declared: Any, family: Family) -> ColumnProfile:
        is_parsed = isinstance(declared, Text) or declared in (
            "numeric",
            "text",
            "date",
            "dmy",
            "mdy",
            Kind.NUMERIC,
            Kind.TEXT,
        )
        if family is Family.STRING and is_parsed:
            raise ValueError(
                f"column {name!r} holds strings, which are not parsed in a database: cast it in the query instead of "
                f"declaring it {declared if isinstance(declared, str) else 'text'}, or use bt.scan of an export"
            )
        if name not in self.cells:
            if declared in ("keep", "numeric", Kind.NUMERIC):
                return ColumnProfile(name, Kind.NUMERIC, unit="D" if family is Family.DATE else None, declared="keep")
            raise ValueError(
                f"column {name!r} has more than {MAX_VALUES:,} distinct values, too many to be declared {declared!r}"
            )
        raw = self.raw(name, self.cells[name].value)
        return TableProfile.of(RawFrame({name: raw}, len(raw)), {name: declared}).columns[0]

    def _number_profile(self, name: str) -> NumberProfile | None:
        """Profile of whole numbers that all differ, which may only number the rows; None for all others."""
        summary = self.summaries[name]
        if self.rows.types[name].family is not Family.INTEGER or summary.known < self.n_rows:
            return None
        if name in self.cells:
            numbers = np.unique(self.cells[name].value)
            return NumberProfile.of(name, numbers) if len(numbers) == self.n_rows else None
        table = self.table([name])
        if int(self.run(table.aggregate(n=table.c0.nunique()))[0][0]) < self.n_rows:
            return None
        is_consecutive = summary.high - summary.low == self.n_rows - 1
        ends = np.array([summary.low, summary.low + 1 if is_consecutive else summary.high])
        return msgspec.structs.replace(NumberProfile.of(name, ends), n_known=self.n_rows, last=summary.high)

    def _only_identifies(self, name: str) -> bool:
        cells = self.cells[name]
        return self._is_identifier_in(name, len(set(cells.value) - {None}), self.summaries[name].known)

    def _is_identifier_in(self, name: str, n_distinct: int, n_rows: int) -> bool:
        if self.rows.types[name].family is not Family.STRING:
            return False
        known = min(n_rows, self.summaries[name].known)
        is_nearly = known >= _MIN_NEARLY_DISTINCT and n_distinct >= _MIN_PROPORTION * known
        return is_nearly or n_distinct == known >= _MIN_DISTINCT

    def _identifier(self, name: str) -> ColumnProfile:
        """Profile of strings of which nearly all differ, from which inference takes its note."""
        return ColumnProfile(name, Kind.NOMINAL, identifies="nearly all its strings differ")


def _number(value: Any) -> float:
    return np.nan if value is None else float(value)
