"""Every model in a browser: what-if answers as Python does, a row lights the way it takes, a comparison opens its models."""

import numpy as np
import pytest

import baytree as bt
from conftest import PENGUINS

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")]
LEVELS = PENGUINS[["island", "sex", "species"]].fillna("not told")
EVERY = {
    "cart": bt.CARTClassifier(),
    "tree": bt.DecisionTreeClassifier(max_depth=5),
    "tree-sums": bt.DecisionTreeClassifier(max_split_columns=3, max_depth=5),
    "c45": bt.C45Classifier(),
    "j48": bt.C45Classifier(conventions="j48"),
    "c50-rules": bt.C50Classifier(rules=True),
    "c50-boosted": bt.C50Classifier(trials=5),
    "chaid": bt.CHAIDClassifier(),
    "kernel-bayes": bt.NaiveBayesClassifier(numeric="kernel"),
    "discretized-bayes": bt.NaiveBayesClassifier(numeric="discretized"),
    "lda": bt.LinearDiscriminantAnalysis(),
    "qda": bt.QuadraticDiscriminantAnalysis(),
    "lasso": bt.LogisticRegression(penalty="l1", C=0.1),
    "mars": bt.MARSClassifier(),
    "joint": bt.JointDistribution(alpha=0.5),
    "cart-regressor": bt.CARTRegressor(),
    "linear": bt.LinearRegression(),
    "mars-regressor": bt.MARSRegressor(max_degree=2),
}


def rows_for(name):
    if name == "joint":
        return LEVELS, "species"
    return PENGUINS, "body_mass_g" if name in ("cart-regressor", "linear", "mars-regressor") else "species"


def give(page, row):
    """Fills the form of a page with a row."""
    for column, value in row.items():
        field = page.query_selector(f'[data-testid=whatif] [data-column="{column}"]')
        missing = value is None or value != value
        if field.evaluate("(each) => each.tagName") == "SELECT":
            field.select_option("" if missing else str(value))
        else:
            field.fill("" if missing else repr(float(value)))


def told(page):
    shares = page.eval_on_selector_all("[data-testid=p]", "(all) => all.map((each) => +each.dataset.value)")
    return shares or page.eval_on_selector_all("[data-testid=value]", "(all) => all.map((each) => +each.dataset.value)")


@pytest.mark.parametrize("name", EVERY)
def test_what_if_is_the_answer_of_every_model(name, tmp_path, look):
    frame, target = rows_for(name)
    known = frame[frame[target].notna()]
    model = EVERY[name].fit(known, target)
    page, inputs = look(model.report(path=tmp_path / "page.html")), known.drop(columns=target)
    for place in (0, 3, 160, 300):  # row 3 misses its measures
        row = inputs.iloc[[place]]
        give(page, row.iloc[0])
        wanted = model.predict_proba(row)[0] if hasattr(model, "classes_") else model.predict(row)
        assert told(page) == pytest.approx(list(wanted), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [
        bt.CARTClassifier(),
        bt.CHAIDClassifier(),
        bt.DecisionTreeClassifier(max_depth=4),
        bt.DecisionTreeClassifier(max_split_columns=3, max_depth=4),
    ],
)
def test_the_way_that_is_lit_ends_in_the_leaf_of_the_row_also_where_a_surrogate_decides(estimator, tmp_path, look):
    model = estimator.fit(PENGUINS, "species")
    page, inputs = look(model.report(path=tmp_path / "page.html")), PENGUINS.drop(columns="species")
    page.click("#tree-all")
    for place in (0, 3, 200, 300):
        row = inputs.iloc[[place]].copy()
        row["flipper_length_mm"] = None
        give(page, row.iloc[0])
        page.wait_for_timeout(250)
        lit = page.eval_on_selector_all(".node.lit.leaf", "(all) => all.map((each) => +each.dataset.node)")
        assert lit == [int(model.apply(row)[0])]


def test_a_row_that_is_shared_out_lights_every_branch(tmp_path, look):
    model = bt.C45Classifier().fit(PENGUINS, "species")
    page = look(model.report(path=tmp_path / "page.html"))
    page.click("#tree-all")
    give(page, dict.fromkeys(PENGUINS.columns.drop("species")))
    page.wait_for_timeout(250)
    assert len(page.query_selector_all(".node.lit")) == model.n_nodes_


