"""What pages look like and do in a browser: figures, cards, bars and answers are the model's, on any screen."""

import io
from pathlib import Path

import numpy as np
import pytest

import baytree as bt
from conftest import MODELS, PENGUINS

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")]
GOLDEN = Path(__file__).parent / "golden"
INPUTS = PENGUINS.drop(columns="species")
LOOKS = [("light", 1280, False), ("narrow", 360, False), ("dark", 1280, True)]
BOXES = "(all) => all.map((each) => { const r = each.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom] })"


def boxes(page, selector):
    return np.array(page.eval_on_selector_all(selector, BOXES)).reshape(-1, 4)


def overlaps(found):
    """Pairs of boxes that share more than a pixel."""
    return [
        (i, j)
        for i in range(len(found))
        for j in range(i)
        if (np.minimum(found[i, 2:], found[j, 2:]) - np.maximum(found[i, :2], found[j, :2]) > 1).all()
    ]


@pytest.mark.parametrize("name", [*MODELS, "comparison", "difference"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(name, dark, pages, look, axe):
    page = look(pages[name], dark=dark, bypass=True)
    if name == "tree":
        page.click("#tree-all")
    if name == "comparison":
        page.click("details:last-of-type summary")
    page.wait_for_timeout(200)
    page.evaluate(axe)
    wrong = "violations.map((each) => [each.id, each.nodes[0].html.slice(0, 120)])"
    assert page.evaluate(f"async () => (await axe.run()).{wrong}") == []


@pytest.mark.parametrize("name", [*MODELS, "comparison", "difference"])
def test_no_page_scrolls_sideways_on_a_telephone_or_on_paper(name, pages, look):
    for width, medium in ((360, "screen"), (718, "print")):
        page = look(pages[name], width=width)
        page.emulate_media(media=medium)
        assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("name", [*MODELS, "comparison", "difference"])
def test_every_control_is_reached_by_the_tab_key_and_shows_it(name, pages, look):
    page = look(pages[name])
    able = "a[href],button,input,select,summary,[tabindex='0']"
    n = page.evaluate(
        f'() => [...document.querySelectorAll("{able}")].filter((e) => !e.disabled && e.getClientRects().length).length'
    )
    seen = set()
    for _ in range(n + 3):
        page.keyboard.press("Tab")
        place, is_shown = page.evaluate(
            "() => { const e = document.activeElement, c = getComputedStyle(e);"
            " return [[...document.querySelectorAll('*')].indexOf(e), c.outlineStyle !== 'none'] }"
        )
        if page.evaluate("() => document.activeElement !== document.body"):
            assert is_shown
            seen.add(place)
    assert len(seen) >= n


def test_the_cards_of_a_tree_are_its_nodes_inside_the_drawing_and_not_over_each_other(pages, look):
    model = bt.CARTClassifier().fit(PENGUINS, "species")
    page = look(pages["tree"])
    page.click("#tree-all")
    cards = page.eval_on_selector_all("[data-testid=node]", "(all) => all.map((each) => ({ ...each.dataset }))")
    nodes = {str(node["id"]): node for node in model.nodes()}
    assert {card["node"] for card in cards} == set(nodes)
    for card in cards:
        assert float(card["n"]) == nodes[card["node"]]["n"]
        assert card["prediction"] == nodes[card["node"]]["prediction"]
    found, whole = boxes(page, "[data-testid=node]"), boxes(page, "#tree-drawing")[0]
    assert overlaps(found) == []
    assert (found[:, :2] >= whole[:2] - 1.5).all()
    assert (found[:, 2:] <= whole[2:] + 1.5).all()
    assert overlaps(boxes(page, "text.branch")) == []


def test_the_bars_and_the_words_of_a_card_stay_in_it(pages, look):
    page = look(pages["tree"])
    page.click("#tree-all")
    outside = page.eval_on_selector_all(
        "[data-testid=node]",
        """(all) => all.flatMap((card) => { const face = card.querySelector('.face').getBoundingClientRect();
           return [...card.querySelectorAll('rect, text')].map((each) => each.getBoundingClientRect())
             .filter((r) => r.left < face.left - 1 || r.right > face.right + 1 || r.bottom > face.bottom + 1) })""",
    )
    assert outside == []


def test_the_bars_of_a_card_are_as_long_as_its_classes_are_frequent(pages, look):
    model = bt.CARTClassifier().fit(PENGUINS, "species")
    page = look(pages["tree"])
    widths = page.eval_on_selector_all(
        "[data-node='0'] rect.k", "(all) => all.map((each) => each.getBoundingClientRect().width)"
    )
    counts = np.array(model.nodes()[0]["counts"], float)
    assert np.allclose(np.array(widths) / sum(widths), counts / counts.sum(), atol=0.01)


def test_the_texts_of_a_chart_are_apart(pages, look):
    for name, selector in (("naive-bayes", ".curve"), ("logistic", ".nomogram g")):
        page = look(pages[name])
        for chart in page.query_selector_all(selector):
            found = np.array(chart.eval_on_selector_all("text", BOXES)).reshape(-1, 4)
            shown = found[found[:, 2] > found[:, 0]]
            assert overlaps(shown) == [], (name, chart.text_content())


@pytest.mark.parametrize("name", MODELS)
def test_what_if_is_the_answer_of_the_model(name, pages, look):
    model, page = MODELS[name]().fit(PENGUINS, "species"), look(pages[name])
    for place in range(0, len(INPUTS), 60):
        row = INPUTS.iloc[place]
        for column in INPUTS.columns:
            field = page.query_selector(f'[data-testid=whatif] [data-column="{column}"]')
            missing = row[column] != row[column] or row[column] is None
            if field.evaluate("(each) => each.tagName") == "SELECT":
                field.select_option("" if missing else str(row[column]))
            else:
                field.fill("" if missing else repr(float(row[column])))
        shares = "(all) => all.map((each) => [each.dataset.class, +each.dataset.value])"
        told = page.eval_on_selector_all("[data-testid=p]", shares)
        wanted = dict(zip(model.classes_, model.predict_proba(INPUTS.iloc[[place]])[0], strict=True))
        assert {label: pytest.approx(share, abs=1e-9) for label, share in told} == wanted


ASKED_TREES = {
    "surrogates": lambda: bt.CARTClassifier(cp=0.0, min_split=2),
    "stop": lambda: bt.CARTClassifier(cp=0.0, min_split=2, use_surrogate=0),
    "fractions": lambda: bt.C45Classifier(pruning=None),
    "C5.0": bt.C50Classifier,
    "category": lambda: bt.DecisionTreeClassifier(branching="multiway", missing="category", max_depth=4),
    "merged levels": bt.CHAIDClassifier,
    "costs": lambda: bt.C45Classifier(costs=[[0, 1, 1], [30, 0, 1], [1, 1, 0]]),
}


@pytest.mark.parametrize("name", ASKED_TREES)
def test_the_page_believes_of_a_tree_what_python_believes(name, tmp_path, look):
    """Every answer, a value that is not known among them, leads to the same belief, question and gain."""
    frame = PENGUINS.copy()
    frame.loc[::5, ["bill_length_mm", "island"]] = None
    model = ASKED_TREES[name]().fit(frame, "species")
    page = look(model.report(frame, path=tmp_path / "page.html"))
    for place in (0, 3, 150, 301):
        page.click("[data-testid=restart]")
        talk, row = model.interview(frame), INPUTS.iloc[place]
        for turn in range(8):
            shown = page.eval_on_selector_all("#ask-bars .num", "(all) => all.map((each) => each.textContent)")
            for text, share in zip(shown, talk.belief.values(), strict=True):
                assert "%" in text
                assert text.startswith(("<", ">")) or abs(float(text.rstrip("%\u00a0 ")) - 100 * share) <= 0.51
            question = talk.next()
            if question is None:
                break
            assert page.get_attribute("[data-testid=question]", "data-column") == question.column
            assert abs(float(page.text_content("#ask-gain").split()[-2]) - question.gain) < 0.01
            reply(page, talk, question, None if turn == place % 3 else row[question.column])
        if question is None:
            assert page.get_attribute("[data-testid=answer]", "data-class") == talk.prediction


def reply(page, talk, question, value):
    """Give the same answer on the page and in Python."""
    if value is None or value != value:
        page.click("[data-testid=unknown]")
        talk.answer(None)
    elif question.kind != "numeric":
        page.click(f'[data-testid=choice][data-value="{value}"]')
        talk.answer(value)
    else:
        k = next(k for k, (_, high) in enumerate(question.choices) if high is None or value <= high)
        page.query_selector_all("[data-testid=choice]")[k].click()
        talk.answer(question.choices[k])


@pytest.mark.parametrize("name", MODELS)
def test_the_page_asks_what_python_asks(name, pages, look):
    model, page = MODELS[name]().fit(PENGUINS, "species"), look(pages[name])
    for place in (0, 150, 300):
        page.click("[data-testid=restart]")
        talk, row = model.interview(PENGUINS), INPUTS.iloc[place]
        while (question := talk.next()) is not None:
            assert page.get_attribute("[data-testid=question]", "data-column") == question.column
            told = page.text_content("#ask-gain")
            assert abs(float(told.split()[-2]) - question.gain) < 0.02
            reply(page, talk, question, row[question.column])
        assert page.get_attribute("[data-testid=answer]", "data-class") == talk.prediction


def test_a_large_tree_opens_folded_and_unfolds_on_demand(tmp_path, look):
    random = np.random.default_rng(0)
    frame = {"a": random.normal(size=6000), "b": random.normal(size=6000), "y": random.integers(0, 3, 6000)}
    model = bt.DecisionTreeClassifier(min_leaf=2).fit(frame, "y")
    assert model.n_nodes_ > 3000
    page = look(model.report(path=tmp_path / "page.html"))
    assert len(page.query_selector_all("[data-testid=node]")) < 64
    page.click("#tree-all")
    assert len(page.query_selector_all("[data-testid=node]")) == model.n_nodes_


def test_the_slider_prunes_along_the_cost_complexity_sequence(pages, look):
    page = look(pages["tree"])
    page.eval_on_selector("#tree-prune", "(each) => { each.value = 0; each.dispatchEvent(new Event('input')) }")
    assert len(page.query_selector_all("[data-testid=node]")) == 1
    assert page.text_content("#tree-size").startswith("1 leaf")


def test_arrow_keys_walk_the_tree_and_search_finds_columns(pages, look):
    page = look(pages["tree"])
    page.focus("[data-node='0']")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("() => document.activeElement.dataset.node") != "0"
    page.fill("#tree-find", "flipper")
    assert page.query_selector(".found") is not None


def test_rules_are_sorted_by_what_is_asked_for(pages, look):
    page = look(pages["tree"])
    page.click("#rules button:text('confidence')")
    amounts = page.eval_on_selector_all("#rules tbody tr td:nth-child(3)", "(all) => all.map((each) => +each.dataset.sort)")
    assert amounts == sorted(amounts, reverse=True)


@pytest.mark.parametrize(("scheme", "width", "dark"), LOOKS, ids=[look[0] for look in LOOKS])
@pytest.mark.parametrize("name", [*MODELS, "comparison"])
def test_pages_look_as_they_did_when_someone_last_looked(name, scheme, width, dark, pages, look):
    """Pictures of whole pages in blocks of 20 pixels, compared with tolerance; delete a golden one to have it drawn anew."""
    images = pytest.importorskip("PIL.Image")
    shot = images.open(io.BytesIO(look(pages[name], width=width, dark=dark).screenshot(full_page=True))).convert("RGB")
    small = shot.resize((shot.width // 20, shot.height // 20), images.Resampling.BOX)
    golden = GOLDEN / f"{name}-{scheme}.png"
    if not golden.exists():
        GOLDEN.mkdir(exist_ok=True)
        small.save(golden, optimize=True)
        pytest.fail(f"{golden.name} was not there; it is now: look at it, and run again")
    kept = images.open(golden).convert("RGB")
    assert abs(kept.height - small.height) < 0.06 * kept.height  # fonts differ from machine to machine, a little
    difference = np.abs(np.asarray(kept, float) - np.asarray(small.resize(kept.size), float)).mean()
    assert difference < 14
