"""Models on disk, and a server of them in this process."""

import numpy as np
import pytest

import baytree as bt
from in_process import Server, frame


@pytest.fixture(scope="session")
def table():
    return frame()


@pytest.fixture(scope="session")
def fitted(table):
    X, y = table
    return {
        "nb": bt.NaiveBayesClassifier().fit(X, y),
        "cart": bt.CARTClassifier().fit(X, y),
        "amount": bt.LinearRegression().fit(X, np.arange(len(X), dtype=float)),
    }


@pytest.fixture(scope="session")
def paths(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, model in fitted.items():
        bt.save(model, folder / f"{name}.baytree")
    return {name: folder / f"{name}.baytree" for name in fitted}


@pytest.fixture(scope="module")
def server(paths):
    return Server(paths.values())
