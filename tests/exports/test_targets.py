"""Every export answers like the model it came from, run where it is meant to run."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from export_cases import ALL, FAR_MODELS, MIXED, NOT_OF_TREES, ROWS, TREES, TRIALS, fitted
from export_runners import NEEDS, RUNNERS

import baytree as bt
from baytree.exports import EXPORTS

CASES = [*NOT_OF_TREES, *TREES, *TRIALS]


@pytest.fixture(params=RUNNERS)
def target(request: pytest.FixtureRequest) -> str:
    need = NEEDS.get(request.param)
    if need and not shutil.which(need):
        pytest.skip(f"{need} is not installed")
    return request.param


def difference(model, target: str, columns: tuple[str, ...], rows: list[dict], folder: Path) -> float:
    """The largest difference of the answers; the classes must be the same unless two are as good as equal."""
    table = {name: [row[name] for row in rows] for name in columns}
    classes = [str(label) for label in model.classes_] if hasattr(model, "classes_") else None
    rows = [{name: row[name] for name in columns} for row in rows]
    predicted, probability = RUNNERS[target](bt.export(model, target), rows, classes, folder)
    want = model.predict(table)
    if probability is None or classes is None:
        return float(np.abs(np.array(predicted) - want).max() / max(1.0, np.abs(want).max()))
    right = model.predict_proba(table)
    for row, chosen, label in zip(right, predicted, want, strict=True):
        assert chosen == str(label) or abs(row[classes.index(chosen)] - row[classes.index(str(label))]) <= 1e-12
    return float(np.abs(probability - right).max())


def refusal_of(target: str, columns: tuple[str, ...], parameters: dict) -> str:
    """The words in which a target refuses a model that it cannot hold; none where it holds it."""
    if target in ("c", "sql", "onnx") and "review" in columns:
        return "'review' is text"
    is_kernel, is_weka = parameters.get("numeric") == "kernel", parameters.get("conventions") == "weka"
    if target in ("sql", "onnx") and is_weka and is_kernel:
        return "Weka's kernels"
    if target == "onnx" and is_weka:
        return "error function"
    is_urn = "multinomial" in str(parameters) and parameters.get("estimate") == "bayes"
    return "an urn" if target in ("sql", "onnx") and is_urn else ""


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
    assert {*RUNNERS, "python", "json"} == set(EXPORTS)


@pytest.mark.slow
def test_a_chain_of_nodes_is_no_deeper_than_a_stump(target, tmp_path):
    size = np.arange(3000.0)
    model = bt.DecisionTreeClassifier().fit({"size": size}, (size % 2).astype(int))
    if target == "onnx":
        with pytest.raises(ValueError, match="2,999 levels is deeper than the 1,000"):
            bt.export(model, target)
        return
    assert difference(model, target, ("size",), [{"size": float(x)} for x in size[::7]], tmp_path) == 0.0


def test_an_option_of_another_target_is_refused(target):
    with pytest.raises(TypeError, match="sideways"):
        bt.export(fitted(bt.NaiveBayesClassifier, ALL, {}), target, sideways=True)
