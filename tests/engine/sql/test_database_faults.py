"""What goes wrong in a database is refused with the column and the remedy, and nothing is written."""

import sqlite3
from decimal import Decimal

import msgspec
import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.storage import dumps

HOSTILE = ['a"b', "a'b", "a`b", "a;b --", "a%sb", "a\\b", "ä ö", "select", "a{b}", 'it\'s "x"']


def without_notes(model):
    """The file of a model without the notes on its columns, some of which are made in memory only."""
    model.schema_ = msgspec.structs.replace(model.schema_, notes=())
    return dumps(model)


def rows_of(column: list, n: int = 20) -> dict:
    return {"x": (column * n)[:n], "y": (["a", "b", "b"] * n)[:n]}


def test_hostile_names_and_levels_are_columns_and_levels(stored):
    r = np.random.default_rng(0)
    frame = pl.DataFrame(
        {name: r.choice(HOSTILE, 60).tolist() for name in HOSTILE} | {"tar'get": r.choice(["'; --", 'b"'], 60).tolist()}
    )
    for make in (bt.NaiveBayesClassifier, bt.CHAIDClassifier, lambda: bt.DecisionTreeClassifier(max_depth=3)):
        here, there = (make().fit(rows, "tar'get") for rows in (frame, stored(frame)))
        assert without_notes(here) == without_notes(there)
    frame = frame.select(*HOSTILE[:2], "tar'get")
    here, there = (bt.LogisticRegression().fit(rows, "tar'get").predict_proba(frame) for rows in (frame, stored(frame)))
    assert np.abs(here - there).max() <= 1e-8


def test_levels_that_a_collation_would_join_stay_apart(stored):
    frame = pl.DataFrame(rows_of(["a", "A", "a ", "ä", "b"], 50))
    here, there = (bt.NaiveBayesClassifier().fit(rows, "y") for rows in (frame, stored(frame)))
    assert here.schema_["x"].levels == there.schema_["x"].levels
    assert without_notes(here) == without_notes(there)


def test_an_empty_table_a_single_class_and_no_labels_are_refused(database, stored):
    frame = pl.DataFrame(rows_of([1.0, 2.0]))
    query = f"{stored(frame).query} WHERE 1 = 0"
    with pytest.raises(ValueError, match="no rows"):
        bt.NaiveBayesClassifier().fit(bt.sql(query, database.connection), "y")
    with pytest.raises(ValueError, match="only one class, 'a'"):
        bt.NaiveBayesClassifier().fit(stored(frame.filter(pl.col("y") == "a")), "y")
    with pytest.raises(ValueError, match="no row has a label in the target column 'y'"):
        bt.NaiveBayesClassifier().fit(stored(frame.with_columns(y=pl.lit(None, pl.String))), "y")
    with pytest.raises(ValueError, match="no target column 'z'; the columns are 'x', 'y'"):
        bt.NaiveBayesClassifier().fit(stored(frame), "z")


def test_missing_values_are_missing_and_infinity_is_refused_by_name(database, stored):
    frame = pl.DataFrame(rows_of([1.0, None, 3.5, 2.0, 7.0]))
    here, there = (bt.GaussianNB().fit(rows, "y") for rows in (frame, stored(frame)))
    assert dumps(here) == dumps(there)
    if database.dialect == "mysql":
        return  # it has neither NaN nor infinity
    if database.dialect != "sqlite":  # it stores NaN as NULL
        nan = frame.with_columns(x=pl.col("x").fill_null(np.nan))
        assert dumps(bt.GaussianNB().fit(stored(nan), "y")) == dumps(here)
    with pytest.raises(ValueError, match=r"column 'x' holds inf, which is infinity; replace it in the query"):
        bt.GaussianNB().fit(stored(frame.with_columns(x=pl.col("x").fill_null(np.inf))), "y")


def test_integers_beyond_doubles_are_refused_with_the_remedy(stored):
    frame = pl.DataFrame(rows_of([2**53 + 1, 2**53 + 5, 3], 30))
    with pytest.raises(ValueError, match=r"column 'x' holds .*no double represents exactly; cast it to a string"):
        bt.NaiveBayesClassifier().fit(stored(frame), "y")


def test_groups_below_min_count_are_not_fetched(stored):
    frame = pl.DataFrame(rows_of(["a"] * 30 + ["b"] * 29 + ["c"], 60))
    with pytest.raises(ValueError, match="a group of this query has 1 rows, fewer than min_count=5"):
        bt.CategoricalNB().fit(stored(frame, min_count=5), "y")
    bt.CategoricalNB().fit(stored(frame.filter(pl.col("x") != "c"), min_count=5), "y")


@pytest.mark.parametrize("model", [bt.LinearDiscriminantAnalysis(), bt.CARTClassifier(cp=0.1), bt.LogisticRegression()])
def test_a_class_or_group_below_min_count_is_refused_before_anything_of_it_is_fetched(stored, model):
    frame = pl.DataFrame({"x": [1.0, 2.0] * 20 + [3.0], "y": ["a"] * 20 + ["b"] * 20 + ["c"]})
    rows = stored(frame, min_count=5)
    with pytest.raises(ValueError, match="a group of this query has 1 rows, fewer than min_count=5"):
        model.fit(rows, "y")
    groups = [query for query in rows.queries if "GROUP BY" in query.sql.upper()]
    assert all(query.rows <= 1 for query in groups)


