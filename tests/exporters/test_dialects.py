"""Queries for databases that do not run here are at least SQL of their dialect, with the columns of every other query."""

import pytest
from export_cases import CASES, fitted
from export_compared import refusal_of

import baytree as bt

DIALECTS = ("spark", "bigquery", "snowflake", "tsql")
LONG = 20_000  # letters: reading a longer query takes half a second for each dialect
sqlglot = pytest.importorskip("sqlglot")


@pytest.mark.parametrize(("estimator", "columns", "parameters"), CASES)
@pytest.mark.slow
def test_a_query_can_be_read_in_its_dialect(estimator, columns, parameters):
    if refusal_of("sql", columns, parameters):
        pytest.skip("refused in SQL, which test_targets tries")
    model = with_short_query(estimator, columns, parameters)
    names = {}
    for dialect in ("duckdb", *DIALECTS):
        read = sqlglot.parse_one(bt.export(model, "sql", dialect=dialect), read=dialect)
        names[dialect] = [column.rstrip() for column in read.named_selects]
        assert names[dialect] == names["duckdb"]
    assert "prediction" in names["duckdb"]


def with_short_query(estimator, columns, parameters):
    """A model of all columns, or of the first where they make a long query: a column's share reads as that of another."""
    for n_columns in (len(columns), *(() if "events" in parameters else (2, 1))):
        model = fitted(estimator, columns[:n_columns], parameters, rows=range(40))
        if len(bt.export(model, "sql")) <= LONG:
            break
    return model


def test_levels_are_compared_as_their_bytes_in_sql_server():
    levels = ["red", "O'Brien", "grün\n", "\U0001f98a", "7"]
    model = bt.NaiveBayesClassifier(schema={"colour": levels}).fit({"colour": levels * 8}, ["a", "b"] * 20)
    read = sqlglot.parse_one(bt.export(model, "sql", dialect="tsql"), read="tsql")
    (case,) = [
        case for case in read.find_all(sqlglot.exp.Case) if case.this is not None and case.find(sqlglot.exp.HexString)
    ]
    found = {bytes.fromhex(each.this.this).decode("utf-16-le"): int(each.args["true"].this) for each in case.args["ifs"]}
    assert found == {level: code for code, level in enumerate(levels)}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_view_is_a_statement_that_makes_one(dialect):
    model = fitted(bt.CARTClassifier, ("size", "price"), {})
    made = sqlglot.parse_one(bt.export(model, "sql", dialect=dialect, view="scored; --"), read=dialect)
    assert isinstance(made, sqlglot.exp.Create)
    assert made.this.name == "scored; --"
