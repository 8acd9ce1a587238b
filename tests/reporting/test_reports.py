"""Pages: one file, nothing from outside, the same elements whatever names say, and no rows unless asked for."""

import html
import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.rendering.page import SCRIPTS, SECTIONS, Page, to_html

PENGUINS = bt.datasets.load("penguins", as_="pandas")
MODELS = [
    bt.NaiveBayesClassifier(),
    bt.NaiveBayesClassifier(numeric="discretized"),
    bt.NaiveBayesClassifier(numeric="kernel"),
    bt.LinearDiscriminantAnalysis(),
    bt.QuadraticDiscriminantAnalysis(),
    bt.LogisticRegression(),
    bt.LogisticRegression(penalty=None),
    bt.CARTClassifier(),
    bt.C45Classifier(),
    bt.ID3Classifier(),
    bt.CHAIDClassifier(),
    bt.OptimalTreeClassifier(),
    bt.NBTreeClassifier(),
    bt.StreamingTreeClassifier(grace=20),
    bt.StreamingTreeClassifier(leaves="adaptive", grace=20),
    bt.DecisionTreeClassifier(max_depth=3, branching="multiway", criterion="entropy"),
    bt.C50Classifier(),
    bt.C50Classifier(rules=True),
    bt.C50Classifier(trials=3, early_stopping=False),
    bt.C50Classifier(rules=True, trials=3, early_stopping=False),
    bt.MARSClassifier(max_degree=2),
    bt.AdditiveClassifier(),
]
EVIL = ["</script><script>window.pwned=1</script>", "<!--", "<script", "'\"`", "\u202e\u2028", "{{7*7}}", "x" * 10_000]


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(sorted(name for name, _ in attrs))))


def written(model, tmp_path, *frame, **options):
    return model.report(*frame, path=tmp_path / "page.html", **options).read_text(encoding="utf-8")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:70])
def test_every_model_becomes_one_file_that_refers_to_nothing_else(model, tmp_path):
    frame = PENGUINS[["island", "sex", "species"]] if isinstance(model, bt.ID3Classifier) else PENGUINS
    text = written(model.fit(frame, "species"), tmp_path, frame)
    assert "default-src 'none'" in html.unescape(text)
    assert "unsafe" not in text
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", text)
    assert 'data-name="accuracy"' in text
    assert f'data-value="{model.score(frame, "species")}"' in text


@pytest.mark.parametrize("model", [bt.CARTRegressor(), bt.LinearRegression()], ids=["tree", "linear"])
def test_a_model_of_numbers_becomes_a_page(model, tmp_path):
    frame = PENGUINS[["island", "flipper_length_mm", "body_mass_g"]].dropna()
    text = written(model.fit(frame, "body_mass_g"), tmp_path, frame)
    assert 'data-name="r2"' in text
    assert 'id="questions"' not in text


def test_a_page_draws_what_each_column_of_splines_adds(tmp_path):
    frame = PENGUINS.dropna()
    model = bt.MARSRegressor(max_degree=2).fit(frame, "body_mass_g")
    text, terms = written(model, tmp_path, frame), model.terms()
    groups = {tuple(sorted({hinge["column"] for hinge in term["hinges"]})) for term in terms} - {()}
    assert text.count('aria-label="What ') == len(groups)
    assert "<rect" in text
    assert 'id="functions"' in written(bt.MARSClassifier(missing="error").fit(frame, "sex"), tmp_path, frame)


@pytest.mark.parametrize("model", [bt.MARSRegressor(max_degree=2), bt.MARSClassifier(max_degree=2)], ids=["number", "class"])
def test_a_function_is_drawn_for_each_column_and_pair_that_acts(model):
    from baytree.reporting.splines import functions_view
    from baytree.reporting.subject import ReportSubject

    frame = PENGUINS[["bill_length_mm", "bill_depth_mm", "body_mass_g", "sex"]].dropna()
    target = "body_mass_g" if isinstance(model, bt.MARSRegressor) else "sex"
    view = functions_view(ReportSubject.of(model.fit(frame, target)._predictor, None))
    groups = {tuple(sorted({h["column"] for h in t["hinges"]})) for t in model.terms()} - {()}
    assert {(each.name,) for each in view.columns} == {each for each in groups if len(each) == 1}
    assert {tuple(sorted((each.across, each.upwards))) for each in view.pairs} == {each for each in groups if len(each) == 2}


def test_every_rule_and_trial_stands_on_a_page(tmp_path):
    rules = bt.C50Classifier(rules=True).fit(PENGUINS, "species")
    text = written(rules, tmp_path)
    assert text.count('class="test"') == sum(len(rule.conditions) for rule in rules.rules_[0])
    assert "where none holds" in text
    boosted = bt.C50Classifier(trials=3, early_stopping=False).fit(PENGUINS, "species")
    assert written(boosted, tmp_path).count("<strong>trial ") == len(boosted.trees_)


