"""Model files: one readable JSON document with a closed schema and a digest; no code, no paths, no pickles.

A file begins with its format version and the SHA-256 of all that follows, so any change of a single bit is refused. What
comes next is the estimator's name and parameters, the schema, the model and, for additive models, the statistics: a loaded
model predicts bit for bit as before, and can go on learning, merge and forget. docs/model-files.md describes every field.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import stat
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from baytree.predictor import Predictor
from baytree.table.schema import Column, Kind, Level, Schema, Text

FORMAT = 1
_HEAD = re.compile(rb'\{"baytree": (\d{1,9}), "sha256": "([0-9a-f]{64})", "document": ')
_TAIL = b"}\n"
_DTYPES = ("<f8", "<i8", "<i4", "<i2", "|i1", "|u1", "|b1")
_LISTED = 32  # arrays up to this size are written out as numbers, so that a person can read them
_MOST_DIMENSIONS = 4

# The records that a file may hold, by their tag. A family adds a line for its model and one for its statistics.
RECORDS = {
    "chaid": "tree.model.chaid_model:ChaidModel",
    "linear_discriminant": "linear.model:LinearDiscriminant",
    "logistic": "linear.model:LogisticModel",
    "combinations": "bayes.combinations:Combinations",
    "joint_table": "bayes.combinations:JointTable",
    "naive_bayes": "bayes.model:NaiveBayes",
    "naive_bayes_seen": "bayes.model:Seen",
    "quadratic_discriminant": "linear.model:QuadraticDiscriminant",
    "scatter": "linear.discriminant.scatter:Scatter",
    "tree": "tree.model.structure:Tree",
}

# Parameters that older files know by another name.
RENAMED = {"CARTClassifier": {"prune": "pruning"}, "CARTRegressor": {"prune": "pruning"}}


class ModelFileError(ValueError):
    """A model file that is damaged, foreign, or of a newer format."""


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model file holds."""

    estimator: str
    parameters: dict[str, msgspec.Raw]
    schema: Schema
    accepts_infinite: bool
    has_text_names: bool
    model: msgspec.Raw
    seen: msgspec.Raw  # null where the model keeps no statistics


def save(estimator: Any, path: str | os.PathLike) -> None:
    """Writes a fitted estimator to a file, atomically: a full disk or a kill leaves the old file as it was.

    >>> import baytree as bt, tempfile, os
    >>> model = bt.NaiveBayesClassifier().fit({"size": [1.0, 2.0, 9.0], "y": ["a", "a", "b"]}, "y")
    >>> path = os.path.join(tempfile.mkdtemp(), "m.baytree")
    >>> bt.save(model, path)
    >>> bt.load(path).predict({"size": [8.0]}).tolist()
    ['b']
    """
    _write(Path(path), dumps(estimator))


def load(path: str | os.PathLike) -> Any:
    """The estimator that was saved to a file. Loading never runs code from the file."""
    return loads(_read(Path(path)), str(path))


def dumps(estimator: Any) -> bytes:
    """The bytes of an estimator's model file."""
    if not hasattr(estimator, "model_"):
        raise ValueError(f"this {type(estimator).__name__} is not fitted yet; call fit before saving")
    _refuse_odd_labels(estimator.schema_)
    document = Document(
        type(estimator).__name__,
        {name: _encode(_plain(value, name)) for name, value in estimator.get_params(deep=False).items()},
        estimator.schema_,
        estimator._accepts_infinite,
        hasattr(estimator, "feature_names_in_"),
        _encode(estimator.model_),
        _encode(getattr(estimator, "seen_", None)),
    )
    body = msgspec.json.format(_encode(document), indent=1)
    return b'{"baytree": %d, "sha256": "%s", "document": ' % (FORMAT, _digest(FORMAT, body)) + body + _TAIL


def loads(content: bytes, name: str = "the model file") -> Any:
    """The estimator in the bytes of a model file."""
    document = _document(content, name)
    estimator = _estimator_named(document.estimator, name)
    with _told(name):
        parameters = {key: _restored(_decode(raw, Any)) for key, raw in document.parameters.items()}
        model, seen = _record(document.model), _record(document.seen)
        _check_records(document.schema, model, seen)
        loaded = estimator(**_renamed(parameters, document.estimator))
        loaded._restore(document.schema, model, seen, document.has_text_names)
    return loaded


def _renamed(parameters: dict[str, Any], estimator: str) -> dict[str, Any]:
    names = RENAMED.get(estimator, {})
    return {names.get(name, name): value for name, value in parameters.items()}


def _estimator_named(estimator: str, name: str) -> Any:
    """The public estimator of this name; a file cannot name anything else of the package."""
    import baytree
    from baytree.estimators.base import Estimator

    found = getattr(baytree, estimator) if estimator in baytree.__all__ else None
    if not (isinstance(found, type) and issubclass(found, Estimator)):
        raise ModelFileError(f"{name}: holds a {estimator!r}, which this version of baytree does not know")
    return found