def test_the_slider_tells_the_error_on_other_rows(pages, look):
    page = look(pages["tree"])
    path = bt.CARTClassifier().fit(PENGUINS, "species").cost_complexity_path(PENGUINS, "species")
    assert page.text_content("#tree-size").endswith(f"{path.error[-1]:.3f} (by cross-validation).")


def test_a_model_of_a_comparison_opens_as_a_whole_and_one_at_a_time(tmp_path, look):
    compared = bt.compare(PENGUINS, "species", models=["nb", "cart", "lda"], cv=3, repeats=1)
    page = look(compared.report(tmp_path / "page.html"))
    row = PENGUINS.drop(columns="species").iloc[[200]]
    for entry in compared.entries:
        page.click(f'details[data-name="{entry.name}"] summary')
        page.wait_for_timeout(300)
        assert len(page.query_selector_all("[data-testid=whatif]")) == 1
        give(page, row.iloc[0])
        assert told(page) == pytest.approx(list(entry.fitted.predict_proba(row)[0]), abs=1e-9)
    assert len(page.query_selector_all("details[open].model")) == 1


def test_the_nearest_change_flips_the_answer(pages, look):
    page = look(pages["tree"])
    give(page, PENGUINS.drop(columns="species").iloc[0])
    page.wait_for_timeout(300)
    before = page.text_content("#whatif-answer")
    change = page.text_content("#whatif-flips li")
    column, value = change.split(" ")[0], change.split(" ")[1]
    field = page.query_selector(f'[data-testid=whatif] [data-column="{column}"]')
    if field.evaluate("(each) => each.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(value)
    assert page.text_content("#whatif-answer") != before
    assert page.text_content("#whatif-answer").endswith(change.split(": ")[1])


def test_a_page_is_complete_when_it_has_loaded_without_any_timer(pages, browser):
    page = browser.new_page()
    page.add_init_script("window.setTimeout = () => 0")
    page.goto(pages["tree"].as_uri())
    assert page.locator("#whatif-flips li").count() > 0
    assert page.locator("#tree-drawing .node.lit").count() > 1
    page.close()


def test_far_cards_of_a_large_tree_are_drawn_when_they_come_into_sight(tmp_path, look):
    random = np.random.default_rng(0)
    frame = {"a": random.normal(size=3000), "b": random.normal(size=3000), "y": random.integers(0, 3, 3000)}
    page = look(bt.DecisionTreeClassifier(min_leaf=2).fit(frame, "y").report(path=tmp_path / "page.html"))
    page.click("#tree-all")
    full = "() => document.querySelectorAll('.node .name').length"
    assert page.evaluate(full) == 0  # blocks without text
    for _ in range(18):
        page.click("#tree-in")
    before = page.evaluate(full)
    assert before > 0
    page.eval_on_selector("#tree-scroll", "(each) => { each.scrollLeft = 20000; each.scrollTop = 1500 }")
    page.wait_for_timeout(200)
    assert before < page.evaluate(full) < len(page.query_selector_all("[data-testid=node]"))


def test_pruning_changes_the_rules_and_the_figures_with_the_tree(pages, look):
    page = look(pages["tree"])
    page.evaluate("{ const p = document.getElementById('tree-prune'); p.value = 1; p.dispatchEvent(new Event('input')); }")
    leaves = int(page.get_attribute('[data-testid="number"][data-name="n_leaves"]', "data-value"))
    assert leaves == len(page.query_selector_all("#rules tbody tr")) == 2
    page.evaluate("{ const p = document.getElementById('tree-prune'); p.value = 99; p.dispatchEvent(new Event('input')); }")
    whole = bt.CARTClassifier().fit(PENGUINS, "species")
    assert len(page.query_selector_all("#rules tbody tr")) == whole.n_leaves_


def test_text_of_cards_is_never_below_eleven_pixels(tmp_path, look):
    page = look(bt.DecisionTreeClassifier().fit(PENGUINS, "species").report(PENGUINS, tmp_path / "page.html"))
    for action in ("tree-all", "tree-fit", "tree-out", "tree-less"):
        page.click(f"#{action}")
        sizes = page.evaluate("""() => [...document.querySelectorAll("#tree-drawing text")]
            .filter((text) => getComputedStyle(text).display !== "none" && text.textContent)
            .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)""")
        assert all(size >= 10.99 for size in sizes)
