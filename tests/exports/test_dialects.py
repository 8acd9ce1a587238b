"""Queries for databases that do not run here are at least SQL of their dialect, with the columns of every other query."""

import pytest
from export_cases import CASES, fitted
from export_compared import refusal_of

import baytree as bt

DIALECTS = ("spark", "bigquery", "snowflake", "tsql")
LONG = 50_000  # letters: reading a longer query takes seconds for each dialect
sqlglot = pytest.importorskip("sqlglot")


@pytest.mark.parametrize(("estimator", "columns", "parameters"), CASES)
@pytest.mark.slow
def test_a_query_can_be_read_in_its_dialect(estimator, columns, parameters):
    if refusal_of("sql", columns, parameters):
        pytest.skip("refused in SQL, which test_targets tries")
    model = fitted(estimator, columns, parameters, rows=range(40))
    if len(bt.export(model, "sql")) > LONG and "events" not in parameters:  # a column's share reads as that of another
        model = fitted(estimator, columns[:2], parameters, rows=range(40))
    names = {}
    for dialect in ("duckdb", *DIALECTS):
        read = sqlglot.parse_one(bt.export(model, "sql", dialect=dialect), read=dialect)
        names[dialect] = [column.rstrip() for column in read.named_selects]
        assert names[dialect] == names["duckdb"]
    assert "prediction" in names["duckdb"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_view_is_a_statement_that_makes_one(dialect):
    model = fitted(bt.CARTClassifier, ("size", "price"), {})
    made = sqlglot.parse_one(bt.export(model, "sql", dialect=dialect, view="scored; --"), read=dialect)
    assert isinstance(made, sqlglot.exp.Create)
    assert made.this.name == "scored; --"
