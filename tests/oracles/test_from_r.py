"""What the page for those who come from R shows gives what R gave: its code runs on R's table, and the fits are compared."""

import re
from pathlib import Path

import numpy as np
import pytest
import reference

import baytree as bt

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "from-r.md"
IRIS = {
    "sepallength": "sepal_length",
    "sepalwidth": "sepal_width",
    "petallength": "petal_length",
    "petalwidth": "petal_width",
    "class": "species",
}
TABLES = {"iris": IRIS, "zoo": {}}


@pytest.fixture(scope="module")
def shown():
    """The names that the page makes."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")

    def load(name):
        frame = reference.frame(name)[0].rename(columns=TABLES[name])
        if name == "iris":
            labels = frame["species"].astype(str).str.removeprefix("Iris-")
            return frame.assign(species=labels)
        return frame

    names: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bt.datasets, "load", load)
        for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
            exec(compile(block, str(PAGE), "exec"), names)
    return names


def assert_close(model, rows, stored, tolerance):
    where, theirs = reference.probabilities(stored)
    assert np.abs(model.predict_proba(rows)[where] - theirs).max() <= tolerance


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "key"),
    [("tree", "default_gini"), ("full", "full_gini"), ("by_information", "default_information"), ("shallow", "maxdepth3")],
)
def test_trees_are_those_of_rpart(shown, name, key):
    fit, model = reference.expected("rpart", "iris")["fits"][key], shown[name]
    shares = {node["id"]: node["prob"] for node in fit["nodes"]}
    theirs = np.array([shares[leaf] for leaf in fit["where"]])
    assert np.abs(model.predict_proba(shown["iris"]) - theirs).max() <= 1e-9
    path = model.cost_complexity_path()
    assert path.splits.tolist() == fit["cptable"]["nsplit"]
    np.testing.assert_allclose(path.risk, fit["cptable"]["rel_error"], rtol=1e-8)
    np.testing.assert_allclose(path.cp[:-1], fit["cptable"]["CP"][:-1], rtol=1e-8)


@pytest.mark.slow
def test_a_pruned_tree_keeps_the_splits_that_are_worth_the_penalty(shown):
    table = reference.expected("rpart", "iris")["fits"]["full_gini"]["cptable"]
    grown = [n for n, cp in zip(table["nsplit"][1:], table["CP"], strict=False) if cp > 0.1]
    assert shown["small"].n_leaves_ == max(grown) + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "key"), [("c50", "tree"), ("rules", "rules"), ("boosted", "boost10"), ("cautious", "tree_CF10_min10")]
)
def test_c50_is_that_of_r(shown, name, key):
    assert_close(shown[name], shown["iris"], reference.expected("c50", "iris")["fits"][key]["prob"], 1e-5)


@pytest.mark.slow
def test_chaid_parts_the_rows_as_r_does(shown):
    fit = reference.expected("chaid_r", "zoo")["fits"]["asymptotic"]
    pairs = set(zip(shown["chaid"].apply(shown["animals"]).tolist(), fit["terminal_node"], strict=True))
    assert len(pairs) == len(set(fit["terminal_node"])) == shown["chaid"].n_leaves_


@pytest.mark.slow
@pytest.mark.parametrize(("name", "key"), [("e1071", "laplace0"), ("laplace", "laplace1")])
def test_naive_bayes_is_that_of_e1071(shown, name, key):
    assert_close(shown[name], shown["iris"], reference.expected("e1071_naivebayes", "iris")["fits"][key], 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "key"), [("lda", "lda"), ("by_mle", "lda_mle"), ("uniform", "lda_uniform_prior"), ("qda", "qda")]
)
def test_discriminants_are_those_of_mass(shown, name, key):
    assert_close(shown[name], shown["iris"], reference.expected("lda_qda", "iris")["fits"][key], 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "key"), [("lasso", "lasso"), ("ridge", "ridge"), ("mixed", "elastic0.5")])
def test_penalised_fits_are_those_of_glmnet(shown, name, key):
    fits = reference.expected("glmnet", "iris")["fits"][key]["at"]
    near = min(fits, key=lambda at: abs(at["lambda"] - 0.0435))
    assert_close(shown[name], shown["iris"], near["prob"], 1e-3)


@pytest.mark.slow
def test_splines_are_those_of_earth(shown):
    fit = reference.expected("earth", "iris")["fits"]["degree1"]
    np.testing.assert_allclose([shown["hinges"].rss_, shown["hinges"].gcv_], [fit["rss"], fit["gcv"]], rtol=1e-8)
