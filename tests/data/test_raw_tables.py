"""How strings are read: the laws of forms, of telling, and of prediction."""

from __future__ import annotations

import datetime
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree.data.encoding import fit_encode
from baytree.data.frames import read
from baytree.data.inference import StringEvidence, TableProfile
from baytree.storage import dumps
from law_settings import settings

REPEAT = settings(deadline=None, max_examples=20)
CELLS = st.sampled_from(["1,5", "2.5", "n/a", "13.02.2024", "red", "$3", "yes", "-", "1,234"])
AMOUNTS = st.lists(st.integers(-9_999_999, 9_999_999).map(lambda n: n / 100), min_size=12, max_size=40, unique=True)


def grouped(mark: str, point: str, before: str = "", after: str = ""):
    def write(amount: float) -> str:
        text = f"{abs(amount):,.2f}".translate(str.maketrans({",": mark, ".": point}))
        return f"{'-' if amount < 0 else ''}{before}{text}{after}"

    return write


WRITTEN = {
    "decimal comma": lambda amount: f"{amount:.2f}".replace(".", ","),
    "german": grouped(".", ","),
    "english": grouped(",", "."),
    "french": grouped("\u202f", ","),
    "spaces": grouped(" ", ","),
    "swiss": grouped("'", "."),
    "dollars": grouped(",", ".", before="$"),
    "euros": grouped(".", ",", after=" €"),
    "percent": lambda amount: f"{amount:.2f} %",
    "unit": lambda amount: f"{amount:.2f}kg",
    "plus": lambda amount: f"{amount:+.2f}",
    "accounting": lambda amount: f"({abs(amount):.2f})" if amount < 0 else f"{amount:.2f}",
    "minus at the end": lambda amount: f"{abs(amount):.2f}-" if amount < 0 else f"{amount:.2f}",
    "long minus": lambda amount: f"{amount:.2f}".replace("-", "−"),
    "padded": lambda amount: f"  {amount:.2f} ",
}


def told(frame) -> bt.Schema:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableProfile.of(read(frame)).schema()


