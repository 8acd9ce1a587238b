"""What pages draw and tell beyond the trees: ellipses, combinations, errors of pruned trees, pictures for notebooks."""

import json
import re

import numpy as np
import pytest

import baytree as bt
from baytree.reporting.distributions import ellipses_view, joint_view

PENGUINS = bt.datasets.load("penguins", as_="pandas")
NUMBERS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
WHOLE = PENGUINS.dropna()


def payload(path):
    """What the scripts of a page read of its only model."""
    found = re.search(r'<script type="application/json" id="payload">(.*?)</script>', path.read_text(encoding="utf-8"))
    return json.loads(found[1])[0]


def test_the_covariances_of_quadratic_classes_are_told_in_the_units_of_the_columns():
    model = bt.QuadraticDiscriminantAnalysis().fit(WHOLE[[*NUMBERS, "species"]], "species")
    summary = model.model_.summary(model.schema_)
    for label, told in zip(summary.classes, summary.covariance, strict=True):
        own = WHOLE.loc[WHOLE["species"] == label, NUMBERS]
        assert np.allclose(told, np.cov(own.T), rtol=1e-8)


def test_no_ellipses_are_drawn_where_nothing_is_learnt_from():
    model = bt.QuadraticDiscriminantAnalysis().fit({"constant": ["u"] * 6, "y": list("aabbab")}, "y")
    assert ellipses_view(model.model_.summary(model.schema_), frozenset()) is None
    assert "a" in model._repr_html_()


def test_ellipses_are_drawn_for_numbers_and_stay_in_their_box():
    model = bt.QuadraticDiscriminantAnalysis(shrinkage=0.1).fit(WHOLE, "species")
    view = ellipses_view(model.model_.summary(model.schema_), frozenset(NUMBERS))
    assert {name for pair in view.pairs for name in (pair.across, pair.upwards)} == set(NUMBERS)
    points = [float(each) for pair in view.pairs for e in pair.ellipses for each in re.findall(r"-?[\d.]+", e.outer)]
    assert min(points) >= 0
    assert max(points[0::2]) <= 300
    assert max(points[1::2]) <= 200


def test_the_parts_of_a_joint_table_are_the_shares_of_its_rows():
    titanic = bt.datasets.load("titanic", as_="pandas")
    model = bt.JointDistribution().fit(titanic, "survived")
    view = joint_view(model.model_.summary(model.schema_), ("no", "yes"))
    first = view.combinations[0]
    columns = dict(test.split(" = ") for test in first.tests)
    same = np.logical_and.reduce([titanic[name] == level for name, level in columns.items()])
    assert first.share == pytest.approx(same.mean())
    died, lived = (length for _, _, length in first.parts)
    assert died / (died + lived) == pytest.approx((titanic["survived"][same] == "no").mean())


def test_rows_that_grew_a_tree_give_its_cross_validated_errors(tmp_path):
    model = bt.CARTClassifier().fit(PENGUINS, "species")
    tree = payload(model.report(PENGUINS, tmp_path / "page.html"))["tree"]
    assert tree["tried"] == "by cross-validation"
    assert [step[3] for step in tree["path"]] == pytest.approx(model.cost_complexity_path(PENGUINS, "species").error)


@pytest.mark.parametrize("estimator", [bt.CARTClassifier(cp=0.0, min_split=4), bt.C45Classifier(), bt.CARTRegressor()])
def test_other_rows_give_the_errors_of_the_pruned_trees_on_them(estimator, tmp_path):
    target = "species" if hasattr(estimator, "predict_proba") else "body_mass_g"
    known = PENGUINS[PENGUINS[target].notna()]
    model, other = estimator.fit(known[::2], target), known[1::2]
    tree = payload(model.report(other, tmp_path / "page.html"))["tree"]
    assert tree["tried"] == "on the rows of this page"

    def lost(pruned):
        return 1 - pruned.score(other, target)

    trees = [model.prune("cost_complexity", step[0]) for step in tree["path"]]
    assert [step[3] for step in tree["path"]] == pytest.approx([lost(each) / lost(trees[0]) for each in trees])


def test_a_notebook_shows_the_tree_as_a_picture():
    view = bt.CARTClassifier().fit(PENGUINS, "species")._html_repr()
    assert 'src="data:image/svg+xml;base64,' in view
    assert view.count("<script") == 1  # the view's own, which needs no data


def test_the_page_of_a_comparison_holds_its_models_and_the_table(tmp_path):
    compared = bt.compare(PENGUINS, "species", models=["nb", "cart"], cv=3, repeats=1)
    text = compared.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("<template ") == len(compared.entries)
    assert 'id="table"' in text
    assert "<template" not in compared._repr_html_()


def test_the_page_of_a_comparison_opens_as_many_models_as_keep_it_small(tmp_path, monkeypatch):
    compared = bt.compare(PENGUINS, "species", models=["nb", "cart"], cv=2, repeats=1)
    whole = compared.report(tmp_path / "page.html").read_text(encoding="utf-8")
    monkeypatch.setattr("baytree.reporting.MAX_COMPARISON_CHARACTERS", len(whole) - 1)
    text = compared.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("<template ") == len(compared.entries) - 1
    assert "Shown as text" in text
    assert "Shown as text" not in whole


def test_names_cannot_change_one_element_of_the_page_of_a_comparison(tmp_path):
    random = np.random.default_rng(0)
    code, number = random.integers(0, 2, 60), random.normal(size=60)

    def elements(names):
        frame = {
            names[0]: np.array(names[1:3], object)[code],
            names[3]: number,
            names[4]: np.array(names[5:7], object)[code],
        }
        page = bt.compare(frame, names[4], models=["nb", "cart"], cv=2, repeats=1).report(tmp_path / "page.html")
        return re.findall(r"<[a-zA-Z][^\\s>]*", re.sub(r"(?s)<script.*?</script>", "", page.read_text(encoding="utf-8")))

    evil = ["</script><b>", "<!--", "</template><script>", "'\"`", "</title><script>", "{{7*7}}", "\u202e<script"]
    assert elements(evil) == elements([f"name{k}" for k in range(7)])
