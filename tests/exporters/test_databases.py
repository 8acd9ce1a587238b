"""Queries answer like the model they came from in every database that runs here."""

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from database_servers import DATABASES, Database
from export_cases import CASES, FAR_MODELS, LEVELS, NUMBERS, ROWS, fitted, wide_fractional, with_card, with_sums
from export_compared import difference_of, refusal_of

import baytree as bt

pytestmark = pytest.mark.databases


IN_TARGETS = "duckdb"  # where test_targets runs every query of this page; here only what it does not try


@pytest.fixture(scope="session", params=[name for name in DATABASES if name != IN_TARGETS])
def database(request: pytest.FixtureRequest):
    with tempfile.TemporaryDirectory(prefix="baytree") as folder:  # pytest's own are closed to the servers' users
        Path(folder).chmod(0o755)
        with DATABASES[request.param](Path(folder)) as started:
            yield started


def difference(model, database: Database, columns: tuple[str, ...], rows: list[dict]) -> float:
    try:
        query = bt.export(model, "sql", dialect=database.dialect)
    except ValueError as refusal:
        assert re.search("columns in one query|nested steps", str(refusal))
        pytest.skip(str(refusal))
    return difference_of(model, columns, rows, lambda given, classes: database.run(query, given, classes))


@pytest.mark.parametrize(("estimator", "columns", "parameters"), CASES)
def test_a_query_answers_like_the_model(database, estimator, columns, parameters):
    if refusal_of("sql", columns, parameters):
        pytest.skip("refused in SQL, which test_targets tries")
    near = 1e-8 if "multinomial" in str(parameters) else 1e-9
    assert difference(fitted(estimator, columns, parameters), database, columns, ROWS) <= near


@pytest.mark.parametrize(("estimator", "columns", "parameters"), FAR_MODELS)
def test_numbers_far_away_are_weighed_as_in_predict(database, estimator, columns, parameters):
    if refusal_of("sql", columns, parameters):
        pytest.skip("refused in SQL, which test_targets tries")
    rows = [{"size": size, "price": -size, "steps": None} for size in (1e300, -1e300, 1e160, 5e-324, 1.7e308)]
    assert difference(fitted(estimator, columns, parameters), database, columns, rows) <= 1e-9


def test_a_chain_of_nodes_is_no_deeper_than_a_stump(database):
    size = np.arange(1000.0)
    model = bt.DecisionTreeClassifier().fit({"size": size}, (size % 2).astype(int))
    assert difference(model, database, ("size",), [{"size": float(x)} for x in size[::17]]) == 0.0


def test_sums_of_columns_are_exported(database):
    model, columns, rows = with_sums("learned")
    assert difference(model, database, columns, rows) <= 1e-9


def test_a_card_has_the_same_points_on_every_row(database):
    model, columns, rows = with_card()
    assert difference(model, database, columns, rows) <= 1e-12
    query = bt.export(model, "sql", dialect=database.dialect, effects=True)
    database.run("SELECT * FROM t", rows, None)
    cursor = database.connection.cursor()
    cursor.execute(query)
    names = [column[0] for column in cursor.description]
    found = sorted((dict(zip(names, row, strict=True)) for row in cursor.fetchall()), key=lambda row: row["row_id"])
    effects = [name for name in names if name.startswith("effect(") and name.endswith(f", {model.good_})")]
    score = [model.model_.start + sum(float(row[name]) for name in effects) for row in found]
    table = {name: [row[name] for row in rows] for name in columns}
    assert score == [float(points) for points in model.points(table)]


def test_a_thousand_nodes_that_rows_pass_in_parts_are_exported(database):
    model, columns, rows = wide_fractional()
    assert difference(model, database, columns, rows) <= 1e-9


@pytest.mark.parametrize("database", DATABASES, indirect=True)
def test_a_view_has_the_columns_of_the_query_and_effects_add_up(database):
    model = fitted(bt.NaiveBayesClassifier, (*NUMBERS, *LEVELS), {})
    rows = [{name: row[name] for name in (*NUMBERS, *LEVELS)} for row in ROWS[:20]]
    database.run("SELECT * FROM t", rows, None)
    cursor = database.connection.cursor()
    cursor.execute("DROP VIEW IF EXISTS scored")
    cursor.execute(bt.export(model, "sql", dialect=database.dialect, view="scored", effects=True))
    cursor.execute("SELECT * FROM scored ORDER BY row_id")
    names = [column[0] for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    cursor.execute("DROP VIEW scored")
    ledgers = model.explain({name: [row[name] for row in rows] for name in rows[0]})
    for row, ledger in zip(found, ledgers, strict=True):
        assert row["prediction"] == ledger.prediction
        for line in ledger.evidence:
            shown = [row[f"effect({line.column}, {name})"] for name in model.classes_]
            assert shown == pytest.approx(line.effect.tolist(), abs=1e-9)