def test_a_page_without_rows_tells_what_the_model_has_kept(tmp_path):
    model = bt.CARTClassifier().fit(PENGUINS, "species")
    bt.save(model, tmp_path / "m.baytree")
    text = written(bt.load(tmp_path / "m.baytree"), tmp_path)
    assert 'data-name="n_rows" data-value="344"' in text
    assert 'data-name="accuracy"' not in text
    assert "The table" in text


def test_rows_are_on_a_page_only_where_they_are_asked_for(tmp_path):
    frame = PENGUINS.assign(ring=[f"ring-{k:05d}" for k in range(len(PENGUINS))])
    model = bt.NaiveBayesClassifier().fit(PENGUINS, "species")
    assert "ring-0" not in written(model, tmp_path, frame)
    text = written(model, tmp_path, PENGUINS, rows=2)
    assert text.count("error: row") == 2
    assert text.count("uncertain: row") == 2
    assert "row 7, actual" in written(model, tmp_path, PENGUINS, rows=[7])
    with pytest.raises(ValueError, match="no row 9999"):
        written(model, tmp_path, PENGUINS, rows=[9999])


@pytest.mark.parametrize("model", [MODELS[0], MODELS[5], MODELS[7]], ids=["nb", "logistic", "cart"])
def test_names_cannot_change_one_element_of_a_page(model, tmp_path):
    random = np.random.default_rng(0)
    code, number = random.integers(0, 3, 200), random.normal(size=200)
    answer = (code + (number > 0)) % 3

    def page(names):
        levels, classes = names[:3], names[3:6]
        frame = pd.DataFrame({
            names[6]: pd.Categorical.from_codes(code, levels),
            names[0]: number,
            names[1]: pd.Categorical.from_codes(answer, classes),
        })  # fmt: skip
        return Elements(written(model.fit(frame, names[1]), tmp_path, frame)).found

    assert page(EVIL) == page([f"name{k}" for k in range(6)] + ["y" * 10_000])


def test_json_in_a_page_has_no_sign_that_a_parser_of_html_knows():
    payload = {"</script>": "<!-- <script & ]]>"}
    (text,) = re.findall('id="payload">(.*)</script>', to_html(Page("title", "lead", (), (payload,))))
    assert not set("<>&") & set(text)
    assert json.loads(text) == [payload]


def test_ten_thousand_levels_are_cut_with_their_number(tmp_path):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"code": [f"c{k:05d}" for k in random.permutation(10_000)] * 2, "y": random.integers(0, 2, 20_000)})
    model = bt.NaiveBayesClassifier(schema={"code": "nominal", "y": "nominal"}).fit(frame, "y")
    text = written(model, tmp_path, frame)
    assert "more levels" in text
    assert len(text) < 1_500_000


def test_every_section_has_a_template_and_every_script_is_there():
    templates = files("baytree.rendering.page") / "templates"
    for name in ("page", "fragment", "parts", *(f"sections/{name}" for name in SECTIONS.values())):
        assert (templates / f"{name}.html").read_text(encoding="utf-8")
    for name in SCRIPTS:
        assert (templates / f"scripts/{name}.js").read_text(encoding="utf-8")


def test_a_comparison_becomes_a_page_with_each_model_and_its_score(tmp_path):
    found = bt.compare(PENGUINS, "species", models=["nb", "cart"], cv=3, repeats=1)
    text = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    for entry in found.entries:
        assert f'data-name="{entry.name}" data-value="{found.interval(entry).mean}"' in text
    assert text.count(">recommended<") == 1


def test_rows_without_their_target_are_refused_by_name(tmp_path):
    model = bt.CARTClassifier().fit(PENGUINS, "species")
    with pytest.raises(ValueError, match="'species'"):
        model.report(PENGUINS.drop(columns="species"), tmp_path / "page.html")


def test_a_notebook_shows_the_same_sections_without_scripts():
    model = bt.NaiveBayesClassifier().fit(PENGUINS, "species")
    view = model._repr_mimebundle_()["text/html"]
    assert "Class-conditional distributions" in view
    assert view.count("<script") == 1  # the view's own, which needs no data
    found = bt.compare(PENGUINS, "species", models=["nb"], cv=3, repeats=1)
    assert 'data-testid="model"' in found._repr_html_()