@pytest.mark.parametrize("form", WRITTEN)
@given(amounts=AMOUNTS)
@REPEAT
def test_numbers_written_in_any_form_are_read_back(form, amounts):
    amounts = [round(amount, 2) for amount in amounts]
    cells = [WRITTEN[form](amount) for amount in amounts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = bt.GaussianNB().fit({"x": cells, "y": np.arange(len(cells)) % 2}, "y")
    assert model._encoded({"x": cells}).values[0].tolist() == amounts


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %b %Y", "%B %d, %Y", "%Y/%m/%d"])
@given(days=st.lists(st.integers(0, 20_000), min_size=40, max_size=60, unique=True))
@REPEAT
def test_dates_written_in_any_form_are_read_back_where_one_of_them_tells(form, days):
    dates = [datetime.date(1990, 1, 31), *(datetime.date(1980, 1, 1) + datetime.timedelta(days=day) for day in days)]
    frame = {"x": [day.strftime(form) for day in dates]}
    _, (values,) = fit_encode(read(frame), told(frame))
    assert values.tolist() == [(day - datetime.date(1970, 1, 1)).days for day in dates]


@given(
    cells=st.lists(st.sampled_from(["1,5", "2.5", "n/a", "13.02.2024", "red", "$3", "yes", "-", "1,234"]), min_size=2),
    cut=st.integers(),
)
@REPEAT
def test_the_evidence_of_parts_adds_up_to_the_evidence_of_the_whole(cells, cut):
    cut %= len(cells)
    parts = [StringEvidence.of(part, [1] * len(part)) for part in (cells[:cut], cells[cut:])]
    assert parts[0] + parts[1] == StringEvidence.of(cells, [1] * len(cells))


def test_the_notes_of_parts_are_the_notes_of_the_whole():
    frame = pd.DataFrame({"size": [f"{k},5" for k in range(40)], "id": range(40), "day": ["13.02.2024", "01.03.2024"] * 20})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = TableProfile.of(read(frame[:17])) + TableProfile.of(read(frame[17:]))
        assert parts.schema().notes == TableProfile.of(read(frame)).schema().notes


def test_a_csv_and_a_parquet_file_of_the_same_table_give_the_same_model(tmp_path):
    rows = {"size": [f"{k % 9},5" for k in range(60)], "colour": ["red", "NA", "blue", ""] * 15, "day": ["13.02.2024"] * 60}
    table = pl.DataFrame({**rows, "y": ["a" if k % 9 > 4 else "b" for k in range(60)]})
    table.write_csv(tmp_path / "t.csv")
    table.write_parquet(tmp_path / "t.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [bt.CARTClassifier().fit(bt.read(tmp_path / f"t.{kind}"), "y") for kind in ("csv", "parquet")]
    assert dumps(models[0]) == dumps(models[1])


def test_one_cell_decides_whether_the_day_or_the_month_comes_first():
    assert told({"x": ["03/04/2024", "13/02/2024"] * 5})["x"].form.order == "dmy"
    assert told({"x": ["03/04/2024", "02/13/2024"] * 5})["x"].form.order == "mdy"


def test_the_other_columns_decide_what_a_comma_before_three_digits_means():
    open_, commas = ["1,234", "2,345"] * 6, ["1,5", "22,75"] * 6
    with pytest.warns(bt.BaytreeWarning, match="'1,234' is read as decimals, as in other columns"):
        assert TableProfile.of(read({"x": open_, "z": commas})).schema()["x"].form.decimal == ","
    with pytest.warns(bt.BaytreeWarning, match="'1,234' is read as thousands"):
        assert TableProfile.of(read({"x": open_})).schema()["x"].form.decimal == "."


ROWS = {
    "size": [1.0, 2.0, 3.0, 4.0] * 6,
    "colour": ["red", "blue"] * 12,
    "level": ["1", "2", "x"] * 8,
    "y": ["a", "a", "b", "b"] * 6,
}


@pytest.fixture
def model():
    return bt.DecisionTreeClassifier().fit(ROWS, "y")


def test_levels_in_another_case_are_matched_and_told():
    model = bt.NaiveBayesClassifier().fit(ROWS, "y")
    with pytest.warns(bt.BaytreeWarning, match="' RED ' is read as 'red'"):
        found = model.predict_proba({"size": [1.0], "colour": [" RED "], "level": [1.0]})
    assert np.array_equal(found, model.predict_proba({"size": [1.0], "colour": ["red"], "level": ["1"]}))


def test_a_new_level_is_told(model):
    with pytest.warns(bt.BaytreeWarning, match="'purple' was not seen in training and is treated as missing"):
        model.predict({"size": [1.0], "colour": ["purple"], "level": ["1"]})


def test_a_cell_that_cannot_be_read_is_missing_and_told_or_refused(model):
    with pytest.warns(bt.BaytreeWarning, match="'wide' is not a number and is treated as missing"):
        model.predict({"size": ["wide"], "colour": ["red"], "level": ["1"]})
    with pytest.raises(ValueError, match="'wide' is not a number"):
        bt.DecisionTreeClassifier(unseen="error").fit(ROWS, "y").predict(
            {"size": ["wide"], "colour": ["red"], "level": ["1"]}
        )


def test_a_column_that_decides_no_answer_may_be_absent(model):
    assert model.predict({"size": [1.0, 4.0]}).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="'size' of the training data is missing"):
        model.predict({"colour": ["red"]})


def test_dicts_are_rows_and_no_rows_have_no_answers(model):
    assert model.predict({"size": 4.0, "colour": "red", "level": "1"}).tolist() == ["b"]
    assert model.predict([{"size": 1.0}, {"size": 4.0}]).tolist() == ["a", "b"]
    assert model.predict([]).tolist() == []
    assert model.predict_proba(pd.DataFrame(ROWS)[:0]).shape == (0, 2)
    assert model.explain(pd.DataFrame(ROWS)[:0]) == []


@pytest.mark.parametrize("model", [bt.CARTClassifier, bt.NaiveBayesClassifier, bt.LinearDiscriminantAnalysis])
def test_a_named_target_with_one_class_is_refused_and_arrays_follow_scikit_learn(model):
    rows, labels = {"x": [1.0, 2.0]}, ["a", "a"]
    with pytest.raises(ValueError, match="the target 'y' has only one class, 'a': there is nothing to learn"):
        model().fit({**rows, "y": labels}, "y")
    assert model().fit(rows, labels).predict(rows).tolist() == labels
    if hasattr(model, "partial_fit"):
        assert model().partial_fit(rows, labels).partial_fit(rows, ["b", "b"]).classes_.tolist() == ["a", "b"]
        assert model().partial_fit(rows, labels, classes=["a", "b"]).classes_.tolist() == ["a", "b"]


def test_batches_are_told_of_as_if_they_had_come_at_once():
    def rows(first):
        numbers = range(first, first + 20)
        missing = ["n/a" if k == first else str(k) for k in numbers]
        return {"x": [f"{k},5" for k in numbers], "w": missing, "y": ["a", "b"] * 10}

    whole = {name: rows(0)[name] + rows(20)[name] for name in "xwy"}
    batches = bt.NaiveBayesClassifier().partial_fit(rows(0), "y").partial_fit(rows(20), "y")
    assert batches.schema_ == bt.NaiveBayesClassifier().fit(whole, "y").schema_
    later = bt.NaiveBayesClassifier().fit({**rows(0), "w": [1.0] * 20}, "y").partial_fit(rows(20), "y")
    assert any("'n/a' stands for a missing value" in note.done for note in later.schema_.notes)


def test_numbers_in_units_that_go_together_are_brought_to_one():
    rows = {"x": [f"{k} kg" if k % 3 else f"{k * 1000} g" for k in range(1, 13)], "y": ["a", "b"] * 6}
    with pytest.warns(
        bt.BaytreeWarning, match="numbers in 2 units \\(g, kg\\), such as '12000 g', '1 kg', are all converted to kg"
    ):
        model = bt.CARTClassifier(min_split=2).fit(rows, "y")
    assert model._encoded(rows).values[0].tolist() == list(range(1, 13))


def test_numbers_in_units_that_cannot_be_compared_are_never_called_an_identifier():
    rows = {"x": [f"{'$€'[k % 2]}{k}.5" for k in range(12)], "z": [1.0, 2.0] * 6, "y": ["a", "b"] * 6}
    with pytest.warns(bt.BaytreeWarning, match=r"is left out: numbers in 2 units \(\$, €\), such as .*, cannot be compared"):
        model = bt.CARTClassifier().fit(rows, "y")
    assert model.schema_.names == ("z",)
    assert not any("identif" in note.done for note in model.schema_.notes)
    numbers = bt.CARTClassifier(schema={"x": "numeric"}).fit(rows, "y")
    assert numbers._encoded(rows).values[0].tolist() == [k + 0.5 for k in range(12)]


@pytest.mark.parametrize("first", [20240101, 45000, 1_700_000_000, 1_700_000_000_000])
def test_numbers_that_are_dates_are_told_and_read_as_declared(first):
    rows = {"date": [first + k for k in range(12)], "y": ["a", "b"] * 6}
    told = bt.CARTClassifier().fit(rows, "y").schema_
    assert any("may be dates" in note.done for note in told.notes)
    for table in (rows, {**rows, "date": [str(number) for number in rows["date"]]}):
        model = bt.CARTClassifier(schema={"date": "date"}).fit(table, "y")
        column = model.schema_["date"]
        assert column.show(model._encoded(table).values[0][0])[:4] in ("2023", "2024")


def test_dates_that_stand_for_no_value_are_named(tmp_path):
    path = tmp_path / "t.csv"
    days = "".join(f"{k:02d}.03.2024;2024-03-{k:02d};{'ab'[k % 2]}\n" for k in range(1, 20))
    path.write_text("d;e;y\n" + days + "01.01.1900;1900-01-01;a\n" * 2)
    with pytest.warns(bt.BaytreeWarning) as said:
        frame = bt.read(path, missing=None)
    texts = [str(each.message) for each in said]
    assert any("column 'd': 01.01.1900 lies far from the other values (01.03.2024 to 19.03.2024)" in text for text in texts)
    assert any("column 'e': 1900-01-01 lies far from the other values (2024-03-01 to 2024-03-19)" in text for text in texts)
    with pytest.warns(bt.BaytreeWarning):
        gone = bt.read(path, missing="01.01.1900,1900-01-01")
    assert frame["e"].null_count() == 0
    assert gone["d"].null_count() == gone["e"].null_count() == 2


def test_forms_and_notes_survive_a_model_file(tmp_path):
    rows = {"size": ["1,5", "2,5", "3,5", "4,5"], "day": ["13.02.2024", "01.03.2024"] * 2, "y": ["a", "a", "b", "b"]}
    model = bt.DecisionTreeClassifier().fit(rows, "y")
    bt.save(model, tmp_path / "m.baytree")
    assert bt.load(tmp_path / "m.baytree").schema_ == model.schema_
    assert bt.load(tmp_path / "m.baytree").predict({"size": "4,5", "day": "14.02.2024"}).tolist() == ["b"]


def test_cuts_of_dates_are_dates():
    days = [f"{day:02d}.01.2024" for day in range(1, 31)]
    tree = str(bt.CARTClassifier().fit({"day": days, "y": ["a"] * 15 + ["b"] * 15}, "y"))
    assert "day before 2024-01-16" in tree
    assert "day from 2024-01-16 on" in tree


@pytest.mark.parametrize("tree", [bt.C45Classifier, bt.C50Classifier, bt.CHAIDClassifier, bt.DecisionTreeClassifier])
def test_cuts_of_times_name_no_microsecond_after_them(tree):
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=2 * k) for k in range(60)]
    model = tree().fit({"day": days}, ["a"] * 30 + ["b"] * 30)
    texts = [str(model), str(model.explain({"day": days[:1]})[0]), model.export_text(), model.to_dot()]
    assert not [text for text in texts if "00001" in text or "T00:00" in text]
    assert "day up to 2024-0" in str(model)
    assert "day after 2024-0" in str(model)


