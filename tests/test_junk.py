"""Whatever is given to a public estimator, what leaves it is an answer or an error meant for the user."""

import ast
import inspect
import random
import traceback
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.utils.validation
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

import baytree as bt

SOURCE = Path(bt.__file__).parent
NAMES = [name for name in bt.__all__ if inspect.isclass(getattr(bt, name)) and issubclass(getattr(bt, name), BaseEstimator)]
ROWS_IN = ["predict", "predict_proba", "predict_log_proba", "decision_function", "explain", "apply", "transform"]
ROWS_AND_LABELS_IN = ["fit", "partial_fit", "forget", "score", "leave_one_out"]
ROWS_IN += ["score_samples", "predict_joint_log_proba"]
NOTHING_IN = ["__str__", "_repr_html_", "rules", "export_text", "to_svg", "to_dot", "sample", "cost_complexity_path"]


def is_refusal(error):
    """Whether an error was meant for the user: raised in words by this library or scikit-learn's checks, not by numpy."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    is_ours = SOURCE in Path(frame.filename).parents or frame.filename == sklearn.utils.validation.__file__
    is_raised = is_ours and frame.lineno in raising_lines(frame.filename)
    return isinstance(error, (ValueError, TypeError)) and is_raised and bool(str(error).strip())


@cache
def raising_lines(path):
    raises = (node for node in ast.walk(ast.parse(Path(path).read_text())) if isinstance(node, ast.Raise))
    return {line for node in raises for line in range(node.lineno, node.end_lineno + 1)}


class Junk:
    """Tables, labels and weights of every kind, most of them wrong."""

    def __init__(self, seed):
        self.choice = random.Random(seed)
        self.random = np.random.default_rng(seed)

    def column(self, n):
        makers = [
            lambda: self.random.normal(size=n),
            lambda: self.random.integers(0, 3, n),
            lambda: self.random.choice(["a", "b", ""], n),
            lambda: np.full(n, np.nan),
            lambda: [None] * n,
            lambda: self.random.choice([1e300, -1e300, 0.0], n),
            lambda: self.random.choice([np.inf, 1.0], n),
            lambda: self.random.choice([5e-324, 0.0, 1e-310], n),
            lambda: pd.Categorical(self.random.choice(list("xyz"), n)),
            lambda: [self.choice.choice([1, "1", None, 2.5]) for _ in range(n)],
            lambda: pd.date_range("2020", periods=n),
            lambda: self.random.random(n) < 0.5,
            lambda: self.random.integers(2**53, 2**60, n),
        ]
        return self.choice.choice(makers)()

    def table(self, n):
        names = self.choice.sample(["a", "b", "y", "", "\0", "<b>"], self.choice.randrange(5))
        makers = [
            lambda: pd.DataFrame({name: self.column(n) for name in names}, index=range(n)),
            lambda: pd.DataFrame({name: self.column(n) for name in names}, index=range(n)),
            lambda: pl.DataFrame({name: self.random.choice(["u", "v"], n) for name in names}),
            lambda: {name: self.column(n) for name in names},
            lambda: {"a": [1.0] * n, "b": ["u"] * (n + 1)},
            lambda: self.random.normal(size=(n, self.choice.randrange(4))),
            lambda: self.random.integers(0, 3, (n, 2)),
            lambda: sp.random(max(n, 1), 3, 0.5, format="csr", random_state=0),
            lambda: self.choice.choice([[[1, "a"], [2]], "text", None, 3, np.array(1.0)]),
        ]
        return self.choice.choice(makers)()

    def labels(self, n):
        makers = [
            lambda: self.random.integers(0, 2, n),
            lambda: self.random.choice(list("uvw"), n),
            lambda: self.random.normal(size=n),
            lambda: np.zeros(n),
            lambda: [None] * n,
            lambda: [self.choice.choice(["1", 1, (1, 2), None]) for _ in range(n)],
            lambda: self.choice.choice(["y", "no such column", None, self.random.random((n, 2))]),
        ]
        return self.choice.choice(makers)()

    def weights(self, n):
        wrong = [np.zeros(n), -np.ones(n), "w"]
        return self.choice.choice([None, None, np.ones(n), np.full(n, 1e307), np.full(n, 1e-300), *wrong])


def estimator(name):
    kind = getattr(bt, name)
    needs_another = any(p.default is p.empty for p in list(inspect.signature(kind).parameters.values())[:1])
    return kind(bt.GaussianNB()) if needs_another else kind()


def call_with_junk(name, seed):
    junk = Junk(seed)
    model = estimator(name)
    n = junk.choice.choice([0, 1, 2, 12, 40])
    table, label = junk.table(n), junk.labels(n)
    calls = [("fit", (table, label), junk.weights(n))]
    for method in junk.choice.sample(ROWS_IN + ROWS_AND_LABELS_IN + NOTHING_IN, 5):
        rows = table if junk.choice.random() < 0.5 else junk.table(n)
        arguments = (rows,) if method in ROWS_IN else (rows, junk.labels(n)) if method in ROWS_AND_LABELS_IN else ()
        calls.append((method, arguments, None))
    for method, arguments, weight in calls:
        if not callable(getattr(model, method, None)):
            continue
        try:
            takes_weights = weight is not None and "sample_weight" in inspect.signature(model.fit).parameters
            getattr(model, method)(*arguments, **({"sample_weight": weight} if takes_weights else {}))
        except NotFittedError:
            pass
        except Exception as error:
            assert is_refusal(error), f"{name}.{method}, seed {seed}: {error!r} leaves the package"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_cases", [15, pytest.param(100, marks=pytest.mark.slow)])  # `make reliability` tries thousands
def test_no_internal_error_leaves_the_package(name, n_cases):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(n_cases):
            call_with_junk(name, seed if n_cases < 100 else 1000 + seed)


PARAMETERS = [
    *("junk", "", b"x", -1, 0, True, 3.5, float("nan"), float("inf"), 10**30, [], (1, 2), [1, 2, 3], {}, set(), object),
    *({"zz": 1}, {"a": "zz"}, {"a": None}, {"a": -1}, {1: 2}, np.array([1.0, 2.0])),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_internal_error_follows_from_a_parameter(name):
    random_ = np.random.default_rng(0)
    frame = {"a": random_.normal(size=24), "b": random_.choice(list("uvw"), 24), "y": random_.choice(["p", "q"], 24)}
    numbers = frame | {"y": random_.normal(size=24)}
    for parameter in inspect.signature(getattr(bt, name)).parameters:
        for value in PARAMETERS:
            model = estimator(name).set_params(**{parameter: value})
            for rows in (frame, numbers):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        model.fit(rows, "y")
                except Exception as error:
                    assert is_refusal(error), f"{name}({parameter}={value!r}): {error!r} leaves the package"
