"""Learning is rounds over parts: rows apart give the model of rows together, and nobody gathers what he can count."""

import numpy as np

from apart import Apart
from baytree.engine.parts import InMemory
from baytree.table.schema import Column, Kind, Schema
from baytree.table.table import Table


def numbers(n_rows):
    schema = Schema((Column("x", Kind.NUMERIC),))
    return Table(schema, (np.arange(float(n_rows)),), np.ones(n_rows))


def test_a_part_knows_how_many_rows_come_before_it():
    seen = Apart(numbers(10), (3, 7)).total(lambda part: [(part.first, len(part))])
    assert seen == [(0, 3), (3, 4), (7, 3)]
    assert numbers(10).rows(4, 9).rows(2, 4).first == 6


def test_what_is_made_of_parts_is_the_same_kept_or_made_anew():
    def squares(part):
        return part.values[0] ** 2

    for rows in (InMemory(numbers(10)), Apart(numbers(10), (3, 7))):
        made = rows.made(squares)
        assert made.total(lambda piece: piece.sum()) == 285
        assert np.concatenate(made.made(lambda piece: piece + 1).gather()).tolist() == [k * k + 1 for k in range(10)]


def test_rows_in_memory_are_made_in_the_parts_that_a_round_has():
    made = InMemory(numbers(10)).made(lambda part: (part.first, len(part)), rows_per_part=4)
    assert made.gather() == [(0, 3), (3, 3), (6, 4)]


def test_a_change_reaches_every_round():
    rows = InMemory(numbers(4)).changed(lambda part: part.take(part.values[0] > 1))
    assert rows.gather().values[0].tolist() == [2, 3]