def test_parts_of_a_date_can_be_learnt_from():
    days = [str(datetime.date(2024, 1, 1) + datetime.timedelta(days=k)) for k in range(60)]
    model = bt.DecisionTreeClassifier(schema={"day": ("year", "month", "weekday")})
    model.fit({"day": days, "y": ["free" if k % 7 > 4 else "busy" for k in range(60)]}, "y")
    assert model.predict({"day": ["2025-01-04", "2025-01-06"]}).tolist() == ["free", "busy"]


def test_dates_are_printed_as_dates_and_answered_with_dates():
    days = [datetime.datetime(2024, 1, 1, 8) + datetime.timedelta(days=k, minutes=7 * k) for k in range(60)]
    rows = {"at": days, "clock": [day.time() for day in days], "y": ["a"] * 30 + ["b"] * 30}
    lines = str(bt.NaiveBayesClassifier().fit(rows, "y")).splitlines()
    assert re.search(r"at +2024-01-1\d ± [\d.]+ days +2024-02-1\d ± ", lines[3])
    assert re.search(r"clock +\d\d:\d\d ± ", lines[4])
    joint = bt.JointDistribution().fit({**rows, "at": [day.date() for day in days]}, "y")
    assert "at = 2024-01-01, clock = 08:00" in str(joint)
    talk = bt.DecisionTreeClassifier().fit(rows, "y").interview()
    assert talk.next().unit == "us"
    assert talk.answer("2024-01-03")["a"] == pytest.approx(1)
    talk.undo()
    assert talk.next() is not None
    assert talk.answer(datetime.datetime(2024, 2, 27))["b"] == pytest.approx(1)


