"""Tables: rows and columns taken from encoded rows are what encoding these rows and columns would have given."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from baytree.data.encoding import SparseColumns, Table, fit_encode, refuse_infinite
from baytree.data.encoding.matrices import matrices
from baytree.data.frames import read
from baytree.data.inference import TableProfile

N = 12
FRAME = {
    "a": np.linspace(0, 1, N),
    "b": list("xyz") * 4,
    "c": np.arange(N) ** 2.0,
    "d": ["good red wine", "bad wine", ""] * 4,
}


def encoded(frame, declared=None):
    raw = read(frame)
    schema, values = fit_encode(raw, TableProfile.of(raw, declared).schema())
    n_rows = raw.n_rows
    return Table(schema, values, np.arange(1.0, n_rows + 1), np.arange(n_rows) % 2)


TABLE = encoded(FRAME, {"d": "text"})


def contents(table):
    """Everything that a table holds, as plain values."""
    columns = [
        [part.tolist() for part in (each.start, each.code, each.count, each.missing)]
        if hasattr(each, "start")
        else each.tolist()
        for each in table.values
    ]
    return [column.name for column in table.schema.columns], columns, table.weight.tolist(), table.label.tolist()


@given(st.tuples(st.integers(0, N), st.integers(0, N)).map(sorted))
def test_a_run_of_rows_is_what_taking_their_places_gives(bounds):
    assert contents(TABLE.rows(*bounds)) == contents(TABLE.take(np.arange(*bounds)))


@given(st.lists(st.integers(0, N - 1), max_size=20), st.data())
def test_taking_twice_is_taking_once(rows, data):
    again = data.draw(st.lists(st.integers(0, max(len(rows) - 1, 0)), max_size=20 if rows else 0))
    rows, again = np.array(rows, int), np.array(again, int)
    assert contents(TABLE.take(rows).take(again)) == contents(TABLE.take(rows[again]))


@given(st.permutations(range(4)))
def test_the_columns_of_a_selection_come_in_its_order(order):
    chosen = TABLE.select(order[:3])
    names, columns, *rest = contents(TABLE)
    assert contents(chosen) == ([names[j] for j in order[:3]], [columns[j] for j in order[:3]], *rest)


def test_columns_of_one_array_are_not_copied():
    whole = np.random.default_rng(0).normal(size=(N, 5))
    table = encoded(whole)
    (found,) = matrices(table, range(5))
    assert np.shares_memory(found, whole)
    assert np.shares_memory(found, table.values[0])
    assert np.array_equal(found, whole)
    assert [part.shape for part in matrices(table.rows(3, 11), (1, 2, 3))] == [(8, 3)]


def test_columns_that_lie_apart_are_put_together():
    table = encoded({name: np.random.default_rng(k).normal(size=N) for k, name in enumerate("abcdefghij")})
    assert np.array_equal(np.hstack(list(matrices(table, range(10)))), np.column_stack(table.values))


def test_a_sparse_table_holds_what_a_dense_one_holds():
    dense = np.random.default_rng(0).integers(0, 2, (N, 4)) * 1.5
    sparse = SparseColumns(sp.csr_array(dense))
    assert np.array_equal(np.column_stack(list(sparse)), dense)
    assert np.array_equal(np.column_stack([sparse[j] for j in range(len(sparse))]), dense)


def test_an_infinite_number_is_named_by_its_column_and_row():
    values = tuple(np.array(each, float) for each in ([1, 2, 3], [4, np.inf, 6]))
    schema = encoded({"a": [1.5, 2.5, 3.5], "size": [4.5, 5.5, 6.5]}).schema
    with pytest.raises(ValueError, match=r"'size'.*row 1|row 1.*'size'"):
        refuse_infinite(schema, values)
