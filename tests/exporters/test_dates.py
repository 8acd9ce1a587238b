"""Dates and their parts in every export: the answers of `predict`, or a refusal."""

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from database_servers import DATABASES, Database
from export_compared import difference_of
from export_runners import NEEDS, RUNNERS

import baytree as bt

RNG = np.random.default_rng(7)
START = datetime(2004, 2, 27)
TIMES = [START + timedelta(microseconds=int(t)) for t in RNG.integers(0, 5000 * 86_400_000_000, 300)]
EDGES = ["1600-02-29", "1899-12-31", "1900-02-28", "1970-01-01", "1999-12-31", "2000-02-29", "2024-12-31", "2100-03-01"]
EDGES = [datetime.fromisoformat(day) for day in EDGES]
TIMES += [moment - timedelta(microseconds=us) for moment in EDGES for us in (1, 0)]
LABELS = np.array([(t.year % 2 == 0) ^ (t.month < 5) ^ (t.weekday() == 2) for t in TIMES])
PARTS = {"day": ("year", "month", "weekday")}
TYPES = {  # types of a column that hold a date, with whether its time of day is there
    "duckdb": {"TIMESTAMP": True, "DATE": False, "VARCHAR": True, "TIMESTAMPTZ": True},
    "sqlite": {"TEXT": True, "TIMESTAMP": True, "DATE": False},
    "postgres": {"TIMESTAMP": True, "DATE": False, "TEXT": True, "TIMESTAMPTZ": True},
    "mysql": {"DATETIME(6)": True, "DATE": False, "VARCHAR(40)": True},
}
SERVERS = ("postgres", "mysql")
MODELS = {
    "tree": lambda schema: bt.DecisionTreeClassifier(schema=schema),
    "bayes": lambda schema: bt.NaiveBayesClassifier(schema=schema),
}


@pytest.fixture(
    scope="module", params=[pytest.param(n, marks=pytest.mark.databases if n in SERVERS else ()) for n in DATABASES]
)
def database(request: pytest.FixtureRequest):
    with tempfile.TemporaryDirectory(prefix="baytree") as folder:  # pytest's own are closed to the servers' users
        Path(folder).chmod(0o755)
        with DATABASES[request.param](Path(folder)) as started:
            yield started


def fitted(model: str, schema: dict | None, days: list = TIMES) -> object:
    return MODELS[model](schema).fit({"day": days}, LABELS)


def answers(database: Database, query: str) -> list:
    cursor = database.connection.cursor()
    shown = ", ".join(map(database.quoted, ("prediction", "P(False)", "P(True)")))
    cursor.execute(f"SELECT {shown} FROM ({query}) answers ORDER BY row_id")
    return [tuple(row) for row in cursor.fetchall()]


def near(found: list, model, days: list) -> None:
    assert [row[0] for row in found] == [str(label) for label in model.predict({"day": days})]
    assert np.abs(np.array([row[1:] for row in found], float) - model.predict_proba({"day": days})).max() <= 1e-9


