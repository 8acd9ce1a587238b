"""MLflow: saved, logged and registered models predict as they did, from a file store, and no pickle is written or read."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import baytree as bt

pytest.importorskip("mlflow", reason="mlflow-skinny is not installed (extra `mlflow`)")

ROWS = bt.datasets.load("penguins")
FEATURES = ROWS.drop(columns="species")


@pytest.fixture(autouse=True)
def _store(tmp_path, monkeypatch):
    import mlflow

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    mlflow.set_registry_uri((tmp_path / "store").as_uri())


@pytest.fixture(autouse=True)
def _no_pickle(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a pickle was read or written")

    for name in ("load", "loads", "dump", "dumps", "Unpickler", "Pickler"):
        monkeypatch.setattr(pickle, name, refuse)


@pytest.fixture(scope="module")
def model() -> bt.NaiveBayesClassifier:
    return bt.compare(ROWS, "species", models=["nb"], cv=3).recommended


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_a_saved_model_is_a_folder_of_text(model, tmp_path):
    import baytree.mlflow

    baytree.mlflow.save_model(model, tmp_path / "m")
    assert files(tmp_path / "m") == {"MLmodel", "model.baytree", "card.md", "requirements.txt", "python_env.yaml"}
    assert (tmp_path / "m" / "card.md").read_text() == model.card()
    loaded = baytree.mlflow.load_model(tmp_path / "m")
    assert type(loaded) is type(model)
    assert np.array_equal(loaded.predict_proba(FEATURES), model.predict_proba(FEATURES))


def test_a_logged_model_is_loaded_by_its_address_and_as_a_pyfunc(model):
    import mlflow

    import baytree.mlflow

    with mlflow.start_run():
        logged = baytree.mlflow.log_model(model, name="penguins", registered_model_name="penguins")
    loaded = baytree.mlflow.load_model(logged.model_uri)
    assert np.array_equal(loaded.predict(FEATURES), model.predict(FEATURES))
    function = mlflow.pyfunc.load_model("models:/penguins/1")
    assert np.array_equal(function.predict(FEATURES), model.predict(FEATURES))
    assert isinstance(function.get_raw_model(), bt.NaiveBayesClassifier)


def test_a_pyfunc_predicts_probabilities_on_request_and_numbers(model, tmp_path):
    import mlflow

    import baytree.mlflow

    baytree.mlflow.save_model(model, tmp_path / "p", pyfunc_predict_fn="predict_proba")
    assert np.array_equal(mlflow.pyfunc.load_model(str(tmp_path / "p")).predict(FEATURES), model.predict_proba(FEATURES))
    mass = ROWS.dropna(subset="body_mass_g")
    tree = bt.CARTRegressor().fit(mass, "body_mass_g")
    baytree.mlflow.save_model(tree, tmp_path / "r")
    predicted = mlflow.pyfunc.load_model(str(tmp_path / "r")).predict(pd.DataFrame(mass.drop(columns="body_mass_g")))
    assert np.array_equal(predicted, tree.predict(mass))


def test_wrong_calls_get_a_sentence(model, tmp_path):
    import baytree.mlflow

    tree = bt.CARTRegressor().fit(ROWS.dropna(subset="body_mass_g"), "body_mass_g")
    with pytest.raises(ValueError, match="CARTRegressor has no predict_proba"):
        baytree.mlflow.save_model(tree, tmp_path / "x", pyfunc_predict_fn="predict_proba")
    with pytest.raises(ValueError, match="pyfunc_predict_fn"):
        baytree.mlflow.save_model(model, tmp_path / "x", pyfunc_predict_fn="__class__")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    with pytest.raises(ValueError, match="is not empty"):
        baytree.mlflow.save_model(model, tmp_path / "full")
    with pytest.raises(ValueError, match="not fitted"):
        baytree.mlflow.save_model(bt.CARTClassifier(), tmp_path / "y")


def test_a_damaged_model_file_is_refused(model, tmp_path):
    import mlflow

    import baytree.mlflow

    baytree.mlflow.save_model(model, tmp_path / "m")
    path = tmp_path / "m" / "model.baytree"
    path.write_bytes(path.read_bytes().replace(b"Adelie", b"Adelia", 1))
    with pytest.raises(ValueError, match="damaged"):
        mlflow.pyfunc.load_model(str(tmp_path / "m"))
