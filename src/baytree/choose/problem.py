"""A table with its target, ready to be cut: rows for folds, columns for wrappers, in the frame's own type."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import narwhals as nw
import numpy as np

from baytree.table import encode, labels
from baytree.table.frames import Numbers, RawFrame, Strings, read, read_column
from baytree.table.infer import Census
from baytree.table.schema import Column, Kind, Schema
from baytree.table.table import Table

MOST_NUMBERED_CLASSES = 20  # more different whole numbers than this are an amount, not names


@dataclass(frozen=True)
class Problem:
    """The columns to learn from, and what is to be predicted, known for every row."""

    X: Any  # in the type in which it was given, without the target
    y: Any
    label: labels.Labels
    declared: Mapping[str, Any] | Schema | None = None

    @classmethod
    def of(cls, X: Any, y: Any, task: str | None = None, declared: Any = None) -> Problem:
        """The problem of a frame and the name of its target, or of columns and labels that come apart.

        The task is "classification" or "regression"; where it is not said, numbers with fractions and more than
        20 different whole numbers are a regression, everything else is classes.
        """
        X, y, name = _apart(X, y)
        _refuse_empty(X)
        task = task or task_of(y, name)
        label = (labels.read_classes if task == "classification" else labels.read_numbers)(y, name)
        if len(label.values) != _length(X):
            raise ValueError(f"X has {_length(X)} rows, but y has {len(label.values)}: inconsistent numbers of samples")
        return _labelled(cls(X, y, label, declared))

    @property
    def is_classification(self) -> bool:
        """Whether classes are to be predicted."""
        return self.label.target.classes is not None

    @property
    def name(self) -> str:
        """The name of the target."""
        return self.label.target.name

    @property
    def classes(self) -> np.ndarray:
        """The classes as users see them."""
        return labels.classes_array(self.label.target)

    def __len__(self) -> int:
        return len(self.label.values)

    @cached_property
    def schema(self) -> Schema:
        """The kinds and levels of the columns, and the target; vocabularies of text are not counted here."""
        schema = _schema_of(self.frame, self.declared)
        return msgspec.structs.replace(schema, target=self.label.target)

    @cached_property
    def frame(self) -> RawFrame:
        """The raw columns."""
        return read(self.X)

    @cached_property
    def table(self) -> Table:
        """All rows, encoded."""
        schema, values = encode.learn(self.frame, self.schema)
        return Table(schema, values, np.ones(len(self)), self.label.values, True)

    @cached_property
    def missing(self) -> dict[str, float]:
        """The share of rows where each column is missing."""
        return {name: _missing(self.frame.columns[name]) for name in self.schema.names if name in self.frame.columns}

    @cached_property
    def is_finite(self) -> bool:
        """Whether no number in the columns is infinite."""
        if self.frame.matrix is not None:
            return True if not isinstance(self.frame.matrix, np.ndarray) else not np.isinf(self.frame.matrix).any()
        numbers = [raw.values for raw in self.frame.columns.values() if isinstance(raw, Numbers)]
        return not any(np.isinf(values).any() for values in numbers)

    @cached_property
    def kinds(self) -> dict[str, Any] | Schema:
        """The kinds of the columns that hold strings, as all rows together decide them: no fold may decide otherwise."""
        if isinstance(self.declared, Schema):
            return self.declared
        free = {name for name, raw in self.frame.columns.items() if isinstance(raw, Strings)}
        kinds = {c.name: c.text if c.kind is Kind.TEXT else c.kind.value for c in self.schema.columns if c.name in free}
        return {**kinds, **(self.declared or {})}

    def rows(self, index: np.ndarray) -> tuple[Any, Any]:
        """The columns and the labels of these rows."""
        return taken(self.X, index), taken(self.y, index)

    def select(self, columns: Any) -> Problem:
        """The problem with these columns only, by position."""
        return replace(self, X=selected(self.X, columns))

    def without_identifiers(self) -> Problem:
        """The problem without the columns that only identify rows."""
        if not self.schema.left_out:
            return self
        gone = set(self.schema.left_out)
        return self.select([j for j, name in enumerate(self.schema.inputs) if name not in gone])


def task_of(y: Any, name: str = "y") -> str:
    """Whether labels are classes or numbers: "classification" or "regression"."""
    raw = read_column(y, name)
    if not isinstance(raw, Numbers) or raw.unit is not None:
        return "classification"
    known = np.unique(raw.values[~np.isnan(raw.values)])
    is_whole = bool((known == np.floor(known)).all())
    return "classification" if is_whole and len(known) <= MOST_NUMBERED_CLASSES else "regression"


def taken(rows: Any, index: np.ndarray) -> Any:
    """These rows of a frame, an array, a list or a mapping of columns, in the same type."""
    from sklearn.utils import _safe_indexing

    if isinstance(rows, Mapping):
        return {name: taken(values, index) for name, values in rows.items()}
    return _safe_indexing(rows, index)


def selected(X: Any, columns: Any) -> Any:
    """These columns of a frame, an array or a mapping of columns, by position, in the same type."""
    from sklearn.utils import _safe_indexing

    if isinstance(X, Mapping):
        names = list(X)
        return {names[j]: X[names[j]] for j in columns}
    return _safe_indexing(X if hasattr(X, "shape") else np.asarray(X), list(columns), axis=1)


def without(X: Any, name: str) -> Any:
    """The frame without the column of that name."""
    if isinstance(X, Mapping):
        return {other: values for other, values in X.items() if other != name}
    if hasattr(X, "iloc"):
        return X.loc[:, [str(other) != name for other in X.columns]]
    return nw.from_native(X, eager_only=True).drop(name).to_native()


def _apart(X: Any, y: Any) -> tuple[Any, Any, str]:
    if not isinstance(y, str):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: name the target column, or give y")
        y = y if hasattr(y, "__len__") else np.asarray(y)
        return _indexable(X), y, str(getattr(y, "name", None) or "y")
    names = list(X) if isinstance(X, Mapping) else list(getattr(X, "column_names", getattr(X, "columns", ())))
    if list(map(str, names)) == [y]:
        raise ValueError(f"there is no column besides the target {y!r}: nothing to learn from")
    if y not in map(str, names):
        raise ValueError(f"no target column {y!r}; the columns are {', '.join(map(repr, names)) or 'without names'}")
    original = next(name for name in names if str(name) == y)
    return without(X, y), X[original], y


def _indexable(X: Any) -> Any:
    if hasattr(X, "tocsr"):  # before mappings: one sparse format is a mapping of places
        return X.tocsr()
    return X if isinstance(X, Mapping) or hasattr(X, "columns") else np.asarray(X)


def _refuse_empty(X: Any) -> None:
    n_rows, n_columns = _length(X), len(X) if isinstance(X, Mapping) else np.shape(X)[1] if len(np.shape(X)) == 2 else 1
    for n, what in ((n_rows, "sample(s)"), (n_columns, "feature(s)")):
        if n == 0:
            raise ValueError(f"Found array with 0 {what} (shape=({n_rows}, {n_columns})) while a minimum of 1 is required.")


def _labelled(problem: Problem) -> Problem:
    """Without the rows that have no label."""
    missing = problem.label.missing
    if not missing.any():
        return problem
    if missing.all():
        raise ValueError(f"no row has a label in the target column {problem.name!r}")
    message = f"{int(missing.sum())} rows have no value in the target column {problem.name!r} and are left out"
    warnings.warn(message, UserWarning, stacklevel=4)
    X, y = problem.rows(np.flatnonzero(~missing))
    return replace(problem, X=X, y=y, label=labels.take(problem.label, ~missing))


def _missing(raw: Any) -> float:
    if isinstance(raw, Numbers):
        return float(np.isnan(raw.values).mean())
    codes = raw.factorise() if isinstance(raw, Strings) else raw
    return float((np.asarray(codes.codes) < 0).mean())


def _length(X: Any) -> int:
    if isinstance(X, Mapping):
        return len(next(iter(X.values()), ()))
    if not hasattr(X, "__len__") or getattr(X, "shape", None) == ():
        raise ValueError(f"a table has rows and columns, but X is {X!r}: give a frame, a matrix or a dict of columns")
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _schema_of(frame: RawFrame, declared: Any) -> Schema:
    if isinstance(declared, Schema):
        return declared
    if frame.matrix is not None and not isinstance(frame.matrix, np.ndarray):
        names = tuple(f"x{j}" for j in range(frame.matrix.shape[1]))
        return Schema(tuple(Column(name, Kind.NUMERIC) for name in names), None, names, False)
    return Census.of(frame, declared).schema(frame.is_named)
