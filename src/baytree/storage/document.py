"""The document of a model file, and the frame around it: its format, and the digest of all that follows."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from baytree.statistics.profile import Profile
from baytree.storage.model_file_error import ModelFileError, naming
from baytree.storage.schemas import StoredSchema, check_schema
from baytree.storage.stored_arrays import decode, encode
from baytree.table.schema import Schema

FORMAT = 2
_HEAD = re.compile(rb'\{"baytree": (\d{1,9}), "sha256": "([0-9a-f]{64})", "document": ')
_TAIL = b"}\n"


class _Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The document as it is written: what it may lack is not there at all."""

    estimator: str
    parameters: dict[str, msgspec.Raw]
    schema: StoredSchema
    accepts_infinite: bool
    has_text_names: bool
    model: msgspec.Raw
    seen: msgspec.Raw
    profile: Profile | msgspec.UnsetType = msgspec.UNSET


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model file holds."""

    estimator: str
    parameters: dict[str, msgspec.Raw]
    schema: Schema
    accepts_infinite: bool
    has_text_names: bool
    model: msgspec.Raw
    seen: msgspec.Raw  # null where the model keeps no statistics
    profile: Profile | None = None  # what the rows looked like; files without it are as good


def write(document: Document) -> bytes:
    """The bytes of a file."""
    schema, profile = StoredSchema.of(document.schema), document.profile or msgspec.UNSET
    optional: dict[str, Any] = {"schema": schema, "profile": profile}
    stored = _Stored(**msgspec.structs.asdict(document) | optional)
    body = msgspec.json.format(encode(stored), indent=1)
    return b'{"baytree": %d, "sha256": "%s", "document": ' % (FORMAT, _digest(FORMAT, body)) + body + _TAIL


def read(content: bytes, name: str) -> tuple[int, Document]:
    """The format and the document of a file whose digest is right."""
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
    with naming(name):
        stored = decode(msgspec.Raw(body), _Stored)
        optional: dict[str, Any] = {"schema": stored.schema.schema(), "profile": stored.profile or None}
        document = Document(**msgspec.structs.asdict(stored) | optional)
        check_schema(document.schema)
    return version, document


def digest(content: bytes) -> str:
    """The digest that stands at the beginning of a file: 64 hexadecimal digits, none where the file is not ours."""
    head = _HEAD.match(content)
    return head[2].decode() if head else ""


def _digest(version: int, body: bytes) -> bytes:
    return hashlib.sha256(b"baytree %d " % version + body).hexdigest().encode()
