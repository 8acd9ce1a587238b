"""Exported Python source answers like the model it came from: the same class on every row, the same probabilities."""

import ast
import json
import math
import subprocess
import sys
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
from export_cases import (
    ALL,
    CLASS,
    COUNTS,
    FAR_MODELS,
    GOLDEN,
    LEVELS,
    N_ROWS,
    NAMES,
    NOT_OF_TREES,
    NUMBERS,
    ROWS,
    TABLE,
    TREES,
    TRIALS,
    fitted,
    with_sums,
)
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree import storage
from baytree.exporters import export
from law_settings import settings


def module_of(source: str) -> dict:
    ast.parse(source, feature_version=(3, 9))
    module: dict = {}
    exec(source, module)
    return module


def compared(model, columns: tuple[str, ...], rows: list[dict]) -> float:
    """The largest difference of the answers; the classes must be the same unless two are as good as equal."""
    table = {name: [row[name] for row in rows] for name in columns}
    module, rows = module_of(export(model, "python")), [{name: row[name] for name in columns} for row in rows]
    want, predicted = model.predict(table), [module["predict"](row) for row in rows]
    if not hasattr(model, "classes_"):
        assert "predict_proba" not in module
        return float(np.abs(np.array(predicted) - want).max() / max(1.0, np.abs(want).max()))
    probability, answers = model.predict_proba(table), [module["predict_proba"](row) for row in rows]
    assert all(list(answer) == [str(label) for label in model.classes_] for answer in answers)
    for answer, chosen, right in zip(answers, predicted, want, strict=True):
        assert chosen == str(right) or abs(answer[chosen] - answer[str(right)]) <= 1e-12
    return float(np.abs(np.array([list(answer.values()) for answer in answers]) - probability).max())


@pytest.mark.parametrize(("estimator", "columns", "parameters"), [*NOT_OF_TREES, *TRIALS])
def test_source_answers_like_the_model(estimator, columns, parameters):
    assert compared(fitted(estimator, columns, parameters), columns, ROWS) <= 1e-12


@pytest.mark.parametrize(("estimator", "columns", "parameters"), TREES)
def test_source_of_a_tree_answers_to_the_last_bit(estimator, columns, parameters):
    model = fitted(estimator, columns, parameters)
    assert model.n_nodes_ > 1
    cuts = model.tree_.cut[np.isfinite(model.tree_.cut)]
    at_cuts = [{**ROWS[k], "size": float(cut), "price": float(np.nextafter(cut, np.inf))} for k, cut in enumerate(cuts[:50])]
    assert compared(model, columns, [*ROWS, *at_cuts]) == 0.0


def test_source_of_sums_of_columns_answers_to_the_last_bit():
    model, columns, rows = with_sums("learned")
    infinite = [{**rows[0], "u": np.inf, "v\n<": sign * np.inf} for sign in (1, -1)]
    assert compared(model, columns, [*rows, *infinite]) == 0.0


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_source_answers_like_the_golden_files(path):
    predictor, golden = storage.read_predictor(path), json.loads(path.with_suffix(".json").read_text())
    module, columns = module_of(export(predictor, "python")), golden["rows"]
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if predictor.schema.target.classes is None:
        assert [module["predict"](row) for row in rows] == pytest.approx(predictor.predict(columns).tolist(), rel=1e-12)
        return
    answers = [list(module["predict_proba"](row).values()) for row in rows]
    assert np.abs(np.array(answers) - predictor.predict_proba(columns)).max() <= 1e-12
    assert [module["predict"](row) for row in rows] == [str(label) for label in predictor.predict(columns)]


OPTIONS = [
    {"ngrams": (1, 2), "stop_words": "english", "tfidf": True},
    {"ngrams": (2, 3), "min_df": 2, "stop_words": ("cat",), "lowercase": False},
    {"hashing": 16, "tfidf": True, "norm": None},
    {"hashing": 1000, "ngrams": (1, 2)},
]
ODD_TEXT = [
    " ",
    "",
    "CAFÉ Café café ǅ İstanbul ﬁn",
    "a b c",
    "the\ncat\0sat",
    "日本語 テキスト",
    "\ud800 cat\udfff dogs",
    None,
]


@pytest.mark.parametrize("estimator", [bt.NaiveBayesClassifier, bt.LogisticRegression])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_documents_become_the_same_words(estimator, options):
    model = estimator(schema={"review": bt.Text(**options)}).fit({"review": TABLE["review"]}, NAMES)
    assert compared(model, ("review",), [*({"review": text} for text in ODD_TEXT), *ROWS]) <= 1e-12


PROGRAM = """import importlib.util, json
spec = importlib.util.spec_from_file_location("exported", "model.py")
exported = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exported)
print(json.dumps([[exported.predict(row), exported.predict_proba(row)] for row in json.load(open("rows.json"))]))
"""


def test_a_real_interpreter_needs_nothing_but_the_module(tmp_path):
    columns = (*NUMBERS, *LEVELS, "review")
    model, rows = fitted(bt.LogisticRegression, columns, {}), [{name: row[name] for name in columns} for row in ROWS]
    export(model, "python", tmp_path / "model.py")
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", PROGRAM], cwd=tmp_path, capture_output=True, check=True)
    answers, table = json.loads(done.stdout), {name: [row[name] for row in rows] for name in columns}
    assert [chosen for chosen, _ in answers] == model.predict(table).tolist()
    assert np.abs(np.array([list(p.values()) for _, p in answers]) - model.predict_proba(table)).max() <= 1e-12


