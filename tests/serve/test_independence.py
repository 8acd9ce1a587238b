"""The answer to a request does not depend on what else is being asked."""

import asyncio
import random

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from in_process import Server

KINDS = [
    bt.NaiveBayesClassifier,
    bt.CARTClassifier,
    bt.C50Classifier,
    bt.LogisticRegression,
    bt.LinearDiscriminantAnalysis,
    bt.QuadraticDiscriminantAnalysis,
    bt.MARSClassifier,
    bt.AdditiveClassifier,
    bt.NBTreeClassifier,
]
VALUES = {  # every way to write a value, and values of another type, which are refused
    "amount": [0, 0.5, 2.25, -3, None, "1", True, 2**60],
    "other": [1.1, 0.7, None, 3],
    "paid": [True, False, None, "true", "false", "yes", "no", 0, 1, 1.0, "", "maybe"],
    "code": [1, 2, 3, 4, None, "1", "2", 3.0, True, "", 2**60 + 1, 0.5],
    "colour": ["red", "green", "blue", "Red", " blue", "pink", "", None, "NA", 3],
    "day": ["2024-01-05", "05.01.2024", "01/05/2024", "13/02/2024", "02/13/2024", "", None, 20240105, "never"],
    "price": ["12 €", "1,5 €", "1.234,5 €", 3, 2.5, "n/a", None, "7"],
}


def training_rows(n=240):
    """Return a table with one column of each type, and labels that all columns are associated with."""
    choice = np.random.default_rng(3)
    label = choice.integers(0, 2, n)
    shift = (label + (choice.random(n) < 0.3)) % 2
    days = np.datetime64("2024-01-01") + choice.integers(0, 90, n) + 60 * shift
    table = pd.DataFrame(
        {
            "amount": choice.normal(size=n) + label,
            "other": choice.normal(size=n) - label,
            "paid": shift.astype(bool),
            "code": choice.integers(1, 4, n) + shift,
            "colour": np.array(["red", "green", "blue"])[(shift + choice.integers(0, 2, n)) % 3],
            "day": [f"{day.astype(object):%d/%m/%Y}" for day in days],
            "price": [f"{value:.2f} €".replace(".", ",") for value in choice.gamma(2, 5, n) + 3 * shift],
        }
    )
    return table, np.array(["no", "yes"])[label]


@pytest.fixture(scope="module")
def mixed_server(tmp_path_factory):
    folder, (X, y) = tmp_path_factory.mktemp("mixed"), training_rows()
    for kind in KINDS:
        bt.save(kind(schema={"code": "nominal"}).fit(X, y), folder / f"{kind.__name__}.baytree")
    amounts = bt.LinearRegression(schema={"code": "nominal"}).fit(X.drop(columns="amount"), X.amount)
    bt.save(amounts, folder / "LinearRegression.baytree")
    return Server(sorted(folder.glob("*.baytree")))


def requests(seed, n, columns):
    """Return `n` lists of rows with values of all types."""
    choice = random.Random(seed)

    def row():
        return {name: choice.choice(VALUES[name]) for name in columns if choice.random() < 0.6}

    return [[row() for _ in range(choice.choice([1, 1, 1, 1, 2, 5]))] for _ in range(n)]


async def ask_together(server, name, bodies):
    asked = (server.asked("POST", f"/models/{name}/predict", {"rows": rows}) for rows in bodies)
    return [(answer.status, answer.body) for answer in await asyncio.gather(*asked)]


@pytest.mark.parametrize("name", [*(kind.__name__ for kind in KINDS), "LinearRegression"])
def test_the_answer_to_a_request_does_not_depend_on_what_else_is_asked(mixed_server, name):
    columns = [each for each in VALUES if name != "LinearRegression" or each != "amount"]
    bodies = requests(11, 200, columns)
    alone = [asyncio.run(ask_together(mixed_server, name, [rows]))[0] for rows in bodies]
    assert {200, 422} == {status for status, _ in alone}
    for size, seed in ((2, 1), (8, 2), (40, 3), (200, 4)):
        order = random.Random(seed).sample(range(len(bodies)), len(bodies))
        for first in range(0, len(order), size):
            batch = order[first : first + size]
            together = asyncio.run(ask_together(mixed_server, name, [bodies[k] for k in batch]))
            assert together == [alone[k] for k in batch]


@pytest.fixture(scope="module")
def coded(tmp_path_factory):
    """Return the file of a model with codes beyond 2^53."""
    path, (X, y) = tmp_path_factory.mktemp("coded") / "m.baytree", training_rows()
    bt.save(bt.NaiveBayesClassifier(schema={"code": "nominal"}).fit(X.assign(code=X.code + 2**60), y), path)
    return path


@pytest.mark.parametrize("pair", [(0, ""), (2**60 + 1, None), (2**60 + 1, 0.5), (2**60 + 1, "")])
@pytest.mark.parametrize("n_rows", [2, 2200])  # counted when /metrics asks, and after 2,048 rows
def test_rows_of_mixed_types_fail_neither_requests_nor_the_drift_counts(coded, pair, n_rows):
    server = Server([coded])
    for k in range(0, n_rows, 2):
        assert [server.predict("m", [{"code": value}]).status for value in pair] == [200, 200], k
    metrics = server.ask("GET", "/metrics")
    assert metrics.status == 200
    assert f'baytree_drift_rows{{model="m"}} {n_rows}\n' in metrics.body.decode()