def test_an_export_says_which_forms_it_does_not_read():
    rows = {"size": [f"{k},5" for k in range(8)], "ok": ["ja", "Nein", "JA", "no"] * 2, "y": ["a"] * 4 + ["b"] * 4}
    model = bt.NaiveBayesClassifier().fit(rows, "y")
    with pytest.warns(bt.BaytreeWarning, match="'size' expects numbers such as 39.1"):
        model.export("python")


def test_a_page_does_not_speak_of_an_export(tmp_path):
    rows = {"size": [f"{k},5" for k in range(20)], "y": ["a"] * 10 + ["b"] * 10}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        bt.compare(rows, "y", cv=2, models=["cart"]).report(tmp_path / "compared.html")
        bt.CARTClassifier().fit(rows, "y").report(path=tmp_path / "page.html")
    assert not [each for each in told if "export" in str(each.message)]
    assert "exported program" not in (tmp_path / "compared.html").read_text("utf-8")


def test_cells_of_a_sheet_that_mix_words_with_numbers_or_dates_are_read_as_written():
    rows = pd.DataFrame({"n": [k + 0.5 if k % 5 else "n/a" for k in range(20)], "y": ["a", "b"] * 10})
    rows["d"] = [datetime.date(2024, 1, k + 1) if k % 5 else "13.02.2024" for k in range(20)]
    schema = bt.CARTClassifier().fit(rows, "y").schema_
    assert [column.kind for column in schema.columns] == ["numeric", "numeric"]
    assert schema["d"].unit == "D"
    assert any("'n/a' stands for a missing value" in note.done for note in schema.notes)


