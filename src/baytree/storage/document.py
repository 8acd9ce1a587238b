"""Document of a model file: its fields, the envelope with format version and digest, and the checks of its schema.

Optional parts of a model are sections (`_SECTIONS`): a file omits those that its model has not. A later version may add a
section under the same format version; a reader refuses a section that it does not know, because it may change the answers.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Self

import msgspec
import numpy as np

from baytree.base.provenance import Provenance
from baytree.data.parsing.string_format import StringFormat
from baytree.data.schema.column import Column, Kind, Level, Text
from baytree.data.schema.notes import Note
from baytree.data.schema.schema import NO_TARGET, Schema, Target
from baytree.statistics.profile import Profile
from baytree.storage.files import ModelFileError, naming_file
from baytree.storage.records import check_strings, decode, encode
from baytree.uncertainty.decision import CostMatrix

FORMAT = 3  # version of the file format that is written; older versions are read

_HEAD = re.compile(rb'\{"baytree": (\d{1,9}), "sha256": "([0-9a-f]{64})", "document": ')

_TAIL = b"}\n"


class _Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The document as written; optional parts that are absent are omitted."""

    estimator: str
    parameters: dict[str, msgspec.Raw]
    schema: StoredSchema
    accepts_infinite: bool
    has_text_names: bool
    model: msgspec.Raw
    seen: msgspec.Raw
    profile: Profile | msgspec.UnsetType = msgspec.UNSET
    costs: CostMatrix | msgspec.UnsetType = msgspec.UNSET
    provenance: Provenance | msgspec.UnsetType = msgspec.UNSET


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Content of a model file."""

    estimator: str
    parameters: dict[str, msgspec.Raw]
    schema: Schema
    accepts_infinite: bool
    has_text_names: bool
    model: msgspec.Raw
    seen: msgspec.Raw  # null if the model keeps no statistics
    profile: Profile | None = None  # profile of the training rows
    costs: CostMatrix | None = None  # by which the model chooses a class
    provenance: Provenance | None = None  # how the model was validated


def write(document: Document) -> bytes:
    """Return the bytes of a file."""
    sections = {name: getattr(document, name) or msgspec.UNSET for name in _SECTIONS}
    optional: dict[str, Any] = {"schema": StoredSchema.of(document.schema), **sections}
    stored = _Stored(**msgspec.structs.asdict(document) | optional)
    body = msgspec.json.format(encode(stored), indent=1)
    return b'{"baytree": %d, "sha256": "%s", "document": ' % (FORMAT, _digest(FORMAT, body)) + body + _TAIL


def read(content: bytes, name: str) -> tuple[int, Document]:
    """Check the digest of a file; return its format version and its document."""
    head = _HEAD.match(content)
    if head is None or not content.endswith(_TAIL):
        raise ModelFileError(f"{name}: is not a baytree model file, or its beginning or end is damaged")
    version, body = int(head[1]), content[head.end() : -len(_TAIL)]
    if version > FORMAT:
        raise ModelFileError(
            f"{name}: has format {version}, but this version of baytree reads up to {FORMAT}; update baytree"
        )
    if _digest(version, body) != head[2]:
        raise ModelFileError(f"{name}: is damaged: its content does not match its digest; restore it from a copy")
    with naming_file(name):
        stored = _decoded(body)
        optional: dict[str, Any] = {"schema": stored.schema.schema()}
        optional |= {name: getattr(stored, name) or None for name in _SECTIONS}
        document = Document(**msgspec.structs.asdict(stored) | optional)
        check_schema(document.schema)
    return version, document


_SECTIONS = ("profile", "costs", "provenance")  # optional parts, omitted where a model has none


def _decoded(body: bytes) -> _Stored:
    try:
        return decode(msgspec.Raw(body), _Stored)
    except msgspec.ValidationError as error:
        unknown = re.fullmatch(r"Object contains unknown field `(.+)`", str(error))
        if unknown is None:
            raise
        raise ValueError(f"the section {unknown[1]!r} is unknown to this version of baytree; update baytree") from None


def digest(content: bytes) -> str:
    """Return the digest at the start of a file, 64 hexadecimal digits; empty if it is no model file."""
    head = _HEAD.match(content)
    return head[2].decode() if head else ""


def _digest(version: int, body: bytes) -> bytes:
    return hashlib.sha256(b"baytree %d " % version + body).hexdigest().encode()


class StoredColumn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column as written; its string format is omitted if it has none."""

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    declared: bool = False
    unit: str | None = None
    text: Text | None = None
    form: StringFormat | msgspec.UnsetType = msgspec.UNSET


