"""Excel workbooks answer like the model they came from, computed by LibreOffice on 200 rows."""

import shutil
import zipfile
from io import BytesIO

import numpy as np
import pytest
from export_cases import CASES, ROWS, fitted, with_card, with_pairs, with_sums
from export_compared import difference_of
from test_exported_costs import COSTS, MODELS, costly
from workbooks import computed, type_rows

import baytree as bt
from baytree.uncertainty.decision import expected_costs

GIVEN = [*ROWS[:100], *ROWS[-100:]]  # rows of the table; and with gaps, new levels, numbers beyond the range


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Every model of the cases that a sheet can hold, with its rows and what LibreOffice computes for them."""
    if not shutil.which("soffice"):
        pytest.skip("LibreOffice is not installed")
    folder = tmp_path_factory.mktemp("workbooks")
    models = {}
    for k, case in enumerate(CASES):
        estimator, columns, parameters = case.values
        models[f"case{k}"] = (case.id, fitted(estimator, columns, parameters), columns, GIVEN)
    models |= {f"pairs{k}": ("pairs", *with_pairs(e)) for k, e in enumerate((bt.AdditiveClassifier, bt.AdditiveRegressor))}
    models["card"] = ("card", *with_card())
    models |= {f"sums{k}": ("sums", *with_sums(missing)) for k, missing in enumerate(("learned", "category"))}
    refused, paths = {}, []
    for name, (_, model, columns, rows) in models.items():
        try:
            content = bt.export(model, "xlsx", rows=len(rows))
        except ValueError as error:
            refused[name] = str(error)
            continue
        paths.append(folder / f"{name}.xlsx")
        type_rows(content, columns, rows, paths[-1])
    return models, refused, computed(paths, folder)


@pytest.mark.libreoffice
@pytest.mark.filterwarnings("ignore")
def test_workbooks_answer_like_their_models_or_are_refused_in_a_sentence(answers):
    models, refused, found = answers
    wrong = {}
    for name, (title, model, columns, rows) in models.items():
        if name in refused:
            assert any(word in refused[name] for word in ("is text", "log Γ", "Weka"))
            continue

        known = [row for row in rows if any(row[c] is not None for c in columns)]
        kept = [k for k, row in enumerate(rows) if any(row[c] is not None for c in columns)]
        cells = [found[name][k] for k in kept]
        blank = [row for k, row in enumerate(found[name][: len(rows)]) if k not in kept]
        assert all(row["prediction"] in (None, "") for row in blank)
        try:
            difference = difference_of(model, columns, known, lambda _, classes, cells=cells: as_answers(cells, classes))
        except (TypeError, ValueError, AssertionError) as error:
            wrong[f"{name} {title}"] = repr(error)[:200]
            continue
        if difference > 1e-9:
            wrong[f"{name} {title}"] = difference
    assert wrong == {}
    assert len(found) > 40


def as_answers(cells, classes):
    if classes is None:
        return [float(row["prediction"]) for row in cells], None
    return [str(row["prediction"]) for row in cells], np.array([[float(row[f"P({c})"]) for c in classes] for row in cells])


HOSTILE = ["=1+1", "@x", "+cmd|' /C calc'!A0", "-2+3", '=HYPERLINK("http://x","y")', "a*", "a?", "A", "a", "'quoted", "{=1}"]


@pytest.mark.libreoffice
@pytest.mark.filterwarnings("ignore")
def test_text_that_looks_like_a_formula_stays_text_and_case_and_wildcards_count(tmp_path):
    if not shutil.which("soffice"):
        pytest.skip("LibreOffice is not installed")
    random = np.random.default_rng(0)
    level = np.array(HOSTILE)[random.integers(0, len(HOSTILE), 400)]
    label = np.array(["=good", "@bad"])[(np.isin(level, HOSTILE[::2]) ^ (random.random(400) < 0.2)).astype(int)]
    table = {"=SUM(A1)": level, "n": random.normal(size=400)}
    model = bt.NaiveBayesClassifier(schema={"=SUM(A1)": "nominal"}).fit(table, label)
    rows = [{"=SUM(A1)": each, "n": 0.5} for each in [*HOSTILE, "b", "=1+2"]]
    path = tmp_path / "hostile.xlsx"
    content = bt.export(model, "xlsx", rows=20)
    with zipfile.ZipFile(BytesIO(content)) as book:
        names = book.namelist()
        assert not [name for name in names if "vba" in name.lower() or "external" in name.lower()]
        formulas = b"".join(book.read(name) for name in names if "worksheets/sheet" in name)
        assert b"HYPERLINK" not in formulas
    type_rows(content, ("=SUM(A1)", "n"), rows, path)
    cells = computed([path], tmp_path)["hostile"]
    assert cells[0]["=SUM(A1)"] == "=1+1"
    table = {name: [row[name] for row in rows] for name in rows[0]}
    want = model.predict_proba(table)
    got = np.array([[float(row[f"P({c})"]) for c in ("=good", "@bad")] for row in cells[: len(rows)]])
    assert np.abs(got - want).max() <= 1e-9
    assert [row["prediction"] for row in cells[: len(rows)]] == model.predict(table).tolist()


def test_a_workbook_has_the_same_bytes_each_time_and_says_what_it_refuses():
    model = bt.LogisticRegression().fit({"x": [0.0, 1.0, 2.0, 3.0] * 5, "y": ["a", "a", "b", "b"] * 5}, "y")
    first, second = bt.export(model, "xlsx"), bt.export(model, "xlsx")
    with zipfile.ZipFile(BytesIO(first)) as a, zipfile.ZipFile(BytesIO(second)) as b:
        assert {n: a.read(n) for n in a.namelist()} == {n: b.read(n) for n in b.namelist()}
    with pytest.raises(ValueError, match="rows=0"):
        bt.export(model, "xlsx", rows=0)


@pytest.mark.libreoffice
@pytest.mark.filterwarnings("ignore")
def test_a_workbook_predicts_the_class_of_least_expected_cost(tmp_path):
    if not shutil.which("soffice"):
        pytest.skip("LibreOffice is not installed")
    models, paths = {}, []
    for name in MODELS:
        model, columns = costly(name)
        models[f"costs{len(models)}"] = (name, model, columns)
        paths.append(tmp_path / f"costs{len(paths)}.xlsx")
        type_rows(bt.export(model, "xlsx", rows=len(GIVEN)), columns, GIVEN, paths[-1])
    found = computed(paths, tmp_path)
    for key, (name, model, columns) in models.items():
        rows = [k for k, row in enumerate(GIVEN) if any(row[c] is not None for c in columns)]
        table = {column: [GIVEN[k][column] for k in rows] for column in columns}
        cost = np.sort(expected_costs(model.predict_proba(table), np.array(COSTS, float)), axis=1)
        is_apart = cost[:, 1] - cost[:, 0] > 1e-9  # the spreadsheet has other logarithms
        predicted = np.array([found[key][k]["prediction"] for k in rows], object)
        assert is_apart.any()
        assert predicted[is_apart].tolist() == model.predict(table)[is_apart].tolist(), name
