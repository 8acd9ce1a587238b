"""Model files: one readable JSON document with a closed schema and a digest; no code, no paths, no pickles.

A file begins with its format version and the SHA-256 of all that follows, so any change of a single bit is refused. What
comes next is the estimator's name and parameters, the schema, the model and, for additive models, the statistics: a loaded
model predicts bit for bit as before, and can go on learning, merge and forget. docs/model-files.md describes every field.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from baytree._registry import PUBLIC_MODULES, SKLEARN_MODULES
from baytree._typing import EstimatorLike
from baytree.base.predictor import Predictor
from baytree.file_io.atomic import write_file
from baytree.storage import document
from baytree.storage import files as model_files
from baytree.storage.document import Document, digest, refuse_odd_labels
from baytree.storage.files import ModelFileError, naming_file
from baytree.storage.lazy_estimator import loaded
from baytree.storage.records import decode, encode, plain, record, restored

if TYPE_CHECKING:
    from baytree.data.schema.schema import Schema
    from baytree.estimators.base import Estimator

__all__ = ["ModelFileError", "digest", "dumps", "load", "loads", "predictor_of", "read_predictor", "save"]

_DROP_IN = "sklearn."

_HOMES = PUBLIC_MODULES | {f"{_DROP_IN}{name}": home for name, home in SKLEARN_MODULES.items()}


def save(estimator: Estimator, path: str | os.PathLike) -> None:
    """Writes a fitted estimator to a file, atomically: a full disk or a kill leaves the old file as it was.

    Nothing is written that could not be loaded again.

    Parameters
    ----------
    estimator : Estimator
        A fitted estimator of this library.
    path : str or path-like
        The file to write; what was there is replaced.

    Examples
    --------
    >>> import baytree as bt, tempfile, os
    >>> model = bt.NaiveBayesClassifier().fit({"size": [1.0, 2.0, 9.0], "y": ["a", "a", "b"]}, "y")
    >>> path = os.path.join(tempfile.mkdtemp(), "m.baytree")
    >>> bt.save(model, path)
    >>> bt.load(path).predict({"size": [8.0]}).tolist()
    ['b']
    """
    content = dumps(estimator)
    loads(content, f"what would be saved of this {type(estimator).__name__}")
    write_file(path, content)


def load(path: str | os.PathLike) -> Any:
    """The estimator that was saved to a file. Loading never runs code from the file.

    Parameters
    ----------
    path : str or path-like
        A file that `save` has written, by this version or an earlier one.

    Returns
    -------
    Estimator
        It predicts bit for bit as the one that was saved. Answers alone do without scikit-learn, which is imported when
        anything else is asked of it.

    Examples
    --------
    >>> import baytree as bt, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "m.baytree")
    >>> bt.save(bt.ID3Classifier().fit({"wind": ["weak", "strong"], "play": ["yes", "no"]}, "play"), path)
    >>> print(bt.load(path))
    2 rows: no (no 1, yes 1)
    ├─ wind = strong: no (no 1)
    └─ wind = weak: yes (yes 1)
    """
    content, name = model_files.read(path), str(path)
    if "sklearn" in sys.modules:
        return loads(content, name)
    predictor = predictor_of(content, name)
    return loaded(predictor, partial(_estimator_named, predictor.name, name), partial(loads, content, name))


def dumps(estimator: EstimatorLike) -> bytes:
    """The bytes of an estimator's model file."""
    if not hasattr(estimator, "model_"):
        raise ValueError(f"this {type(estimator).__name__} is not fitted yet; call fit before saving")
    refuse_odd_labels(estimator.schema_)
    return document.write(
        Document(
            _stored_name(type(estimator)),
            {
                name: encode(plain(value, name))
                for name, value in estimator.get_params(deep=False).items()
                if _is_told(name, value)
            },
            estimator.schema_,
            estimator._accepts_infinite,
            hasattr(estimator, "feature_names_in_"),
            encode(estimator.model_),
            encode(getattr(estimator, "seen_", None)),
            estimator.profile_,
        )
    )


def _is_told(name: str, value: object) -> bool:
    """Whether a parameter is written: files of this format are older than some, and without them mean their defaults."""
    return name not in _LATER or value is not _LATER[name]


_LATER = {"profile": True, "averaging": None, "monotone": None, "first_split": None, "max_split_columns": 1}


def loads(content: bytes, name: str = "the model file") -> Any:
    """The estimator in the bytes of a model file."""
    from baytree.base.learner import FitResult  # answers alone do without what learns

    version, held = document.read(content, name)
    estimator = _estimator_named(held.estimator, name)
    with naming_file(name):
        parameters = {key: restored(decode(raw, Any)) for key, raw in held.parameters.items()}
        if version == 1:
            from baytree.storage import format1

            parameters = format1.parameters(held.estimator, parameters)
        model, seen = record(held.model, version), record(held.seen, version)
        _check_records(held, model, seen)
        made = estimator(**parameters)
        made._restore(held.schema, FitResult(model, seen, profile=held.profile), held.has_text_names)
    return made


def read_predictor(path: str | os.PathLike) -> Predictor:
    """What a model file needs to answer, without the estimator around it and without importing scikit-learn."""
    return predictor_of(model_files.read(path), str(path))


def predictor_of(content: bytes, name: str = "the model file") -> Predictor:
    """What the bytes of a model file need to answer."""
    version, held = document.read(content, name)
    _refuse_stranger(held.estimator, name)
    with naming_file(name):
        model = record(held.model, version)
        _check_records(held, model, None)
        unseen = decode(held.parameters.get("unseen", msgspec.Raw(b'"missing"')), str)
    return Predictor(held.schema, model, held.estimator, unseen, held.accepts_infinite, held.profile)


def _estimator_named(estimator: str, name: str) -> type[Estimator]:
    """The public estimator of this name; a file cannot name anything else of the library."""
    _refuse_stranger(estimator, name)
    return getattr(import_module(f"baytree.{_HOMES[estimator]}"), estimator.removeprefix(_DROP_IN))


def _refuse_stranger(estimator: str, name: str) -> None:
    if not _HOMES.get(estimator, "").startswith(("estimators.", "sklearn.")):
        raise ModelFileError(f"{name}: holds a {estimator!r}, which this version of baytree does not know")


def _stored_name(kind: type[Any]) -> str:
    """The name of an estimator in a file; drop-ins share their names with others."""
    return f"{_DROP_IN}{kind.__name__}" if kind.__module__.startswith("baytree.sklearn.") else kind.__name__


class _Checked(Protocol):
    def check(self, schema: Schema) -> None: ...


def _check_records(held: Document, model: _Checked | None, seen: _Checked | None) -> None:
    """Everything that an index or a shape in the file could break later is compared with the schema now."""
    if model is None:
        raise ValueError("the file holds no model")
    for part in (model, seen, held.profile):
        if part is not None:
            part.check(held.schema)