HOSTILE = [
    *('it\'s "so" \\', "a\nb\r\tc", "*/ } int x; /*", '"""\nraise SystemExit\n"""#', "'''\nraise SystemExit\n'''", "nul\0"),
    *(
        "\ud800",
        "\u2028\u202e",
        "{x}",
        "%s",
        "${y}",
        "_softmax",
        "s0",
        "x",
        "CLASSES",
        "__import__('os')",
        "ends\\",
        "",
        " ",
    ),
]
ODD_NAMES = st.sampled_from(HOSTILE) | st.text(st.characters(codec=None), max_size=12)
MAKERS = [bt.NaiveBayesClassifier, bt.LogisticRegression, bt.CARTClassifier, bt.C45Classifier, bt.CHAIDClassifier]


@settings(max_examples=25, deadline=None)
@given(st.lists(ODD_NAMES, min_size=9, max_size=9, unique=True), st.sampled_from(MAKERS))
def test_no_name_can_become_code(names, estimator):
    number_name, level_name, target, *levels = names
    frame = {number_name: TABLE["size"], level_name: [levels[c] for c in CLASS]}
    labels = [levels[3 + c] for c in np.roll(CLASS, 1)]
    model = estimator(schema={level_name: "nominal"}).fit({**frame, target: labels}, target)
    rows = [dict(zip(frame, values, strict=True)) for values in zip(*frame.values(), strict=True)]
    assert compared(model, tuple(frame), rows) <= 1e-12


def test_missing_is_none_nan_or_left_out():
    answer = module_of(export(fitted(bt.NaiveBayesClassifier, ALL, {}), "python"))["predict_proba"]
    assert answer({}) == answer(dict.fromkeys(ALL)) == answer(dict.fromkeys(ALL, math.nan))
    assert answer({}) == answer({"day": pd.NaT, "size": np.nan, "colour": "never seen"})


def test_levels_go_by_their_value_or_by_their_text():
    answer = module_of(export(fitted(bt.CategoricalNB, LEVELS, {}), "python"))["predict_proba"]
    assert answer({"zip": 98101}) == answer({"zip": "98101"}) == answer({"zip": 98101.0}) != answer({})
    assert answer({"flag": True}) == answer({"flag": "True"}) != answer({})


def test_dates_are_dates_times_or_text():
    answer = module_of(export(fitted(bt.NaiveBayesClassifier, ("day", "size"), {}), "python"))["predict_proba"]
    ways = [date(2020, 3, 1), datetime(2020, 3, 1), pd.Timestamp("2020-03-01"), "2020-03-01", "2020-03-01T00:00:00+00:00"]
    assert all(answer({"day": way}) == answer({"day": ways[0]}) for way in ways)
    assert answer({"day": ways[0]}) != answer({})


def test_what_predict_refuses_is_refused():
    module = module_of(export(fitted(bt.NaiveBayesClassifier, ("size", "colour"), {"unseen": "error"}), "python"))
    with pytest.raises(ValueError, match="infinite"):
        module["predict"]({"size": math.inf})
    with pytest.raises(ValueError, match="never seen"):
        module["predict"]({"colour": "never seen"})
    counted = module_of(export(fitted(bt.MultinomialNB, COUNTS, {}), "python"))
    with pytest.raises(ValueError, match="negative"):
        counted["predict"]({"steps": -1})


def test_infinite_numbers_go_through_trees_as_in_predict():
    model = fitted(bt.CARTClassifier, NUMBERS, {"cp": 0.0})
    rows = [{"size": s, "price": p, "steps": -s} for s in (math.inf, -math.inf) for p in (math.inf, None)]
    assert compared(model, NUMBERS, rows) == 0.0


@pytest.mark.parametrize(("estimator", "columns", "parameters"), FAR_MODELS)
def test_numbers_far_away_are_weighed_as_in_predict(estimator, columns, parameters):
    model, sizes = fitted(estimator, columns, parameters), (1e300, -1e300, 1e160, 5e-324, 1.7e308)
    assert compared(model, columns, [{"size": size, "price": -size, "steps": None} for size in sizes]) <= 1e-12


@pytest.mark.parametrize("estimator", [bt.NaiveBayesClassifier, bt.GaussianNB, bt.DecisionTreeClassifier])
def test_a_single_class_has_probability_1(estimator):
    model = fitted(estimator, NUMBERS, {}, np.array(["only"] * N_ROWS, object))
    module = module_of(export(model, "python"))
    assert module["predict_proba"]({"size": 1.0}) == {"only": 1.0}
    assert module["predict"]({}) == "only"


@pytest.mark.slow
def test_a_chain_of_nodes_is_no_deeper_than_a_stump():
    size = np.arange(3000.0)
    model = bt.DecisionTreeClassifier().fit({"size": size}, (size % 2).astype(int))
    module = module_of(export(model, "python"))
    assert [module["predict"]({"size": float(x)}) for x in size[:50]] == [str(int(x % 2)) for x in size[:50]]


def test_the_same_model_gives_the_same_source(tmp_path):
    model = fitted(bt.NaiveBayesClassifier, ALL, {})
    bt.save(model, tmp_path / "m.baytree")
    source = bt.load(tmp_path / "m.baytree").export("python", tmp_path / "m.py")
    assert source == bt.export(model, "python") == (tmp_path / "m.py").read_bytes().decode()


def test_an_unknown_target_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match=r"'cobol'.*'python'"):
        bt.export(fitted(bt.GaussianNB, NUMBERS, {}), "cobol")