class StoredSchema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A schema as written; empty notes and left-out numbers are omitted."""

    columns: tuple[StoredColumn, ...]
    target: Target = Target("")
    inputs: tuple[str, ...] = ()
    is_named: bool = True
    notes: tuple[Note, ...] | msgspec.UnsetType = msgspec.UNSET
    numbers_left_out: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(cls, schema: Schema) -> Self:
        """Convert a schema to its stored form."""
        fields = [msgspec.structs.asdict(column) for column in schema.columns]
        columns = tuple(StoredColumn(**each | {"form": each["form"] or msgspec.UNSET}) for each in fields)
        notes, left_out = schema.notes or msgspec.UNSET, schema.numbers_left_out or msgspec.UNSET
        return cls(columns, _narrowed(schema.target), schema.inputs, schema.is_named, notes, left_out)

    def schema(self) -> Schema:
        """Convert the stored form to a schema."""
        fields = [msgspec.structs.asdict(column) for column in self.columns]
        columns = tuple(Column(**each | {"form": each["form"] or None}) for each in fields)
        return Schema(columns, self.target, self.inputs, self.is_named, self.notes or (), self.numbers_left_out or ())


def _narrowed(target: Target) -> Target:
    """Reduce the width of a string dtype to the longest class: numpy makes strings of integers 21 characters wide."""
    if target.classes is None or "U" not in target.dtype:
        return target
    before, _, width = target.dtype.partition("U")
    return msgspec.structs.replace(target, dtype=f"{before}U{min(int(width), _width(target.classes))}")


def _width(classes: tuple) -> int:
    return max((len(str(label)) for label in classes), default=0)


def refuse_odd_labels(schema: Schema) -> None:
    """Raise ValueError if a level or class cannot be stored in JSON."""
    positions = [(f"column {column.name!r}", column.levels) for column in schema.columns]
    positions.append(("the target", schema.classes))
    for position, levels in positions:
        for level in levels:
            if not isinstance(level, Level) or (isinstance(level, float) and not np.isfinite(level)):
                raise ValueError(
                    f"{position} has the level {level!r} of type {type(level).__name__}, which a model file cannot store; "
                    "convert it to strings or numbers before fitting"
                )


def check_schema(schema: Schema) -> None:
    """Raise ValueError if a schema from a file is inconsistent."""
    sources = {column.source for column in schema.columns}
    if len(set(schema.names)) < len(schema.columns) or not sources <= set(schema.inputs):
        raise ValueError("the schema has a duplicate column, or one that is not among its inputs")
    if not set(schema.numbers_left_out) <= set(schema.inputs) - sources:
        raise ValueError("the schema leaves out one of its columns, or one that is not among its inputs")
    for column in schema.columns:
        _check_levels(column.levels, f"column {column.name!r}")
        if column.kind is Kind.TEXT and not all(isinstance(word, str) for word in column.levels):
            raise ValueError(f"column {column.name!r} has words that are not strings")
        if column.unit is not None and column.unit not in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "clock"):
            raise ValueError(f"column {column.name!r} has the unknown unit {column.unit!r}")
    if not schema.target.name and schema.target != NO_TARGET:
        raise ValueError("the schema has no target")
    if schema.target.classes is not None:
        _check_levels(schema.target.classes, "the target")
        _check_class_type(schema.target.dtype, schema.target.classes)


def _check_levels(levels: tuple, position: str) -> None:
    if not all(isinstance(level, (str, int, float, bool)) for level in levels) or len(set(levels)) < len(levels):
        raise ValueError(f"the levels of {position} are not distinct strings, numbers or booleans")


def _check_class_type(dtype: str, classes: tuple) -> None:
    if not re.fullmatch(r"object|[<>|=]?(?:[iu][1248]|f[248]|b1|U\d{1,7})", dtype):
        raise ValueError(f"classes cannot have the type {dtype!r}")
    if "U" in dtype and int(dtype.rpartition("U")[2]) > _width(classes):
        raise ValueError(f"classes of the type {dtype!r} would be wider than any class")
    if "U" in dtype:
        check_strings(len(classes), int(dtype.rpartition("U")[2]))
    if dtype != "object":
        np.array(classes, dtype=dtype)
