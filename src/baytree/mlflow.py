"""Flavor for MLflow: save, log and load models as baytree's own model files. Nothing is pickled, and loading runs no code.

>>> import mlflow, baytree.mlflow                                      # doctest: +SKIP
>>> with mlflow.start_run():                                           # doctest: +SKIP
...     baytree.mlflow.log_model(model, name="model")
>>> baytree.mlflow.load_model("runs:/…/model")                         # doctest: +SKIP
>>> mlflow.pyfunc.load_model("runs:/…/model").predict(frame)           # doctest: +SKIP

A saved model is a folder with `MLmodel`, `model.baytree`, the model card `card.md`, and the requirements of a server that
runs it as a pyfunc. It needs `pip install 'baytree[mlflow]'`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baytree import storage
from baytree._typing import FrameLike
from baytree.param_validation import one_of
from baytree.version import __version__

try:
    from mlflow import pyfunc
    from mlflow.artifacts import download_artifacts
    from mlflow.models import Model
except ModuleNotFoundError as error:
    if error.name is None or error.name.split(".")[0] != "mlflow":
        raise
    raise ModuleNotFoundError("this needs MLflow: pip install 'baytree[mlflow]'", name=error.name) from None

if TYPE_CHECKING:
    import numpy as np
    from mlflow.models import ModelSignature
    from mlflow.models.model import ModelInfo

    from baytree.estimators.base import Estimator
    from baytree.estimators.prediction import Classifier, Regressor

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR_NAME = "baytree"

PREDICT_FUNCTIONS = ("predict", "predict_proba")

_MODEL_FILE, _CARD_FILE, _REQUIREMENTS_FILE, _ENVIRONMENT_FILE = (
    "model.baytree",
    "card.md",
    "requirements.txt",
    "python_env.yaml",
)


def save_model(
    model: Estimator,
    path: str | os.PathLike,
    *,
    mlflow_model: Model | None = None,
    signature: ModelSignature | None = None,
    metadata: dict[str, Any] | None = None,
    pyfunc_predict_fn: str = "predict",
) -> None:
    """Save a fitted model as a folder in MLflow's format.

    Parameters
    ----------
    model : Estimator
        A fitted baytree estimator.
    path : str or path-like
        Folder to write; it must not exist or be empty.
    mlflow_model : mlflow.models.Model, optional
        Model to which the flavor is added; `log_model` gives it.
    signature : mlflow.models.ModelSignature, optional
        Types of the columns that MLflow should enforce. By default none is stored: the model reads raw tables, as in Python.
    metadata : dict, optional
        Metadata for MLflow.
    pyfunc_predict_fn : {"predict", "predict_proba"}, default="predict"
        Method that the pyfunc calls.
    """
    one_of("pyfunc_predict_fn", pyfunc_predict_fn, PREDICT_FUNCTIONS)
    if not hasattr(model, pyfunc_predict_fn):
        raise ValueError(f"{type(model).__name__} has no {pyfunc_predict_fn}; it predicts a number: use 'predict'")
    folder = Path(path)
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"the folder {folder} is not empty; choose another path")
    folder.mkdir(parents=True, exist_ok=True)
    storage.save(model, folder / _MODEL_FILE)
    (folder / _CARD_FILE).write_text(model.card(), encoding="utf-8")
    (folder / _REQUIREMENTS_FILE).write_text(f"baytree=={__version__}\nmlflow-skinny\npandas\n")
    (folder / _ENVIRONMENT_FILE).write_text(f"dependencies:\n- -r {_REQUIREMENTS_FILE}\n")
    described = Model() if mlflow_model is None else mlflow_model
    if signature is not None:
        described.signature = signature
    if metadata is not None:
        described.metadata = metadata
    described.add_flavor(
        FLAVOR_NAME,
        baytree_version=__version__,
        data=_MODEL_FILE,
        model_class=type(model).__name__,
        pyfunc_predict_fn=pyfunc_predict_fn,
    )
    environment = {"virtualenv": _ENVIRONMENT_FILE}
    pyfunc.add_to_model(described, loader_module=__name__, data=_MODEL_FILE, python_env=environment)
    described.save(str(folder / "MLmodel"))


def log_model(model: Estimator, name: str = "model", **options: Any) -> ModelInfo:
    """Log a fitted model to the active MLflow run, or to a new one.

    Parameters
    ----------
    model : Estimator
        A fitted baytree estimator.
    name : str, default="model"
        Name of the model in the run.
    options : keyword arguments
        Options of `save_model`, and of `mlflow.models.Model.log`, such as ``registered_model_name``.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Describes the logged model; `model_uri` loads it.
    """
    import baytree.mlflow as flavor

    return Model.log(artifact_path=None, name=name, flavor=flavor, model=model, **options)


def load_model(model_uri: str | os.PathLike, dst_path: str | None = None) -> Classifier | Regressor:
    """Load the estimator of a model that `save_model` or `log_model` wrote.

    Parameters
    ----------
    model_uri : str or path-like
        Folder, or address of MLflow such as ``runs:/<run>/model`` or ``models:/<name>/<version>``.
    dst_path : str, optional
        Folder to which remote files are copied.
    """
    folder = Path(model_uri) if Path(model_uri).is_dir() else Path(download_artifacts(str(model_uri), dst_path=dst_path))
    flavors = Model.load(str(folder)).flavors
    if FLAVOR_NAME not in flavors:
        raise ValueError(f"{model_uri} contains {', '.join(flavors)}, but no model of baytree")
    return storage.load(folder / _MODEL_FILE)


class _Pyfunc:
    """What MLflow calls as a pyfunc."""

    def __init__(self, model: Classifier | Regressor, predict_function: str) -> None:
        self._model, self._predict = model, getattr(model, predict_function)

    def predict(self, frame: FrameLike, params: dict[str, Any] | None = None) -> np.ndarray:
        """Predict rows; MLflow hands over a pandas frame."""
        return self._predict(frame)

    def get_raw_model(self) -> Classifier | Regressor:
        """Return the estimator."""
        return self._model


def _load_pyfunc(path: str) -> _Pyfunc:
    """Load the model file that MLflow found; called by `mlflow.pyfunc.load_model`."""
    flavor = Model.load(str(Path(path).parent)).flavors[FLAVOR_NAME]
    return _Pyfunc(storage.load(path), one_of("pyfunc_predict_fn", flavor["pyfunc_predict_fn"], PREDICT_FUNCTIONS))
