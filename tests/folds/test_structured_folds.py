"""Folds that respect groups and times: laws of the folds, everywhere they are used, and sentences about bad input."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, TimeSeriesSplit

import baytree as bt
from baytree.folds.row_structure import RowStructure
from baytree.folds.splitters import Folds, read_cv
from baytree.folds.structured_folds import as_array, is_test, is_train, pairs_of, read_folds
from baytree.model_selection.problem import SupervisedProblem


def visits(n: int = 240, seed: int = 0) -> pd.DataFrame:
    """Visits of patients: what a patient has in common decides more than the columns."""
    rng = np.random.default_rng(seed)
    patient = rng.integers(0, n // 8, n)
    is_ill = rng.random(n // 8)[patient] < 0.5
    return pd.DataFrame(
        {
            "marker": rng.normal(size=n // 8)[patient] + 0.001 * rng.normal(size=n),
            "pulse": rng.normal(70, 9, n) + 3 * is_ill,
            "patient": patient,
            "day": pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "ill": np.where(is_ill, "yes", "no"),
        }
    )


times = st.lists(st.integers(0, 30), min_size=4, max_size=60).filter(lambda own: len(set(own)) > 1)


@given(times, st.integers(1, 8), st.integers(0, 4), st.booleans(), st.data())
def test_training_rows_come_before_the_gap_and_share_no_group_with_the_test_rows(own, k, gap, is_grouped, data):
    time = np.array(own, float)
    groups = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(own), max_size=len(own)))) if is_grouped else None
    structure = RowStructure(groups, time, gap=float(gap))
    try:
        folds = read_folds(k, np.zeros(len(own), int), True, structure)
    except ValueError as error:
        assert "give" in str(error)
        return
    tested = np.concatenate([part.test for part in folds.parts])
    assert len(tested) == len(set(tested.tolist()))
    assert len(folds.parts) <= max(k, 1)
    for part in folds.parts:
        assert time[part.train].max() + gap < time[part.test].min() + (gap == 0) * 1e-9 + (gap > 0) * 1e-9
        assert groups is None or not set(groups[part.train]) & set(groups[part.test])


@given(times, st.integers(1, 8))
def test_the_last_rows_are_tested_and_equal_times_stay_on_one_side(own, k):
    time = np.array(own, float)
    folds = read_folds(k, np.zeros(len(own), int), True, RowStructure(time=time))
    tested = np.zeros(len(own), bool)
    for part in folds.parts:
        tested[part.test] = True
    assert time[tested].min() > time[~tested].max()
    assert tested[time == time.max()].all()


def test_a_test_size_is_a_number_of_rows_or_a_proportion():
    time = np.arange(100.0)
    for size in (10, 0.1):
        folds = read_folds(3, np.zeros(100, int), True, RowStructure(time=time, test_size=size))
        assert [part.test[0] for part in folds.parts] == [70, 80, 90]
    assert len(read_folds(0.25, np.zeros(100, int), True, RowStructure(time=time)).parts[0].test) == 25


def test_splitters_of_scikit_learn_see_the_rows_in_their_order_and_the_groups():
    time, groups = np.array([5.0, 1, 4, 2, 3, 0]), np.array([0, 0, 1, 1, 2, 2])
    folds = read_folds(TimeSeriesSplit(2), np.zeros(6, int), True, RowStructure(time=time))
    assert [(time[part.train].max(), time[part.test].min()) for part in folds.parts] == [(1, 2), (3, 4)]
    folds = read_folds(LeaveOneGroupOut(), np.zeros(6, int), True, RowStructure(groups=groups))
    assert [part.test.tolist() for part in folds.parts] == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("cv", [10, "loo", 0.4])
def test_groups_stay_together_in_all_kinds_of_folds(cv):
    groups = np.arange(40) % 4
    for part in read_cv(cv, 40, np.arange(40) % 2, True, groups).parts:
        assert not set(groups[part.train]) & set(groups[part.test])


def test_folds_as_an_array_are_the_same_folds():
    partition = read_cv(3, 12, np.arange(12) % 2, True)
    windows = read_folds(3, np.zeros(12, int), True, RowStructure(time=np.arange(12.0)))
    for folds, n_axes in ((partition, 1), (windows, 2)):
        fold = as_array(folds, 12)
        assert fold.ndim == n_axes
        for (train, test), part in zip(pairs_of(fold), folds.parts, strict=True):
            assert train.tolist() == part.train.tolist()
            assert test.tolist() == part.test.tolist()
    assert not (is_train(as_array(windows, 12), 0) & is_test(as_array(windows, 12), 0)).any()
    assert as_array(Folds(partition.parts[:2], ""), 12).ndim == 2


# --- where they are used ------------------------------------------------------------------------------------------------


def test_groups_and_times_are_no_features_and_the_result_names_the_scheme(tmp_path):
    found = bt.compare(visits(), "ill", ["majority", "nb", "cart"], cv=4, groups="patient", time="day", gap=20)
    assert "in the order of day, each after its training rows with a gap of 20 days, by group (patient)" in str(found)
    assert found.models["nb"].feature_names_in_.tolist() == ["marker", "pulse"]
    assert "by group (patient)" in found.report(tmp_path / "page.html").read_text()


def test_folds_by_group_show_that_a_model_has_only_learnt_the_patients():
    rows = visits(800)
    tree = bt.DecisionTreeClassifier()
    by_row = bt.cross_validate(tree, rows.drop(columns=["patient", "day"]), "ill", cv=5).mean("accuracy")
    by_group = bt.cross_validate(tree, rows.drop(columns="day"), "ill", cv=5, groups="patient").mean("accuracy")
    assert by_row > by_group + 0.15


def test_an_array_of_groups_has_the_folds_of_a_column():
    rows = visits()
    kept = rows.drop(columns="patient")
    named = bt.cross_validate(bt.NaiveBayesClassifier(), rows, "ill", cv=4, groups="patient")
    given_apart = bt.cross_validate(bt.NaiveBayesClassifier(), kept, "ill", cv=4, groups=rows["patient"].to_numpy())
    assert [part.rows.tolist() for part in named.trials] == [part.rows.tolist() for part in given_apart.trials]


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (bt.CARTClassifier(pruning="min", cp=0.0, min_split=4), "ill"),
        (bt.LogisticRegressionCV(), "ill"),
        (bt.CARTRegressor(pruning="min", cp=0.0), "pulse"),
        (bt.LinearRegressionCV(), "pulse"),
    ],
)
@pytest.mark.parametrize("how", [{"groups": "patient"}, {"time": "day"}, {"time": "day", "groups": "patient", "gap": 10}])
def test_folds_inside_a_fit_are_those_of_the_rows(model, target, how):
    rows = visits()
    fitted = model.fit(rows, target, **how)
    problem = SupervisedProblem.of(rows, target, **how)
    pairs = [(part.train, part.test) for part in problem.folds(model.cv).parts]
    again = type(model)(**{**model.get_params(), "cv": pairs}).fit(problem.X, problem.y)
    assert not set(how.values()) & set(fitted.feature_names_in_)
    np.testing.assert_array_equal(fitted.predict(problem.X), again.predict(problem.X))
    if hasattr(fitted, "curve_"):
        np.testing.assert_allclose(fitted.curve_.mean, again.curve_.mean)


def test_outer_folds_hand_the_groups_to_the_folds_inside(monkeypatch):
    seen = []
    original = bt.LogisticRegressionCV._row_dependent_settings

    def spy(self, entered, structure=None):
        seen.append(structure)
        return original(self, entered, structure)

    monkeypatch.setattr(bt.LogisticRegressionCV, "_row_dependent_settings", spy)
    rows = visits()
    bt.cross_validate(bt.LogisticRegressionCV(cv=3), rows.drop(columns="day"), "ill", cv=3, groups="patient", n_jobs=1)
    assert len(seen) == 3
    assert all(structure.groups is not None and len(structure.groups) < len(rows) for structure in seen)


def test_a_curve_over_time_learns_from_the_latest_rows():
    curve = bt.learning_curve(bt.NaiveBayesClassifier(), visits(), "ill", cv=4, time="day", train_sizes=(0.5, 1.0))
    assert curve.n_rows[0] * 2 == pytest.approx(curve.n_rows[1], abs=1)


def test_a_selection_of_columns_drops_those_of_groups_and_times():
    chosen = bt.ForwardSelection(bt.NaiveBayesClassifier(), k=1, cv=4).fit(visits(), "ill", groups="patient", time="day")
    assert chosen.feature_names_in_.tolist() == ["marker", "pulse"]


def test_conformal_sets_are_calibrated_on_other_groups_or_later_rows():
    rows = visits(800)
    for how in ({"groups": "patient"}, {"time": "day", "gap": timedelta(days=10)}):
        sets = bt.conformal(bt.NaiveBayesClassifier(), rows, "ill", cv=4, **how)
        assert sets.coverage(visits(800, 1), "ill").share > 0.75
        assert next(iter(how.values())) in str(sets)
    with pytest.raises(ValueError, match="method='full'"):
        bt.conformal(bt.NaiveBayesClassifier(), rows, "ill", method="full", groups="patient")


def test_a_declared_date_orders_the_rows_and_is_no_feature():
    rows = visits()
    rows["day"] = rows["day"].dt.strftime("%d.%m.%y")
    model = bt.LogisticRegressionCV(schema={"day": "dmy", "pulse": "numeric"}).fit(rows, "ill", time="day")
    assert "day" not in model.feature_names_in_
    assert model.schema == {"day": "dmy", "pulse": "numeric"}
    found = bt.compare(rows, "ill", ["nb"], cv=3, time="day", schema={"day": "dmy"})
    assert "in the order of day" in found.baseline.how


def test_splitters_whose_training_rows_are_not_all_others_serve_inside_a_fit():
    rows = visits().sort_values("day")[["marker", "pulse", "ill"]]
    for model in (bt.LogisticRegressionCV(cv=TimeSeriesSplit(3)), bt.CARTClassifier(pruning="1se", cv=TimeSeriesSplit(3))):
        assert model.fit(rows, "ill").predict(rows).shape == (240,)


def test_rows_without_a_label_do_not_shift_groups_and_times():
    rows = visits()
    rows.loc[::7, "ill"] = None
    with pytest.warns(bt.BaytreeWarning, match="no value in the target"):
        problem = SupervisedProblem.of(rows, "ill", groups="patient", time="day")
    known = rows["ill"].notna().to_numpy()
    assert problem.structure.time is not None
    np.testing.assert_array_equal(
        np.argsort(problem.structure.time, kind="stable"), np.argsort(rows["day"][known], kind="stable")
    )


# --- bad input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"groups": [1, 2, 3]}, "groups has 3 values for 240 rows; give one per row"),
        ({"groups": "pateint"}, "did you mean 'patient'"),
        ({"groups": np.where(np.arange(240) % 9, 1.0, np.nan)}, "no value in 27 rows, the first is row 0"),
        ({"groups": np.zeros(240)}, "all rows are of one group"),
        ({"time": "dya"}, "did you mean 'day'"),
        ({"time": "mark"}, "did you mean 'marker'"),
        ({"time": "ward"}, "holds no dates or numbers; declare schema"),
        ({"time": "same"}, "is the same in all rows"),
        ({"time": "gaps"}, "has no value in 80 of 240 rows, the first is row 0; leave these rows out"),
        ({"time": "day", "gap": 5000}, "gap=5000 leaves no row to train on"),
        ({"time": "day", "gap": -1}, "gap=-1: give a number"),
        ({"time": "pulse", "gap": timedelta(days=1)}, "holds numbers; give a number"),
        ({"time": "day", "test_size": 240}, "a number of rows below 240"),
        ({"time": "day", "cv": "loo"}, "a proportion of the last rows"),
        ({"time": "day", "cv": [([0], [1])]}, "give one of them"),
        ({"gap": 3}, "need time="),
        ({"time": "day", "cv": TimeSeriesSplit(3), "gap": 3}, "give gap and test_size to the splitter"),
    ],
)
def test_bad_groups_and_times_get_a_sentence_with_the_remedy(how, message):
    rows = visits().assign(
        ward=np.where(np.arange(240) % 2, "a", "b"), same=1.0, gaps=np.where(np.arange(240) % 3, 1.5, np.nan)
    )
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        bt.cross_validate(bt.NaiveBayesClassifier(), rows, "ill", **{"cv": 5, **how})


def test_folds_in_time_cannot_be_repeated():
    with pytest.raises(ValueError, match="nothing can be repeated"):
        bt.compare(visits(), "ill", ["nb"], time="day", repeats=2)
    assert bt.cross_validate(bt.NaiveBayesClassifier(), visits(), "ill", cv=GroupKFold(4), groups="patient").how.startswith(
        "4"
    )