@pytest.mark.parametrize("schema", [None, PARTS], ids=["date", "parts"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("of_days", [False, True], ids=["times", "days"])
def test_a_query_reads_dates_times_and_iso_texts(database, model, schema, of_days):
    model = fitted(model, schema, [t.date() for t in TIMES] if of_days else TIMES)
    query = bt.export(model, "sql", dialect=database.dialect)
    for kind, has_time in TYPES[database.dialect].items():
        days = TIMES if has_time else [t.date() for t in TIMES]
        days = [day.replace(tzinfo=UTC) if "TZ" in kind else day for day in days]
        database.fill({"day": kind}, [(day.isoformat(),) for day in days])
        near(answers(database, query), model, days)


TEXTS = [
    "2012-03-05", " 2012-03-05 ", "2012-03-05 10:20", "2012-03-05T10:20:30", "2012-03-05 10:20:30.5",
    "2012-03-05T10:20:30.123456789", "2012-03-05T00:20Z", "2012-03-05 00:20:30+01:30", "2012-03-05 23:20:30.25-0130",
    "2012-03-05 23:20:30z", "2012-03-05 00:10+02", "0001-01-01", "9999-12-31", "", None,
]  # fmt: skip
NO_DATES = [
    "5.3.2012",
    "2012-02-30",
    "2011-02-29",
    "2012-13-01",
    "2012-00-10",
    "2012-01-00",
    "yesterday",
    "12345678.5",
    "2012-03-05x",
]


@pytest.mark.parametrize("schema", [None, PARTS], ids=["date", "parts"])
def test_a_query_reads_iso_texts_with_times_and_zones_and_answers_null_for_any_other(database, schema):
    model = fitted("bayes", schema)
    query = bt.export(model, "sql", dialect=database.dialect)
    text = "VARCHAR(40)" if database.dialect == "mysql" else database.text
    database.fill({"day": text}, [(day,) for day in (*TEXTS, *NO_DATES)])
    found = answers(database, query)
    near(found[: len(TEXTS)], model, TEXTS)
    assert set(found[len(TEXTS) :]) == {(None,) * 3}


def test_numbers_are_no_dates_in_a_query(database):
    query = bt.export(fitted("bayes", None), "sql", dialect=database.dialect)
    database.fill({"day": database.number}, [(20120305,), (1.3e15,)])
    assert set(answers(database, query)) == {(None,) * 3}


@pytest.mark.parametrize("target", [pytest.param(n, marks=[pytest.mark.databases] if n == "pmml" else []) for n in RUNNERS])
@pytest.mark.parametrize("model", MODELS)
def test_parts_of_dates_are_exported(target, model, tmp_path):
    if NEEDS.get(target) and not shutil.which(NEEDS[target]):
        pytest.skip(f"{NEEDS[target]} is not installed")
    sizes = RNG.normal(size=len(TIMES)).tolist()
    table = {"size": sizes, "day": TIMES, "last": sizes}
    fit = MODELS[model](PARTS).fit(table, LABELS)
    rows = [{"size": s, "day": t, "last": s} for s, t in zip(sizes, TIMES, strict=True)] + [
        {"size": 0.1, "day": None, "last": 0.1}
    ]
    source = bt.export(fit, target)
    run = RUNNERS[target]
    assert difference_of(fit, tuple(table), rows, lambda given, classes: run(source, given, classes, tmp_path)) <= 1e-9


@pytest.mark.parametrize("schema", [None, PARTS], ids=["date", "parts"])
@pytest.mark.parametrize("model", MODELS)
def test_python_reads_dates_times_and_iso_texts(model, schema):
    model, module = fitted(model, schema), {}
    exec(bt.export(model, "python"), module)
    assert "datetime.UTC" not in bt.export(model, "python")  # which Python 3.9 has not
    for days in (TIMES, [t.date() for t in TIMES], [t.isoformat() for t in TIMES], TEXTS):
        proba = [list(module["predict_proba"]({"day": day}).values()) for day in days]
        assert np.abs(np.array(proba) - model.predict_proba({"day": days})).max() <= 1e-12
    for text in NO_DATES:
        with pytest.raises(ValueError, match="ISO"):
            module["predict"]({"day": text})


@pytest.mark.parametrize("schema", [None, PARTS], ids=["date", "parts"])
def test_javascript_reads_iso_texts_to_the_microsecond(schema, tmp_path):
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    model = fitted("bayes", schema)
    source, days = bt.export(model, "javascript"), [*(t.isoformat() for t in TIMES), *TEXTS]
    rows = [{"day": day} for day in days]
    run = lambda given, classes: RUNNERS["javascript"](source, given, classes, tmp_path)  # noqa: E731
    assert difference_of(model, ("day",), rows, run) <= 1e-12
    for text in NO_DATES:
        with pytest.raises(Exception, match="exit status"):
            run([{"day": text}], ["False", "True"])


@pytest.mark.parametrize("dialect", ["spark", "bigquery", "snowflake", "tsql"])
def test_a_query_of_parts_can_be_read_in_its_dialect(dialect):
    sqlglot = pytest.importorskip("sqlglot")
    query = bt.export(fitted("bayes", PARTS), "sql", dialect=dialect)
    assert sqlglot.parse_one(query, read=dialect).named_selects[-3:] == ["prediction", "P(False)", "P(True)"]


def test_a_page_opens_and_its_program_takes_a_part_by_its_own_name(tmp_path):
    model = fitted("tree", PARTS)
    assert "weekday" in model.report(path=tmp_path / "page.html").read_text("utf-8")
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    rows = [{"day": t.isoformat(), "day year": t.year, "day month": t.month, "day weekday": f"{t:%a}"} for t in TIMES[:40]]
    others = [{**row, "day": "1980-01-01"} for row in rows]
    source = bt.export(model, "javascript")
    found = [RUNNERS["javascript"](source, each, ["False", "True"], tmp_path)[0] for each in (rows, others)]
    assert found[0] == [str(label) for label in model.predict({"day": TIMES[:40]})]
    assert len(set(found[1])) == 2


def test_a_time_of_day_is_refused_in_sql_with_a_remedy():
    model = bt.CARTClassifier().fit({"at": ["9:30", "10:45", "11:15", "23:10"] * 10}, ["a", "a", "b", "b"] * 10)
    with pytest.raises(ValueError, match="'at' contains times of day"):
        bt.export(model, "sql")
