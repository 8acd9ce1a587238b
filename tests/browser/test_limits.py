"""What pages show of the limits of an answer is what Python says: no answer below a probability, prediction sets, flips."""

import json

import numpy as np
import pytest

import baytree as bt
from conftest import PENGUINS

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")]
COLUMNS = ["bill_length_mm", "body_mass_g", "sex", "species"]
ROWS = PENGUINS[COLUMNS].dropna().sample(frac=1, random_state=1)
TRAIN, HELD = ROWS[:200], ROWS[200:]


def fill(page, row) -> None:
    for name in COLUMNS[:-1]:
        control = page.locator(f'[data-testid=whatif] [data-column="{name}"]')
        control.select_option(row[name]) if name == "sex" else control.fill(str(row[name]))


def slide(page, least: float) -> None:
    set_it = "(e, least) => { e.value = least; e.dispatchEvent(new Event('input')) }"
    page.eval_on_selector("[data-testid=least]", set_it, str(least))


def test_the_page_is_silent_where_the_model_is(tmp_path, look):
    model = bt.NaiveBayesClassifier().fit(TRAIN, "species")
    page = look(model.report(HELD, tmp_path / "page.html"))
    curve = bt.reject_curve(model, HELD)
    for least in (0.0, 0.6, 0.8, 0.95, 1.0):
        slide(page, least)
        told = page.eval_on_selector("[data-testid=answered]", "(e) => ({ ...e.dataset })")
        answered = curve.threshold >= least
        assert float(told["share"]) == pytest.approx(curve.coverage[answered][-1] if answered.any() else 0.0)
        if answered.any():
            assert float(told["right"]) == pytest.approx(curve.accuracy[answered][-1])
        for _, row in HELD[:6].iterrows():
            fill(page, row)
            is_silent = model.predict(HELD.loc[[row.name]], reject=least)[0] is None
            assert page.get_attribute("#whatif-answer", "data-is-silent") == str(is_silent).lower()
            assert ("no prediction" in page.text_content("#whatif-answer")) == is_silent


@pytest.mark.parametrize("by_class", [False, True])
def test_the_set_of_a_row_is_that_of_conformal(by_class, tmp_path, look):
    model = bt.NaiveBayesClassifier().fit(TRAIN, "species")
    sets = bt.conformal(model, HELD, "species", alpha=0.05, cv="fitted", by_class=by_class)
    page = look(model.report(path=tmp_path / "page.html", sets=sets))
    for _, row in TRAIN[:15].iterrows():
        fill(page, row)
        (expected,) = sets.predict(TRAIN.loc[[row.name]])
        assert json.loads(page.get_attribute("[data-testid=set]", "data-value")) == list(expected)


def test_the_interval_of_a_row_is_that_of_conformal(tmp_path, look):
    model = bt.LinearRegression().fit(TRAIN, "bill_length_mm")
    sets = bt.conformal(model, HELD, "bill_length_mm", cv="fitted")
    page = look(model.report(path=tmp_path / "page.html", sets=sets))
    page.locator('[data-testid=whatif] [data-column="body_mass_g"]').fill("4100")
    page.locator('[data-testid=whatif] [data-column="sex"]').select_option("male")
    page.locator('[data-testid=whatif] [data-column="species"]').select_option("Gentoo")
    row = {"body_mass_g": [4100.0], "sex": ["male"], "species": ["Gentoo"]}
    np.testing.assert_allclose(json.loads(page.get_attribute("[data-testid=set]", "data-value")), sets.predict(row)[0])


def test_a_model_of_a_comparison_tells_what_was_kept_back(pages, look):
    page = look(pages["comparison"])
    page.click("details:last-of-type summary")
    page.wait_for_timeout(200)
    slide(page, 0.9)
    assert "by cross-validation" in page.text_content("[data-testid=answered]")


def test_the_page_of_a_difference_lists_the_rows_that_flip(pages, look):
    old, new = (bt.CARTClassifier().fit(rows, "species") for rows in (PENGUINS[::3], PENGUINS))
    page, found = look(pages["difference"]), bt.diff(old, new, PENGUINS)
    rows = page.eval_on_selector_all("[data-testid=flip]", "(all) => all.map((each) => Number(each.dataset.row))")
    assert rows == [flip.row for flip in found.rows.flipped]
    assert page.locator("[data-testid=change]").count() == len(found.schema) + len(found.model)
    page.click("#rows th button >> nth=0")
    falling = page.eval_on_selector_all("[data-testid=flip]", "(all) => all.map((each) => Number(each.dataset.row))")
    assert falling == sorted(rows, reverse=True)