def test_a_number_for_no_value_is_named_also_beside_missing_ones_and_in_parts():
    values = np.random.default_rng(0).normal(50, 9, 400)
    values[20::40], values[[31, 77]] = np.nan, 1e20
    labels = np.array(["a", "b"] * 200)
    whole = bt.NaiveBayesClassifier().fit({"x": values, "y": labels}, "y").schema_
    assert any("1e+20 lies far from the other values" in note.done and note.cells == 2 for note in whole.notes)
    parts = bt.NaiveBayesClassifier()
    for rows in (slice(0, 50), slice(50, 200), slice(200, 400)):
        parts.partial_fit({"x": values[rows], "y": labels[rows]}, "y")
    assert parts.schema_ == whole


@pytest.mark.parametrize(("usual", "typo"), [("{}", "12o"), ("{} kg", "12 kh")])
def test_letters_behind_a_single_number_are_a_typing_error_and_no_unit(usual, typo):
    cells = [typo if k == 200 else usual.format(10 + k % 50) for k in range(400)]
    frame = {"x": cells, "y": ["a" if k % 50 < 25 else "b" for k in range(400)]}
    with pytest.warns(bt.BaytreeWarning, match=rf"'{typo}' .*missing"):
        model = bt.NaiveBayesClassifier().fit(frame, "y")
    assert model.schema_["x"].kind.value == "numeric"
    expected = {**frame, "x": [None if k == 200 else cell.split()[0] for k, cell in enumerate(cells)]}
    same = bt.NaiveBayesClassifier().fit(expected, "y")
    assert np.array_equal(model.predict_proba(frame), same.predict_proba(expected))


def test_a_known_unit_behind_a_single_number_is_a_unit():
    cells = ["12 kg" if k == 200 else str(10 + k % 50) for k in range(400)]
    with pytest.warns(bt.BaytreeWarning, match="399 numbers have no unit and are assumed to be in 'kg'"):
        bt.NaiveBayesClassifier().fit({"x": cells, "y": ["a", "b"] * 200}, "y")


def test_a_column_of_ranges_without_a_number_keeps_its_levels(tmp_path):
    (tmp_path / "adult.csv").write_text("hours,income\n40,<=50K\n13,>50K\n50,<=50K\n45,>50K\n")
    with pytest.warns(bt.BaytreeWarning, match="ranges such as '<=50K', without any plain number"):
        frame = bt.read(tmp_path / "adult.csv")
    assert frame["income"].to_list() == ["<=50K", ">50K", "<=50K", ">50K"]
    assert bt.CARTClassifier().fit(frame, "income").classes_.tolist() == ["<=50K", ">50K"]


def test_a_bound_among_numbers_is_read_as_the_number():
    with pytest.warns(bt.BaytreeWarning, match="bounds such as '<0.5' are read as the number itself"):
        model = bt.DecisionTreeClassifier().fit({"dose": ["<0.5", "0.7", "1.2", "0.9"], "y": ["a", "a", "b", "b"]}, "y")
    assert model.schema_["dose"].kind is bt.Kind.NUMERIC
