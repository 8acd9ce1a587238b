"""Queries for databases that do not run here are at least SQL of their dialect, with the columns of every other query."""

import pytest
from export_cases import CASES, fitted
from export_compared import refusal_of

import baytree as bt

DIALECTS = ("spark", "bigquery", "snowflake", "tsql")
sqlglot = pytest.importorskip("sqlglot")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("estimator", "columns", "parameters"), CASES)
@pytest.mark.slow
def test_a_query_can_be_read_in_its_dialect(dialect, estimator, columns, parameters):
    if refusal_of("sql", columns, parameters):
        pytest.skip("refused in SQL, which test_targets tries")
    model = fitted(estimator, columns, parameters)
    names = {}
    for own in ("duckdb", dialect):
        read = sqlglot.parse_one(bt.export(model, "sql", dialect=own), read=own)
        names[own] = [column.rstrip() for column in read.named_selects]
    assert names[dialect] == names["duckdb"]
    assert "prediction" in names[dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_view_is_a_statement_that_makes_one(dialect):
    model = fitted(bt.CARTClassifier, ("size", "price"), {})
    made = sqlglot.parse_one(bt.export(model, "sql", dialect=dialect, view="scored; --"), read=dialect)
    assert isinstance(made, sqlglot.exp.Create)
    assert made.this.name == "scored; --"
