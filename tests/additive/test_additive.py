"""Additive models: one optimum, exact ledgers, monotone curves, pairs that gain, edits that are recorded."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree import _core
from baytree.additive.axis import Axis, column_axis
from baytree.additive.design import curve_cells, group_rows
from baytree.additive.fit import fit_classes
from baytree.additive.newton import CellDesign, RowDesign
from baytree.additive.pieces import pieces
from baytree.model_selection.problem import SupervisedProblem

N = 600


def table(seed=0, n=N):
    random = np.random.default_rng(seed)
    age, income = random.integers(18, 80, n).astype(float), random.normal(50, 15, n)
    job = random.choice(["clerk", "cook", "judge"], n)
    score = np.sin(age / 10) + 0.05 * (income - 50) + np.where(job == "judge", 1.0, 0.0)
    age[random.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "age": age,
            "income": income,
            "job": job,
            "paid": np.where(score + random.logistic(size=n) > 0.3, "yes", "no"),
            "amount": score + random.normal(0, 0.3, n),
            "grade": np.array(["a", "b", "c"])[np.digitize(score + random.normal(size=n), [-0.5, 1.0])],
        }
    )


MODELS = [
    (bt.AdditiveClassifier(), "paid"),
    (bt.AdditiveClassifier(interactions=0, smooth=1.0), "paid"),
    (bt.AdditiveClassifier(interactions=2), "grade"),
    (bt.AdditiveRegressor(), "amount"),
]
INPUTS = ["age", "income", "job"]


def answers(model, frame):
    return model.predict_proba(frame[INPUTS]) if hasattr(model, "predict_proba") else model.predict(frame[INPUTS])


@pytest.mark.parametrize(("model", "target"), MODELS)
def test_the_order_of_the_rows_changes_no_bit(model, target):
    frame = table()
    columns = [*INPUTS, target]
    mixed = frame.sample(frac=1, random_state=1)
    first = answers(model.fit(frame[columns], target), frame)
    assert np.array_equal(first, answers(model.fit(mixed[columns], target), frame))


@pytest.mark.parametrize(("model", "target"), MODELS)
def test_a_weight_of_two_is_a_row_twice(model, target):
    frame = table()
    weight = np.arange(N) % 3 + 1
    weighted = answers(model.fit(frame[INPUTS], frame[target], sample_weight=weight), frame)
    repeated = frame.loc[np.repeat(np.arange(N), weight)]
    assert weighted == pytest.approx(answers(model.fit(repeated[INPUTS], repeated[target]), frame), abs=1e-7)


@pytest.mark.parametrize(("model", "target"), MODELS)
def test_start_and_effects_are_the_score(model, target):
    frame = table()
    model.fit(frame[[*INPUTS, target]], target)
    scores = model.model_.scores(model._encoded(frame[INPUTS]))
    for k, explanation in enumerate(model.explain(frame[INPUTS].head(20))):
        assert np.array_equal(explanation.scores, scores[k])


def test_the_gradient_of_the_penalised_likelihood_is_zero():
    frame = table()
    rows_table = SupervisedProblem.of(frame[[*INPUTS, "paid"]], "paid").table
    rows = group_rows(rows_table, [column_axis(rows_table, j, 256, 64) for j in range(3)])
    terms = [curve_cells(rows, k, is_ordered=k < 2) for k in range(3)]
    (fitted,) = fit_classes(rows, terms, 2)
    score = fitted.intercept + sum(values[term.cell] for term, values in zip(terms, fitted.values, strict=True))
    residual = rows.weight * ((rows.label == 1) - 1 / (1 + np.exp(-score)))
    assert residual.sum() == pytest.approx(0, abs=1e-3)
    for term, values, strength in zip(terms, fitted.values, fitted.strength, strict=True):
        gradient = np.bincount(term.cell, residual, term.size)
        drift = gradient - strength * term.penalty @ values
        assert np.abs(drift - drift.mean()).max() < 0.02 * np.abs(gradient).max() + 1e-3


def test_the_step_in_the_space_of_the_rows_is_that_of_the_coefficients():
    frame = table(n=60)
    rows_table = SupervisedProblem.of(frame[[*INPUTS, "paid"]], "paid").table
    rows = group_rows(rows_table, [column_axis(rows_table, j, 256, 64) for j in range(3)])
    terms = [curve_cells(rows, k, is_ordered=k < 2) for k in range(3)]
    random = np.random.default_rng(0)
    weight, residual = random.random(len(rows)), random.normal(size=len(rows))
    strength = 10.0 ** random.uniform(-2, 3, 3)
    solutions = []
    for design in (CellDesign(terms, len(rows)), RowDesign(terms, len(rows))):
        beta = np.linspace(-1, 1, len(design))
        (hessian,) = design.hessians(weight[None])
        solutions.append(design.solve(hessian, strength, beta, design.gradient(residual)))
    cells, by_rows = solutions
    assert cells.change[1:] == pytest.approx(by_rows.change[1:], rel=1e-3, abs=1e-4)
    assert cells.edf == pytest.approx(by_rows.edf, rel=1e-3, abs=1e-4)
    for one, other in zip(cells.variances(), by_rows.variances(), strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-4)


def test_counts_of_pairs_of_cells_are_the_weighted_product_of_the_design():
    random = np.random.default_rng(0)
    size = np.array([1, 3, 7], np.int64)
    cell = np.stack([random.integers(0, n, 50, dtype=np.int32) for n in size])
    dense = np.concatenate([cell[j][:, None] == np.arange(n) for j, n in enumerate(size)], axis=1).astype(float)
    for n_scores in (1, 2, 4):
        weight, out = random.random((n_scores, 50)), np.zeros((n_scores, 11, 11))
        _core.cell_products(cell, size, weight, out)
        for own, found in zip(weight, out, strict=True):
            assert np.tril(found) == pytest.approx(np.tril(dense.T @ (own[:, None] * dense)))
    with pytest.raises(ValueError, match="out of range"):
        _core.cell_products(cell, size - np.array([0, 0, 6]), weight, np.zeros((4, 5, 5)))


def test_curves_recover_the_effects():
    frame = table(n=4000)
    model = bt.AdditiveRegressor(interactions=0).fit(frame[[*INPUTS, "amount"]], "amount")
    curve = next(each for each in model.curves_ if each["columns"] == ["age"])
    truth = np.sin(np.append(curve["bins"], 79.0) / 10)
    assert np.corrcoef(curve["values"][:-1, 0], truth)[0, 1] > 0.99
    error = np.abs(curve["values"][:-1, 0] - (truth - np.average(truth, weights=curve["weight"][:-1])))
    assert np.mean(error < 3 * curve["errors"][:-1, 0]) > 0.9


@pytest.mark.parametrize(("direction", "sign"), [("up", 1), ("down", -1)])
def test_a_monotone_curve_never_turns(direction, sign):
    frame = table()
    model = bt.AdditiveClassifier(monotone={"age": direction}).fit(frame[[*INPUTS, "paid"]], "paid")
    curve = next(each for each in model.curves_ if each["columns"] == ["age"])
    assert (sign * np.diff(curve["values"][:-1, 0]) >= 0).all()
    assert all("age" not in each["columns"] for each in model.curves_ if len(each["columns"]) == 2)


def test_a_pair_is_found_where_columns_interact_and_not_where_they_do_not():
    random = np.random.default_rng(0)
    x = random.normal(size=(3000, 4))
    rows = {f"x{j}": x[:, j] for j in range(4)}
    apart = {**rows, "y": x[:, 0] + x[:, 1] + random.normal(size=3000)}
    together = {**rows, "y": x[:, 0] * x[:, 2] + x[:, 1] + random.normal(size=3000)}
    assert all(len(each["columns"]) == 1 for each in bt.AdditiveRegressor().fit(apart, "y").curves_)
    found = [each["columns"] for each in bt.AdditiveRegressor(interactions=3).fit(together, "y").curves_]
    assert ["x0", "x2"] in found
    assert bt.AdditiveRegressor(interactions=0).fit(together, "y").curves_[-1]["columns"] == ["x3"]


def test_smooth_curves_have_fewer_pieces_within_their_errors():
    frame = table()
    columns = [*INPUTS, "paid"]
    rough = bt.AdditiveClassifier(interactions=0).fit(frame[columns], "paid")
    smooth = bt.AdditiveClassifier(interactions=0, smooth=1.0).fit(frame[columns], "paid")
    assert smooth.model_.size < rough.model_.size / 3
    for own, other in zip(smooth.curves_, rough.curves_, strict=True):
        assert (np.ptp(own["values"] - other["values"], axis=0) <= 2.001 * other["errors"].max() + 1e-9).all()


def test_no_curve_within_the_margins_has_fewer_pieces():
    random = np.random.default_rng(0)
    values, margin = random.normal(size=12), random.uniform(0.1, 0.8, 12)
    found = pieces(values[:, None], margin[:, None], np.ones(12))[:, 0]
    assert (np.abs(found - values) <= margin + 1e-12).all()
    least = [0] + [99] * 12
    for end in range(1, 13):
        for start in range(end):
            if (values - margin)[start:end].max() <= (values + margin)[start:end].min():
                least[end] = min(least[end], least[start] + 1)
    assert 1 + np.count_nonzero(np.diff(found)) <= least[-1]


def test_an_edit_by_hand_changes_the_prediction_and_is_recorded_everywhere(tmp_path):
    frame = table()
    model = bt.AdditiveClassifier(interactions=0).fit(frame[[*INPUTS, "paid"]], "paid")
    curve = next(each for each in model.curves_ if each["columns"] == ["job"])
    model.set_curve("job", np.zeros(len(curve["values"])))
    same = frame[INPUTS].assign(job="cook")
    assert np.array_equal(model.predict_proba(frame[INPUTS]), model.predict_proba(same))
    assert "edited: job: set by hand" in str(model)
    bt.save(model, tmp_path / "model.baytree")
    assert bt.load(tmp_path / "model.baytree").model_.edits == model.model_.edits
    assert "set by hand" in model.report(path=tmp_path / "page.html").read_text()
    with pytest.raises(ValueError, match=r"give 4 finite numbers"):
        model.set_curve("job", [1.0, 2.0])
    with pytest.raises(ValueError, match="did you mean 'job'"):
        model.set_curve("jobs", [1.0, 2.0])


def test_missing_values_are_a_point_of_their_own():
    random = np.random.default_rng(0)
    x = random.normal(size=500)
    is_missing = random.random(500) < 0.3
    rows = {"x": np.where(is_missing, np.nan, x), "y": np.where(is_missing ^ (random.random(500) < 0.1), "yes", "no")}
    model = bt.AdditiveClassifier().fit(rows, "y")
    assert model.predict_proba({"x": [np.nan, 0.0]})[:, 1] == pytest.approx([0.9, 0.1], abs=0.1)


def test_columns_without_signal_do_not_hurt_small_tables():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(200, 30)), columns=[f"x{j}" for j in range(30)])
    y = random.permutation(np.repeat(["a", "b"], 100))
    test = pd.DataFrame(random.normal(size=(500, 30)), columns=frame.columns)
    probability = bt.AdditiveClassifier().fit(frame, y).predict_proba(test)[:, 1]
    assert np.mean(-np.log(probability) - np.log(1 - probability)) / 2 < 0.75


def test_constant_columns_and_constant_targets_give_a_constant():
    model = bt.AdditiveRegressor().fit({"x": [1.0, 1.0, 1.0], "y": [1.0, 2.0, 3.0]}, "y")
    assert model.predict({"x": [5.0]}) == pytest.approx([2.0])
    assert "constant, not used (1): x" in str(model)
    model = bt.AdditiveRegressor().fit({"x": [1.0, 2.0, 3.0], "y": [2.0, 2.0, 2.0]}, "y")
    assert model.predict({"x": [5.0]}) == pytest.approx([2.0])


def test_separable_classes_have_bounded_curves():
    x = np.arange(200.0)
    model = bt.AdditiveClassifier().fit({"x": x, "y": np.where(x < 100, "a", "b")}, "y")
    assert np.abs(model.curves_[0]["values"]).max() < 50
    assert model.score({"x": x, "y": np.where(x < 100, "a", "b")}, "y") > 0.98


@pytest.mark.parametrize("engine", ["scan"])
def test_rows_on_disk_give_the_same_model(engine, tmp_path):
    table()[[*INPUTS, "paid"]].to_csv(tmp_path / "rows.csv", index=False)
    here = bt.AdditiveClassifier().fit(bt.read(tmp_path / "rows.csv"), "paid")
    there = bt.AdditiveClassifier().fit(getattr(bt, engine)(tmp_path / "rows.csv"), "paid")
    assert np.array_equal(answers(here, table()), answers(there, table()))


def test_threads_change_no_bit():
    frame = table()
    models = [bt.AdditiveClassifier(n_jobs=n).fit(frame[[*INPUTS, "paid"]], "paid") for n in (1, 2)]
    assert np.array_equal(answers(models[0], frame), answers(models[1], frame))


def test_curves_importances_and_plots_are_there():
    frame = table()
    model = bt.AdditiveClassifier(interactions=1).fit(frame[[*INPUTS, "paid"]], "paid")
    assert set(model.importances().terms) >= set(INPUTS)
    assert model.importances().importance == tuple(sorted(model.importances().importance, reverse=True))
    assert "importance" in model.importances()._repr_html_()
    for each in model.curves_:
        assert model.plot(*each["columns"]).get_xlabel() == each["columns"][0]
    assert model.plot() is not None


def test_the_page_draws_every_curve_with_its_band_and_its_rows(tmp_path):
    frame = table()
    model = bt.AdditiveClassifier(interactions=0).fit(frame[[*INPUTS, "paid"]], "paid")
    page = model.report(frame, path=tmp_path / "page.html").read_text()
    assert page.count('<path class="band') == 3
    assert page.count('<path class="rows"') == 2
    assert "two standard errors" in page


def test_models_are_compared_and_differ_by_their_pieces():
    frame = table()[[*INPUTS, "paid"]]
    model = bt.AdditiveClassifier(interactions=0).fit(frame, "paid")
    edited = bt.AdditiveClassifier(interactions=0).fit(frame, "paid").set_curve("job", np.zeros(4))
    assert "job: judge" in str(bt.diff(model, edited))
    found = bt.compare(frame, "paid", models=["additive", "majority"], cv=3, repeats=1)
    assert found.best.name == "additive model" if hasattr(found.best, "name") else True
    assert "pieces" in str(found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"interactions": "all"}, "interactions='all'"),
        ({"interactions": -1}, "interactions=-1"),
        ({"max_bins": 1}, "max_bins=1"),
        ({"smooth": -1}, "smooth=-1"),
        ({"monotone": {"job": "up"}}, "have no order"),
    ],
)
def test_bad_settings_are_answered_with_a_remedy(settings, message):
    with pytest.raises(ValueError, match=message):
        bt.AdditiveClassifier(**settings).fit(table()[[*INPUTS, "paid"]], "paid")


def test_an_axis_has_a_bin_for_every_frequent_value():
    values = np.concatenate([np.zeros(500), np.random.default_rng(0).normal(size=500)])
    rows = SupervisedProblem.of({"x": values, "y": values}, "y", "regression").table
    axis = column_axis(rows, 0, 256, 64)
    assert isinstance(axis, Axis)
    bins = axis.bins(values)
    assert np.count_nonzero(bins == bins[0]) == 500


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        (Axis(0, np.array([2.0, 1.0]), np.empty(0, np.int32)), "ascending"),
        (Axis(2, np.empty(0), np.array([0, 5, 1], np.int32)), "numbered from 0"),
        (Axis(2, np.empty(0), np.array([0, 1], np.int32)), "a bin for each level"),
        (Axis(9, np.empty(0), np.empty(0, np.int32)), "does not exist"),
    ],
)
def test_an_axis_that_does_not_fit_its_column_is_refused(axis, message):
    schema = SupervisedProblem.of(table()[[*INPUTS, "paid"]], "paid").table.schema
    with pytest.raises(ValueError, match=message):
        axis.check(schema)
