"""Model files: save and load fitted estimators as one readable JSON document. No pickle, no code, no paths.

A file begins with its format version and the SHA-256 digest of all that follows, so a change of any bit is detected. Then
come the estimator's name and parameters, the schema, the model and, for mergeable models, the statistics: a loaded model
predicts bit for bit as before, and can learn more rows, merge and forget. Every field is described in docs/model-files.md.

`records` encodes arrays and parameters, `document` holds the document and its digest, `lazy_estimator` loads a model
without scikit-learn, and `format1` reads files of baytree 0.1.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

import msgspec

from baytree import param_validation
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
from baytree.uncertainty.decision import CostMatrix

if TYPE_CHECKING:
    from baytree.data.schema.schema import Schema
    from baytree.estimators.base import Estimator
    from baytree.estimators.prediction import Classifier, Regressor

__all__ = ["ModelFileError", "digest", "dumps", "load", "loads", "predictor_of", "read_predictor", "save"]

_DROP_IN = "sklearn."

_ESTIMATOR_MODULES = PUBLIC_MODULES | {f"{_DROP_IN}{name}": home for name, home in SKLEARN_MODULES.items()}


def save(estimator: Estimator, path: str | os.PathLike) -> None:
    """Write a fitted estimator to a file, atomically: after a full disk or a kill the old file is unchanged.

    The content is loaded once before it is written, so that a file that cannot be read is never written.

    Parameters
    ----------
    estimator : Estimator
        A fitted baytree estimator.
    path : str or path-like
        File to write; an existing file is replaced.

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
    loads(content, f"the model file of this {type(estimator).__name__}")
    write_file(path, content)


_AnyEstimator = TypeVar("_AnyEstimator", bound="Estimator")


@overload
def load(path: str | os.PathLike) -> Classifier | Regressor: ...
@overload
def load(path: str | os.PathLike, kind: type[_AnyEstimator]) -> _AnyEstimator: ...
def load(path: str | os.PathLike, kind: type[Estimator] | None = None) -> Any:
    """Load the estimator that was saved to a file. Never runs code from the file.

    Parameters
    ----------
    path : str or path-like
        A file written by `save`, by this version or an earlier one.
    kind : class, optional
        Class that the estimator must have, as in ``bt.load(path, bt.CARTClassifier)``; type checkers then know it.

    Returns
    -------
    Estimator
        Predicts bit for bit as the saved estimator. Predictions need no scikit-learn; it is imported at the first use of
        anything else.

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
        found = loads(content, name)
    else:
        predictor = predictor_of(content, name)
        found = loaded(predictor, partial(_estimator_named, predictor.name, name), partial(loads, content, name))
    if kind is not None and not isinstance(found, kind):
        raise ValueError(f"{name}: contains {found.__class__.__name__}, not {kind.__name__}; omit the class to load any")
    return found


def dumps(estimator: EstimatorLike) -> bytes:
    """Return the bytes of an estimator's model file."""
    if not hasattr(estimator, "model_"):
        raise ValueError(f"this {type(estimator).__name__} is not fitted yet; call fit before saving")
    refuse_odd_labels(estimator.schema_)
    return document.write(
        Document(
            _stored_name(type(estimator)),
            {name: encode(plain(value, name)) for name, value in estimator.get_params(deep=False).items()},
            estimator.schema_,
            estimator._accepts_infinite,
            hasattr(estimator, "feature_names_in_"),
            encode(estimator.model_),
            encode(getattr(estimator, "seen_", None)),
            estimator.profile_,
            estimator._predictor.costs,
            estimator._predictor.provenance,
        )
    )


def loads(content: bytes, name: str = "the model file") -> Any:
    """Load the estimator from the bytes of a model file."""
    from baytree.base.learner import FitResult  # deferred import: prediction alone does not need the learners

    version, stored = document.read(content, name)
    estimator = _estimator_named(stored.estimator, name)
    with naming_file(name):
        parameters = {key: restored(decode(raw, Any)) for key, raw in stored.parameters.items()}
        if version == 1:
            from baytree.storage import format1

            parameters = format1.parameters(stored.estimator, parameters)
        model, statistic = record(stored.model, version), record(stored.seen, version)
        _check_records(stored, model, statistic)
        fitted = estimator(**parameters)
        fitted._restore(stored.schema, FitResult(model, statistic, profile=stored.profile), stored.has_text_names)
        fitted._costs = _costs_of(version, stored)
        if stored.provenance is not None:
            fitted._record_provenance(stored.provenance)
    return fitted


def read_predictor(path: str | os.PathLike) -> Predictor:
    """Read the `Predictor` of a model file, without building the estimator and without importing scikit-learn."""
    return predictor_of(model_files.read(path), str(path))


def predictor_of(content: bytes, name: str = "the model file") -> Predictor:
    """Return the `Predictor` in the bytes of a model file."""
    version, stored = document.read(content, name)
    _check_estimator_name(stored.estimator, name)
    with naming_file(name):
        model = record(stored.model, version)
        _check_records(stored, model, None)
        unseen = decode(stored.parameters.get("unseen", msgspec.Raw(b'"missing"')), str)
        costs = _costs_of(version, stored)
    read = (unseen, stored.accepts_infinite)
    return Predictor(stored.schema, model, stored.estimator, *read, stored.profile, costs, stored.provenance)


def _costs_of(version: int, stored: Document) -> CostMatrix | None:
    """Return the costs by which the model chooses a class.

    Before format 3 they were a parameter of trees that learn with them, and so part of the model.
    """
    if version >= 3:
        return stored.costs
    given = restored(decode(stored.parameters.get("costs", msgspec.Raw(b"null")), Any))
    classes = stored.schema.classes
    return CostMatrix.of(param_validation.costs(given, classes), classes, is_learnt=True)


def _estimator_named(estimator: str, name: str) -> type[Estimator]:
    """Return the public estimator class of this name; a file cannot refer to anything else."""
    _check_estimator_name(estimator, name)
    return getattr(import_module(f"baytree.{_ESTIMATOR_MODULES[estimator]}"), estimator.removeprefix(_DROP_IN))


def _check_estimator_name(estimator: str, name: str) -> None:
    if not _ESTIMATOR_MODULES.get(estimator, "").startswith(("estimators.", "sklearn.")):
        raise ModelFileError(f"{name}: contains a {estimator!r}, which this version of baytree does not know")


def _stored_name(kind: type[Any]) -> str:
    """Return the name of an estimator class in files; scikit-learn drop-ins get a prefix."""
    return f"{_DROP_IN}{kind.__name__}" if kind.__module__.startswith("baytree.sklearn.") else kind.__name__


class _Checked(Protocol):
    def check(self, schema: Schema) -> None: ...


def _check_records(document: Document, model: _Checked | None, statistic: _Checked | None) -> None:
    """Check all indices and shapes of the records against the schema, so that none can fail later."""
    if model is None:
        raise ValueError("the file contains no model")
    for part in (model, statistic, document.profile):
        if part is not None:
            part.check(document.schema)
    if document.provenance is not None:
        document.provenance.check()
    if document.costs is not None:
        document.costs.check(len(document.schema.classes))
