"""Per-column attributes of every estimator have one entry for each column that was given, left-out ones included."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, is_regressor
from sklearn.feature_selection import SelectFromModel

import baytree as bt
import baytree.sklearn as drop_ins

N = 120
RNG = np.random.default_rng(7)
NUMBERS = pd.DataFrame(
    {"id": np.arange(1000, 1000 + N), "a": RNG.normal(size=N), "row": np.arange(N) + 1, "b": RNG.normal(size=N)}
)
MIXED = NUMBERS.assign(
    name=[f"person {k:03d}" for k in range(N)],
    colour=RNG.choice(["red", "green", "blue"], N),
    day=pd.date_range("2024-01-01", periods=N, freq="3D"),
)
VALUE = NUMBERS["a"] - 2 * NUMBERS["b"] + RNG.normal(scale=0.1, size=N)
LABEL = np.where(VALUE > 0, "high", "low")
COUNTS = {"MultinomialNB", "ComplementNB", "CategoricalNB"}  # read codes and counts, no numbers
PARTS = {"day": ["year", "month", "weekday"]}


def is_estimator(name, kind):
    """Whether it can be fitted without another estimator."""
    return (
        inspect.isclass(kind) and issubclass(kind, BaseEstimator) and name not in ("ForwardSelection", "BackwardSelection")
    )


PUBLIC = [(name, getattr(bt, name)) for name in bt.__all__]
DROP_INS = [(f"sklearn.{name}", getattr(drop_ins, name)) for name in drop_ins.__all__]
ESTIMATORS = [(name, kind) for name, kind in PUBLIC + DROP_INS if is_estimator(name, kind)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "kind"), ESTIMATORS)
def test_per_column_attributes_have_an_entry_for_each_column_that_was_given(name, kind):
    frame = NUMBERS.abs().round() if name.split(".")[-1] in COUNTS else NUMBERS
    if kind is drop_ins.QuadraticDiscriminantAnalysis:
        frame = frame.drop(columns="row")  # collinear with the id, which scikit-learn's class refuses, too
    model = kind().fit(frame, VALUE if is_regressor(kind()) else LABEL)
    assert list(model.feature_names_in_) == list(frame.columns)
    seen = 0
    for attribute in (
        "feature_importances_",
        "coef_",
        "scores_",
        "pvalues_",
        "support_",
        "theta_",
        "var_",
        "feature_log_prob_",
    ):
        if not isinstance(getattr(model, attribute, None), np.ndarray):
            continue
        seen += 1
        assert getattr(model, attribute).shape[-1] == len(frame.columns) == model.n_features_in_, attribute
    if hasattr(model, "scalings_") and isinstance(model.scalings_, np.ndarray):
        assert len(model.scalings_) == len(frame.columns)
    if hasattr(model, "feature_importances_") or (hasattr(model, "coef_") and not name.startswith("Select")):
        assert seen
        chosen = SelectFromModel(model, prefit=True, threshold=-np.inf).transform(frame)
        assert chosen.shape == frame.shape
        target = VALUE if is_regressor(kind()) else LABEL
        assert SelectFromModel(kind()).fit(frame, target).get_support().any()  # the threshold that scikit-learn chooses


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [kind for _, kind in ESTIMATORS if hasattr(kind, "feature_importances_")])
def test_importances_belong_to_the_columns_that_are_used(kind):
    if kind.__module__.startswith("baytree.sklearn"):
        frame, settings = NUMBERS, {}
    else:
        frame, settings = MIXED, {"schema": PARTS}
    model = kind(**settings).fit(frame, VALUE if is_regressor(kind()) else LABEL)
    worth = dict(zip(model.feature_names_in_, model.feature_importances_, strict=True))
    assert not any(worth.values()) or max(worth, key=worth.get) in ("a", "b")
    left_out = set(model.schema_.left_out)
    assert all(worth[name] == 0 for name in left_out)
    assert {"id", "name"} <= left_out or kind.__module__.startswith("baytree.sklearn")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [bt.LogisticRegression, bt.LinearDiscriminantAnalysis, bt.LinearRegression])
def test_coefficients_of_left_out_numbers_are_zero_also_in_a_model_file(kind, tmp_path):
    model = kind().fit(MIXED, VALUE if is_regressor(kind()) else LABEL)
    rows = np.atleast_2d(model.coef_)
    assert rows.shape[1] == len(model.model_.linear.design.source) + 2  # id and row; a name has no feature
    assert (rows[:, [0, 2]] == 0).all()
    assert (rows[:, [1, 3]] != 0).all()
    bt.save(model, tmp_path / "m.baytree")
    np.testing.assert_array_equal(bt.load(tmp_path / "m.baytree").coef_, model.coef_)
