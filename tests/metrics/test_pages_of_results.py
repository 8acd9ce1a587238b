"""Pages of evaluations and of drift: their figures are those of the results, and they hold no rows and no foreign markup."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import baytree as bt

PENGUINS = bt.datasets.load("penguins", as_="pandas")
TITANIC = bt.datasets.load("titanic", as_="pandas")
HOSTILE = '<img src=x onerror="alert(1)">'


class Elements(HTMLParser):
    """Elements of a page with their attributes, outside its own script and style."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def page_of(result, tmp_path):
    return result.report(tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def model():
    return bt.NaiveBayesClassifier().fit(PENGUINS, "species")


def test_the_page_of_an_evaluation_has_its_scores_and_its_confusion_matrix(model, tmp_path):
    evaluation = bt.evaluate(model, PENGUINS)
    elements = Elements(page_of(evaluation, tmp_path)).found
    figures = {a["data-name"]: float(a["data-value"]) for _, a in elements if a.get("data-testid") == "number"}
    assert figures["accuracy"] == evaluation.scores["accuracy"]
    assert figures["AUC"] == evaluation.scores["AUC"]
    assert figures["baseline"] == pytest.approx(152 / 344)
    cells = [float(a["data-value"]) for _, a in elements if a.get("data-testid") == "cell"]
    assert cells == evaluation.confusion.ravel().tolist()


def test_the_page_of_an_evaluation_of_numbers_has_its_errors(tmp_path):
    model = bt.LinearRegression().fit(PENGUINS, "body_mass_g")
    text = page_of(bt.evaluate(model, PENGUINS), tmp_path)
    assert "Absolute error" in text
    assert "Confusion matrix" not in text


def test_the_page_of_drift_names_every_column_and_says_which_have_changed(model, tmp_path):
    drift = bt.drift(model, PENGUINS.head(120))
    elements = Elements(page_of(drift, tmp_path)).found
    columns = {a["data-name"]: a["data-changed"] for _, a in elements if a.get("data-testid") == "drift-column"}
    assert list(columns) == [column.column for column in drift.columns]
    assert [name for name, changed in columns.items() if changed == "true"] == drift.alarms


def test_of_many_classes_the_most_frequent_confusions_are_listed(tmp_path):
    random = np.random.default_rng(0)
    label = random.integers(0, 12, 600)
    frame = {"x": np.where(label == 3, 4, label).astype(float), "y": [f"class {k}" for k in label]}
    model = bt.CARTClassifier(cp=0).fit(frame, "y")
    text = page_of(bt.evaluate(model, frame), tmp_path)
    assert "Most frequent confusions" in text
    pairs = re.findall(r"<td>(class \d+)</td><td>(class \d+)</td>", text)
    assert {"class 3", "class 4"} == set(pairs[0])


@pytest.mark.parametrize("kind", ["drift", "evaluation", "model"])
def test_hostile_names_and_levels_stay_text(kind, tmp_path):
    frame = PENGUINS.rename(columns={"island": HOSTILE}).assign(species=PENGUINS["species"].astype(str) + HOSTILE)
    frame[HOSTILE] = frame[HOSTILE].astype(str) + HOSTILE
    model = bt.CARTClassifier().fit(frame, "species")
    if kind == "model":
        text = model.report(frame, tmp_path / "page.html").read_text(encoding="utf-8")
    else:
        text = page_of(bt.drift(model, frame.head(50)) if kind == "drift" else bt.evaluate(model, frame), tmp_path)
    assert "img" not in {tag for tag, _ in Elements(text).found}


def test_pages_of_parts_and_of_the_whole_are_equal(model, tmp_path):
    parts = bt.drift(model, PENGUINS.head(100)) + bt.drift(model, PENGUINS.iloc[100:])
    assert page_of(parts, tmp_path) == page_of(bt.drift(model, PENGUINS), tmp_path)