def test_sets_of_another_model_or_of_folds_are_refused_in_words(tmp_path):
    model, other = (bt.NaiveBayesClassifier().fit(rows, "species") for rows in (PENGUINS[::2], PENGUINS))
    held = PENGUINS[1::2]
    with pytest.raises(ValueError, match="of another model"):
        model.report(path=tmp_path / "page.html", sets=bt.conformal(other, held, "species", cv="fitted"))
    folded = bt.conformal(bt.NaiveBayesClassifier(), PENGUINS, "species", method="cross", cv=3)
    with pytest.raises(ValueError, match="cv='fitted'"):
        folded.estimator_.report(path=tmp_path / "page.html", sets=folded)
    with pytest.raises(ValueError, match="give the result of bt"):
        model.report(path=tmp_path / "page.html", sets=0.9)


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("by_class", [False, True])
def test_bounds_tell_the_same_sets_as_ranks(alpha, by_class):
    model, held = bt.NaiveBayesClassifier().fit(PENGUINS[::2], "species"), PENGUINS[1::2]
    sets = bt.conformal(model, held, "species", alpha=alpha, cv="fitted", by_class=by_class)
    np.testing.assert_array_equal(model.predict_proba(PENGUINS) * (1 + 1e-9) >= sets.bounds(), sets.predict_set(PENGUINS))
    line = bt.LinearRegression().fit(PENGUINS[::2].dropna(), "body_mass_g")
    intervals = bt.conformal(line, held.dropna(), "body_mass_g", alpha=alpha, cv="fitted")
    ends = line.predict(PENGUINS)[:, None] + intervals.bounds() * np.array([-1, 1])
    np.testing.assert_allclose(intervals.predict(PENGUINS), ends)


def test_names_cannot_change_one_element_of_the_page_of_a_difference(tmp_path):
    def made(name: str, level: str) -> str:
        rows = {name: [1.0, 2.0, 3.0, 4.0] * 6, "y": ["a", "a", level, level] * 6}
        old, new = bt.CARTClassifier(min_split=2).fit(rows, "y"), bt.CARTClassifier(min_split=2, max_depth=0).fit(rows, "y")
        return bt.diff(old, new, rows).report(tmp_path / "diff.html").read_text(encoding="utf-8")

    harmless, hostile = made("x", "b"), made("<img src=x onerror=alert(1)>", "b</script><script>alert(1)</script>")
    assert harmless.count("<") == hostile.count("<")
    assert "12 of 24 rows predicted differently" in harmless


def test_two_models_that_are_the_same_have_a_page_that_says_so(tmp_path):
    model = bt.CARTClassifier().fit(PENGUINS, "species")
    text = bt.diff(model, model, PENGUINS).report(tmp_path / "diff.html").read_text(encoding="utf-8")
    assert text.count("No differences.") == 2
    assert "contains no rows." in text


COSTS = {
    "Adelie": {"Chinstrap": 1, "Gentoo": 1},
    "Chinstrap": {"Adelie": 20, "Gentoo": 1},
    "Gentoo": {"Adelie": 1, "Chinstrap": 1},
}


def numbers(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in re.findall(r'data-name="(\w+)" data-value="([^"]+)"', text)}


def test_the_page_of_a_model_with_costs_counts_its_answers_and_what_they_cost(tmp_path):
    frame = PENGUINS[["island", "sex", "species"]]
    model = bt.NaiveBayesClassifier(costs=COSTS).fit(frame, "species")
    text = written(model, tmp_path, frame)
    found = numbers(text)
    assert found["accuracy"] == pytest.approx(model.score(frame, "species"))
    assert found["expected_cost"] == pytest.approx(
        np.mean([COSTS[truth].get(answer, 0) for truth, answer in zip(frame.species, model.predict(frame), strict=True)])
    )
    assert "the class of least expected cost" in text
    assert '"costs":[[0.0,1.0,1.0],[20.0,0.0,1.0],[1.0,1.0,0.0]]' in text
    plain = written(bt.NaiveBayesClassifier().fit(frame, "species"), tmp_path, frame)
    assert "expected_cost" not in plain
    assert '"costs"' not in plain


def test_the_page_of_naive_bayes_names_the_columns_that_depend_on_each_other(tmp_path):
    model = bt.NaiveBayesClassifier().fit(PENGUINS, "species")
    text = written(model, tmp_path, PENGUINS)
    found = model.dependence(PENGUINS).pairs
    pairs = [pair for pair in found if pair.fdr < 0.05]
    shown = re.findall(r'data-testid="dependent"><th scope="row">(.*?)</th><td class="num">(.*?)</td>', text)
    assert shown == [(", ".join(pair.columns), f"{pair.bits:.3f}") for pair in pairs[:8]]
    assert f"{len(pairs)} of {len(found)} pairs of columns depend on each other" in text
    assert 'id="dependence"' not in written(model, tmp_path)  # without rows there is nothing to count


def test_a_page_says_where_no_columns_depend_on_each_other(tmp_path):
    random = np.random.default_rng(0)
    frame = {name: random.normal(size=300) for name in ("a", "b")} | {"y": random.integers(0, 2, 300)}
    text = written(bt.NaiveBayesClassifier().fit(frame, "y"), tmp_path, frame)
    assert "None of the 1 pairs of columns depends on another" in text


def test_of_many_columns_a_page_compares_the_most_informative(tmp_path):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    frame = {f"c{j}": random.normal(size=200) + (j < 5) * y for j in range(40)} | {"y": y}
    text = written(bt.NaiveBayesClassifier().fit(frame, "y"), tmp_path, frame)
    assert "Of 40 columns, the 30 most informative are compared." in text
