"""Every export answers like the model it came from, run where it is meant to run."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from export_cases import ALL, CASES, FAR_MODELS, MIXED, ROWS, fitted, wide_fractional, with_card, with_pairs, with_sums
from export_compared import difference_of, refusal_of
from export_runners import NEEDS, RUNNERS, compiled

import baytree as bt
from baytree.exporters import EXPORTERS


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.databases] if name == "pmml" else []) for name in RUNNERS])
def target(request: pytest.FixtureRequest) -> str:
    need = NEEDS.get(request.param)
    if need and not shutil.which(need):
        pytest.skip(f"{need} is not installed")
    return request.param


def difference(model, target: str, columns: tuple[str, ...], rows: list[dict], folder: Path) -> float:
    source = bt.export(model, target)
    return difference_of(model, columns, rows, lambda given, classes: RUNNERS[target](source, given, classes, folder))


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "columns", "parameters"), CASES)
def test_an_export_answers_like_the_model(target, estimator, columns, parameters, tmp_path):
    model, refusal = fitted(estimator, columns, parameters), refusal_of(target, columns, parameters)
    if refusal:
        with pytest.raises(ValueError, match=refusal):
            bt.export(model, target)
        return
    # counts in the millions are multiplied by logarithms, whose last bit is not the same in every language
    near = 1e-8 if "multinomial" in str(parameters) else 1e-9
    assert difference(model, target, columns, ROWS, tmp_path) <= near


@pytest.mark.parametrize("estimator", [bt.AdditiveClassifier, bt.AdditiveRegressor])
@pytest.mark.filterwarnings("ignore")
def test_surfaces_of_an_additive_model_are_exported(target, estimator, tmp_path):
    model, columns, rows = with_pairs(estimator)
    assert difference(model, target, columns, rows, tmp_path) <= 1e-9


@pytest.mark.filterwarnings("ignore")
def test_a_scorecard_is_exported_with_missing_and_unseen_values(target, tmp_path):
    model, columns, rows = with_card()
    assert len(model.model_.columns) > 3
    assert difference(model, target, columns, rows, tmp_path) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("tree", [bt.CARTClassifier, bt.C45Classifier, bt.CHAIDClassifier, bt.C50Classifier])
def test_rules_of_a_tree_without_one_of_them_are_exported_like_any_model(target, tree, tmp_path):
    rules = bt.C50Classifier.from_tree(fitted(tree, MIXED, {}))
    assert difference(rules.without(0), target, MIXED, ROWS, tmp_path) <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "columns", "parameters"), FAR_MODELS)
def test_numbers_far_away_are_weighed_as_in_predict(target, estimator, columns, parameters, tmp_path):
    model, sizes = fitted(estimator, columns, parameters), (1e300, -1e300, 1e160, 5e-324, 1.7e308)
    rows = [{"size": size, "price": -size, "steps": None} for size in sizes]
    if refusal_of(target, columns, parameters):
        return
    assert difference(model, target, columns, rows, tmp_path) <= 1e-9


def test_every_target_is_run():
    assert {*RUNNERS, "python", "json", "xlsx"} == set(EXPORTERS)  # test_workbooks.py runs workbooks


@pytest.mark.slow
def test_a_chain_of_nodes_is_no_deeper_than_a_stump(target, tmp_path):
    size = np.arange(3000.0)
    model = bt.DecisionTreeClassifier().fit({"size": size}, (size % 2).astype(int))
    limit = {"onnx": "1,000", "pmml": "300"}.get(target)
    if limit:
        with pytest.raises(ValueError, match=f"2,999 levels is deeper than the {limit}"):
            bt.export(model, target)
        return
    assert difference(model, target, ("size",), [{"size": float(x)} for x in size[::7]], tmp_path) == 0.0


@pytest.mark.slow
def test_a_thousand_nodes_that_rows_pass_in_parts_are_exported(target, tmp_path):
    model, columns, rows = wide_fractional()
    assert 900 < sum(1 for _ in model.nodes()) < 1300
    assert difference(model, target, columns, rows, tmp_path) <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["learned", "category"])
def test_sums_of_columns_are_exported(target, missing, tmp_path):
    model, columns, rows = with_sums(missing)
    assert {len(node["weights"]) for node in model.nodes() if "weights" in node} == {2, 3}
    assert difference(model, target, columns, rows, tmp_path) <= 1e-9


@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler of C is installed")
@pytest.mark.parametrize("estimator", [bt.NaiveBayesClassifier, bt.LinearDiscriminantAnalysis, bt.LogisticRegression])
def test_c_of_many_numbers_and_levels_compiles_without_a_warning(estimator, tmp_path):
    random = np.random.default_rng(0)
    table = {}
    for j in range(8):
        table |= {f"{j} {k}": np.array(list("abc"))[random.integers(0, 3, 90)] for k in ("first", "second")}
        table[f"{j} number"] = random.normal(size=90)
    compiled(bt.export(estimator().fit(table, random.integers(0, 4, 90)), "c"), tmp_path)


def test_an_option_of_another_target_is_refused(target):
    with pytest.raises(TypeError, match="sideways"):
        bt.export(fitted(bt.NaiveBayesClassifier, ALL, {}), target, sideways=True)