def read_predictor(path: str | os.PathLike) -> Predictor:
    """What a model file needs to answer, without the estimator around it and without importing scikit-learn."""
    document = _document(_read(Path(path)), str(path))
    with _told(str(path)):
        model = _record(document.model)
        _check_records(document.schema, model, None)
        unseen = _decode(document.parameters.get("unseen", msgspec.Raw(b'"missing"')), str)
    return Predictor(document.schema, model, document.estimator, unseen, document.accepts_infinite)


# --- bytes to records -------------------------------------------------------------------------------------------------


def _document(content: bytes, name: str) -> Document:
    head = _HEAD.match(content)
    if head is None or not content.endswith(_TAIL):
        raise ModelFileError(f"{name}: is not a baytree model file, or its beginning or end is damaged")
    if int(head[1]) > FORMAT:
        raise ModelFileError(
            f"{name}: has format {int(head[1])}, but this version of baytree reads up to {FORMAT}; update baytree"
        )
    body = content[head.end() : -len(_TAIL)]
    if _digest(int(head[1]), body) != head[2]:
        raise ModelFileError(f"{name}: is damaged: its content does not match its digest; restore it from a copy")
    with _told(name):
        document = _decode(msgspec.Raw(body), Document)
        check_schema(document.schema)
    return document


def _digest(version: int, body: bytes) -> bytes:
    return hashlib.sha256(b"baytree %d " % version + body).hexdigest().encode()


@contextlib.contextmanager
def _told(name: str) -> Any:
    """Turns whatever a malformed document causes into one kind of error that names the file."""
    try:
        yield
    except ModelFileError:
        raise
    except (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{name}: is not a valid model file: {error}") from error


def _record(raw: msgspec.Raw) -> Any:
    if bytes(raw) == b"null":
        return None
    tag = _decode(raw, _Tagged).type
    if tag not in RECORDS:
        raise ModelFileError(f"holds a record {tag!r}, which this version of baytree does not know")
    module, _, name = RECORDS[tag].partition(":")
    return _decode(raw, getattr(import_module(f".{module}", __package__), name))


class _Tagged(msgspec.Struct):
    type: str


def _check_records(schema: Schema, model: Any, seen: Any) -> None:
    """Everything that an index or a shape in the file could break later is compared with the schema now."""
    if model is None:
        raise ValueError("the file holds no model")
    model.check(schema)
    if seen is not None:
        seen.check(schema)


def check_schema(schema: Schema) -> None:
    """Raises an error where a schema from a file could not have come from a table."""
    if len(set(schema.names)) < len(schema.columns) or not set(schema.names) <= set(schema.inputs):
        raise ValueError("the schema names a column twice, or one that was never given")
    for column in schema.columns:
        _check_levels(column.levels, f"column {column.name!r}")
        if column.kind is Kind.TEXT and not all(isinstance(word, str) for word in column.levels):
            raise ValueError(f"column {column.name!r} has words that are no strings")
        if column.unit is not None and column.unit not in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us"):
            raise ValueError(f"column {column.name!r} has the unit {column.unit!r}, which is none")
    if not schema.target.name:
        raise ValueError("the schema has no target")
    if schema.target.classes is not None:
        _check_levels(schema.target.classes, "the target")
        _check_class_type(schema.target.dtype, schema.target.classes)


def _check_levels(levels: tuple, place: str) -> None:
    if not all(isinstance(level, (str, int, float, bool)) for level in levels) or len(set(levels)) < len(levels):
        raise ValueError(f"the levels of {place} are not distinct strings, numbers or booleans")


def _check_class_type(dtype: str, classes: tuple) -> None:
    if not re.fullmatch(r"object|[<>|=]?(?:[iu][1248]|f[248]|b1|U\d{1,7})", dtype):
        raise ValueError(f"classes cannot have the type {dtype!r}")
    if "U" in dtype and int(dtype.rpartition("U")[2]) > max((len(str(label)) for label in classes), default=0):
        raise ValueError(f"classes of the type {dtype!r} would be wider than any class")
    if dtype != "object":
        np.array(classes, dtype=dtype)


def _decode(raw: msgspec.Raw, kind: Any) -> Any:
    return msgspec.json.decode(raw, type=kind, dec_hook=_array_from)


def _array_from(kind: type, value: Any) -> np.ndarray:
    if kind is not np.ndarray:
        raise TypeError(f"no record holds a {kind}")
    if not isinstance(value, dict) or value.keys() - {"values", "base64"} != {"dtype", "shape"} or len(value) != 3:
        raise ValueError("an array has a dtype, a shape, and values or base64")
    shape, dtype = value["shape"], value["dtype"]
    if dtype not in _DTYPES:
        raise ValueError(f"an array cannot have the dtype {dtype!r}")
    if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"an array cannot have the shape {shape!r}")
    return _filled(value, shape, np.dtype(dtype))


