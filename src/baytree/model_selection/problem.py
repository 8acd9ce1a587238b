"""Supervised problem: a table with its target, encoded once, from which rows and columns can be selected.

Also decides whether a target is a classification or a regression target (`task_of`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from baytree import param_validation
from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree.data.encoding import encode, labels
from baytree.data.encoding import read_target as target_reading
from baytree.data.encoding.read_target import read_weights, weight_column
from baytree.data.encoding.sample import counted_rows_mask, schema_of, with_target
from baytree.data.encoding.table import Table, is_missing
from baytree.data.frames import read, read_column, without
from baytree.data.frames.numbers import Numbers
from baytree.data.frames.raw import RawFrame, Strings
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.notes import Note
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.engine.dispatch import remote_source
from baytree.folds.row_structure import NO_STRUCTURE, GapLike, GroupsLike, RowStructure, TimeLike, read_structure
from baytree.folds.splitters import CV, Folds, names_rows, read_cv
from baytree.folds.structured_folds import read_folds
from baytree.model_selection.frame_rows import indexable, length, refuse_empty, selected, take_rows


@dataclass(frozen=True)
class SupervisedProblem:
    """Input columns and target labels; every row has a known label and a nonzero weight."""

    X: FrameLike  # in its original type, without the target
    y: TargetLike
    label: labels.Labels
    weight: np.ndarray  # [n_rows], all nonzero
    declared: SchemaLike = None
    is_unweighted: bool = True
    row_mask: np.ndarray | None = None  # bool [n_given]: which of the given rows are used; None if all are
    task: str | None = None  # "classification" or "regression" if the user said so
    structure: RowStructure = NO_STRUCTURE  # groups and times of the rows

    @classmethod
    def of(
        cls,
        X: FrameLike,
        y: TargetLike,
        task: str | None = None,
        declared: SchemaLike = None,
        sample_weight: WeightsLike = None,
        groups: GroupsLike = None,
        time: TimeLike = None,
        gap: GapLike = None,
        test_size: float | None = None,
    ) -> SupervisedProblem:
        """Problem of a frame and the name of its target, or of columns and separate labels.

        The task is "classification" or "regression". By default, numbers with fractions and whole numbers with more than
        20 different values are a regression target, everything else is classes. Rows without a label or of weight 0 are
        left out; `sample_weight` may be the name of a column. `groups` (the name of a column, or an array) and `time` (the
        name of a column) are what folds must respect; these columns are no features.
        """
        source = remote_source(X)
        X, y, name = _split_target(X if source is None else source.read_all(), y)
        X, sample_weight = _split_weights(X, sample_weight)
        refuse_empty(X)
        param_validation.check_schema_parameter(declared)
        label = _read_labels(y, name, task or task_of(y, name), declared)
        if len(label.values) != length(X):
            raise ValueError(f"X has {length(X)} rows, but y has {len(label.values)}: inconsistent numbers of samples")
        weight, is_unweighted = read_weights(sample_weight, len(label.values))
        given = {"groups": groups, "time": time, "gap": gap, "test_size": test_size}
        structure = NO_STRUCTURE
        if any(each is not None for each in given.values()):
            structure = read_structure(read(X), **given, declared=declared)
        X, declared = _without_structure(X, declared, structure)
        return _without_unused_rows(cls(X, y, label, weight, declared, is_unweighted, task=task, structure=structure))

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.label.target.classes is not None

    @property
    def name(self) -> str:
        """Name of the target."""
        return self.label.target.name

    @property
    def classes(self) -> np.ndarray:
        """Classes as users see them."""
        return labels.classes_array(self.label.target)

    def __len__(self) -> int:
        return len(self.label.values)

    @cached_property
    def schema(self) -> Schema:
        """Kinds and levels of the columns, and the target; text vocabularies are not collected."""
        schema = schema_of(self.frame, self.declared)
        return with_target(schema, self.label.target, len(self.label.values), *task_notes(self.y, self.name, self.task))

    @cached_property
    def frame(self) -> RawFrame:
        """Raw columns."""
        return msgspec.structs.replace(read(self.X), target=self.name)

    @cached_property
    def table(self) -> Table:
        """All rows, encoded."""
        schema, values = encode.fit_encode(self.frame, self.schema)
        return Table(schema, values, self.weight, self.label.values, self.is_unweighted)

    @cached_property
    def missing(self) -> dict[str, float]:
        """Proportion of missing values of each column, including missing-value tokens such as `NA`."""
        return {
            column.name: float(is_missing(values).mean())
            for column, values in zip(self.table.schema.columns, self.table.values, strict=True)
        }

    @cached_property
    def is_finite(self) -> bool:
        """Whether the columns contain no infinite value."""
        if self.frame.matrix is not None:
            return True if not isinstance(self.frame.matrix, np.ndarray) else not np.isinf(self.frame.matrix).any()
        numbers = [raw.values for raw in self.frame.columns.values() if isinstance(raw, Numbers)]
        return not any(np.isinf(values).any() for values in numbers)

    @cached_property
    def kinds(self) -> dict[str, Any] | Schema:
        """Kinds of the string columns, inferred from all rows, so that no fold infers them differently."""
        if isinstance(self.declared, Schema):
            return self.declared
        inferred = {name for name, raw in self.frame.columns.items() if isinstance(raw, Strings)}
        kinds = {c.name: _kind_declaration(c) for c in self.schema.columns if c.name in inferred}
        declared = {name: kind for name, kind in (self.declared or {}).items() if name in self.frame.columns}
        order = labels.declared_order(self.declared, self.name)
        return {**kinds, **declared, **({} if order is None else {labels.name_apart(self.y, self.frame.columns): order})}

    def rows(self, index: np.ndarray) -> tuple[Any, Any]:
        """Columns and labels of these rows."""
        return take_rows(self.X, index), take_rows(self.y, index)

    def weights(self, index: np.ndarray) -> np.ndarray | None:
        """Weights of these rows; None if every row counts once."""
        return None if self.is_unweighted else self.weight[index]

    def folds(self, cv: CV = 10, seed: int | None = 0) -> Folds:
        """Folds for `cv` that respect the groups and times of the rows.

        Row numbers in `cv` refer to the given rows; rows that are not used are dropped from the folds.
        """
        if self.row_mask is None or not names_rows(cv):
            return read_folds(cv, self.label.values, self.is_classification, self.structure, seed)
        given = read_cv(cv, len(self.row_mask), self.label.values, self.is_classification)
        pairs = [(self._places(fold.train), self._places(fold.test)) for fold in given.parts]
        return read_folds(pairs, self.label.values, self.is_classification, self.structure)

    def _places(self, rows: np.ndarray) -> np.ndarray:
        """Positions of given rows among the used rows, without those that are not used."""
        is_used = np.ones(len(self), bool) if self.row_mask is None else self.row_mask
        position = np.where(is_used, np.cumsum(is_used) - 1, -1)[rows]
        return position[position >= 0]

    def select(self, columns: Any) -> SupervisedProblem:
        """Problem with these columns only, by position."""
        return replace(self, X=selected(self.X, columns))

    def without_identifiers(self) -> SupervisedProblem:
        """Problem without the columns that only identify rows."""
        if not self.schema.left_out:
            return self
        identifiers = set(self.schema.left_out)
        problem = self.select([j for j, name in enumerate(self.schema.inputs) if name not in identifiers])
        if (
            self.schema.is_named and self.frame.matrix is None
        ):  # columns without names get new positions: they are read again
            columns = {name: raw for name, raw in self.frame.columns.items() if name not in identifiers}
            problem.__dict__["frame"] = msgspec.structs.replace(self.frame, columns=columns)
            problem.__dict__["schema"] = self.schema.without_left_out()
        return problem


def _kind_declaration(column: Column) -> Any:
    """Declaration that fixes the kind of a column for all folds, without its levels."""
    return column.text if column.kind is Kind.TEXT else msgspec.structs.replace(column, levels=(), declared=False)


def _split_target(X: FrameLike, y: TargetLike) -> tuple[Any, Any, str]:
    if not isinstance(y, str):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: name the target column, or give y")
        y = y if hasattr(y, "__len__") else np.asarray(y)
        X = indexable(X)
        return X, y, labels.name_apart(y, list(map(str, getattr(X, "columns", X if isinstance(X, Mapping) else ()))))
    names = list(X) if isinstance(X, Mapping) else list(getattr(X, "column_names", getattr(X, "columns", ())))
    if list(map(str, names)) == [y]:
        raise ValueError(f"there is no column besides the target {y!r}: nothing to learn from")
    if y not in map(str, names):
        raise ValueError(f"no target column {y!r}; the columns are {', '.join(map(repr, names)) or 'without names'}")
    original = next(name for name in names if str(name) == y)
    return without(X, y), X[original], y


def _split_weights(X: FrameLike, sample_weight: WeightsLike) -> tuple[Any, Any]:
    """Input columns and weights, where the weights may be the name of a column."""
    if not isinstance(sample_weight, str):
        return X, sample_weight
    weights = weight_column(read(X), sample_weight)
    return without(X, sample_weight), weights


def _without_structure(X: FrameLike, declared: SchemaLike, structure: RowStructure) -> tuple[Any, SchemaLike]:
    """Input columns and declarations without the columns that hold groups and times."""
    if not structure.columns:
        return X, declared
    for name in structure.columns:
        X = without(X, name)
    refuse_empty(X)
    return X, structure.without_columns(declared)


def _read_labels(y: TargetLike, name: str, task: str, declared: SchemaLike) -> labels.Labels:
    if task != "classification":
        return target_reading.read_numbers(y, name)
    return labels.in_declared_order(labels.without_words_for_none(target_reading.read_classes(y, name)), declared)


def _without_unused_rows(problem: SupervisedProblem) -> SupervisedProblem:
    """Problem without the rows that have no label or weight 0."""
    keep = counted_rows_mask(problem.label, problem.weight)
    if keep is None:
        return problem
    X, y = problem.rows(np.flatnonzero(keep))
    weight = problem.weight[keep]
    is_unweighted = bool((weight == 1).all())
    label = labels.take(problem.label, keep)
    kept = {"label": label, "weight": weight, "is_unweighted": is_unweighted, "structure": problem.structure.take(keep)}
    return replace(problem, X=X, y=y, **kept, row_mask=keep)


MAX_NUMBERED_CLASSES = 20  # more different whole numbers than this are amounts, not class codes


def task_notes(y: TargetLike, name: str, task: str | None) -> tuple[Note, ...]:
    """Note on a numeric target: whether it is treated as a number or as classes, and how to change that."""
    raw = target_reading.as_numbers(read_column(y, name), name)
    if task is not None or not isinstance(raw, Numbers) or raw.unit is not None:
        return ()
    n = len(np.unique(raw.values[~np.isnan(raw.values)]))
    if task_of(y, name) == "regression":
        return (Note(name, f"{n:,} different numbers: a number to predict", 0, "task", "classification"),)
    return (Note(name, f"{n:,} different whole numbers are taken for classes", 0, "task", "regression"),) if n > 2 else ()


def task_of(y: TargetLike, name: str = "y") -> str:
    """Whether labels are classes or numbers: "classification" or "regression"."""
    raw = target_reading.as_numbers(read_column(y, name), name)
    if not isinstance(raw, Numbers) or raw.unit is not None:
        return "classification"
    known = np.unique(raw.values[~np.isnan(raw.values)])
    if not len(known):
        return "classification"
    is_whole = bool((known == np.floor(known)).all())
    return "classification" if is_whole and len(known) <= MAX_NUMBERED_CLASSES else "regression"