@pytest.mark.slow
def test_a_thousand_columns_are_counted(stored, database):
    n = 300 if database.dialect == "mysql" else 1000  # MariaDB takes a minute for more
    r = np.random.default_rng(1)
    frame = pl.DataFrame(
        {f"c{j}": r.integers(0, 2, 40).astype(float) for j in range(n)} | {"y": r.choice(["a", "b"], 40).tolist()}
    )
    here, there = (bt.GaussianNB().fit(rows, "y") for rows in (frame, stored(frame)))
    assert dumps(here) == dumps(there)


def test_a_model_without_rows_in_memory_says_what_it_cannot_do(stored):
    rows = stored(pl.DataFrame(rows_of([1.0, 2.0, 5.0])))
    model = bt.GaussianNB().fit(rows, "y")
    for call in (lambda: model.explain(rows), lambda: model.score(rows, "y"), lambda: bt.drift(model, rows)):
        with pytest.raises(ValueError, match="stay in the database"):
            call()


# --- what only one database can show ----------------------------------------------------------------------------------


def test_a_hundred_thousand_levels_are_counted():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'level ' || i % 100000 AS x, i % 3 AS y FROM range(300000) r(i)")
        model = bt.CategoricalNB().fit(bt.sql("t", connection), "y")
        assert len(model.schema_["x"].levels) == 100_000


def test_decimals_and_wide_integers_are_numbers():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (x DECIMAL(10, 2), h HUGEINT, y VARCHAR)")
        rows = [(Decimal(k) / 4, k, "ab"[k % 2]) for k in range(20)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        frame = {"x": [float(x) for x, _, _ in rows], "h": [h for _, h, _ in rows], "y": [y for *_, y in rows]}
        there = bt.GaussianNB(schema={"h": "numeric"}).fit(bt.sql("t", connection), "y")
        here = bt.GaussianNB(schema={"h": "numeric"}).fit(frame, "y")
        assert (here.predict_proba(frame) == there.predict_proba(frame)).all()


def test_an_unsupported_type_is_named_with_the_remedy():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT [1, 2] AS x, TIMESTAMPTZ '2024-01-01' AS moment, 'a' AS y")
        with pytest.raises(TypeError, match=r"column 'x' has the type INTEGER\[\].*cast it in the query"):
            bt.GaussianNB().fit(bt.sql("SELECT x, y FROM t", connection), "y")
        with pytest.raises(TypeError, match="column 'moment' has the type TIMESTAMP WITH TIME ZONE"):
            bt.GaussianNB().fit(bt.sql("SELECT moment, y FROM t", connection), "y")


def test_all_queries_of_a_fit_read_one_snapshot_and_leave_no_transaction(database, stored):
    rows = stored(pl.DataFrame(rows_of([1.0, 2.0, 5.0])))
    bt.GaussianNB().fit(rows, "y")
    if database.dialect == "sqlite":
        assert not database.connection.in_transaction
    if database.dialect == "postgres":
        assert database.connection.info.transaction_status.name == "IDLE"
    with rows.snapshot():
        if database.dialect != "mysql":
            assert rows.database._is_in_transaction()


def test_a_table_that_changes_between_queries_of_a_relation_is_refused():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT i::DOUBLE AS x, i % 2 AS y FROM range(10) r(i)")
        rows = bt.sql(connection.table("t"))
        with pytest.raises(ValueError, match="the table changed"), rows.snapshot():
            connection.execute("INSERT INTO t VALUES (3, 1)")


def test_relations_of_duckdb_and_ibis_and_narwhals_are_fitted_as_they_are():
    duckdb, ibis, nw = map(pytest.importorskip, ("duckdb", "ibis", "narwhals"))
    frame = pl.DataFrame(rows_of([1.0, 2.0, 5.0, 4.0], 40))
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
        relation = connection.table("t")
        table = ibis.duckdb.from_connection(connection).table("t")
        here = dumps(bt.GaussianNB().fit(frame, "y"))
        for rows in (relation, table, nw.from_native(relation), nw.from_native(table)):
            assert dumps(bt.GaussianNB().fit(rows, "y")) == here


def test_a_lost_connection_names_the_query_and_leaves_the_model_as_it_was():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x REAL, y TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(1.0, "a"), (2.0, "b"), (3.0, "b")])
    rows = bt.sql("t", connection)
    model = bt.GaussianNB().fit(rows, "y")
    before = dumps(model)
    connection.close()
    with pytest.raises(ValueError, match=r"sqlite did not answer|closed database"):
        model.fit(rows, "y")
    assert dumps(model) == before


def test_passwords_in_a_url_are_refused_and_not_shown():
    with pytest.raises(ValueError, match="the URL holds a password") as refusal:
        bt.sql("t", "postgresql://me:secret@host/db")
    assert "secret" not in str(refusal.value)


def test_other_objects_are_refused_as_connections():
    with pytest.raises(TypeError, match=r"builtins\.object is not a connection"):
        bt.sql("t", object())
    with pytest.raises(TypeError, match=r"bt\.sql needs a connection"):
        bt.sql("t")