def _filled(value: dict, shape: list[int], dtype: np.dtype) -> np.ndarray:
    size = int(np.prod([int(n) for n in shape], dtype=object)) if shape else 1
    if "values" in value:
        numbers = value["values"]
        if not isinstance(numbers, list) or len(numbers) != size or not all(type(n) in (int, float, bool) for n in numbers):
            raise ValueError("the values of an array do not fit its shape")
        array = np.array(numbers, dtype=dtype)
    else:
        content = base64.b64decode(value["base64"], validate=True)
        if len(content) != size * dtype.itemsize:
            raise ValueError("the content of an array does not fit its shape")
        array = np.frombuffer(content, dtype)
        if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            raise ValueError("a boolean array holds something else")
    array = array.reshape(shape)
    array.flags.writeable = False
    return array


# --- records to bytes -------------------------------------------------------------------------------------------------


def _encode(value: Any) -> msgspec.Raw:
    try:
        return msgspec.Raw(msgspec.json.encode(value, enc_hook=_array_to))
    except UnicodeEncodeError as error:
        raise ValueError(f"{error.object[:40]!r} is not valid Unicode text and cannot be saved; correct that name") from None


def _array_to(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{value!r} of type {type(value).__name__} cannot be saved")
    array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    if array.dtype.str not in _DTYPES:
        raise TypeError(f"an array of dtype {value.dtype} cannot be saved")
    head = {"dtype": array.dtype.str, "shape": list(value.shape)}
    if array.size <= _LISTED and (array.dtype.kind != "f" or np.isfinite(array).all()):
        return {**head, "values": array.ravel().tolist()}
    return {**head, "base64": base64.b64encode(array.tobytes()).decode()}


def _refuse_odd_labels(schema: Schema) -> None:
    places = [(f"column {column.name!r}", column.levels) for column in schema.columns]
    places.append(("the target", schema.classes))
    for place, levels in places:
        for level in levels:
            if not isinstance(level, Level) or (isinstance(level, float) and not np.isfinite(level)):
                raise ValueError(
                    f"{place} has the level {level!r} of type {type(level).__name__}, which a model file cannot hold; "
                    "convert it to strings or numbers before fitting"
                )


# Parameters may be richer than JSON: what is, is written as an object with one key that says what it is.
_MARK = "$"


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return {_MARK + "array": [_plain(item, name) for item in value.tolist()]}
    if isinstance(value, float) and not np.isfinite(value):
        return {_MARK + "float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple) and not isinstance(value, msgspec.Struct):
        return {_MARK + "tuple": [_plain(item, name) for item in value]}
    if isinstance(value, list):
        return [_plain(item, name) for item in value]
    if isinstance(value, dict):
        return {_MARK + "dict": [[_plain(key, name), _plain(item, name)] for key, item in value.items()]}
    for kind, tag in ((Text, "text"), (Column, "column"), (Schema, "schema")):
        if isinstance(value, kind):
            return {_MARK + tag: value}
    raise ValueError(f"the parameter {name}={value!r} of type {type(value).__name__} cannot be saved")


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError("a parameter of several parts has one key that says what it is")
    ((tag, content),) = value.items()
    makers = {
        "$array": lambda: np.array([_restored(item) for item in content]),
        "$float": lambda: float(content),
        "$tuple": lambda: tuple(_restored(item) for item in content),
        "$dict": lambda: {_restored(key): _restored(item) for key, item in content},
        "$text": lambda: msgspec.convert(content, Text),
        "$column": lambda: msgspec.convert(content, Column),
        "$schema": lambda: msgspec.convert(content, Schema),
    }
    if tag not in makers:
        raise ValueError(f"a parameter cannot be a {tag!r}")
    return makers[tag]()


# --- files --------------------------------------------------------------------------------------------------------------


def _read(path: Path) -> bytes:
    with open(path, "rb", opener=_non_blocking) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ModelFileError(f"{path}: is not a regular file")
        return file.read()


def _non_blocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer must not hang the reader


def _write(path: Path, content: bytes) -> None:
    """A new file beside the old one, synced, then put in its place."""
    path = path.resolve()
    _sweep(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.saving")
    try:
        with open(draft, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    _sync_folder(path.parent)


def _sweep(path: Path) -> None:
    """Removes drafts that a killed process left behind."""
    for draft in path.parent.glob(f".{_literal(path.name)}.*.saving"):
        owner = draft.name.split(".")[-2]
        if owner.isdigit() and int(owner) != os.getpid() and not _is_alive(int(owner)):
            with contextlib.suppress(OSError):
                draft.unlink()


def _literal(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
