"""Tables in text: cells stand below each other, numbers to the right."""

from hypothesis import given
from hypothesis import strategies as st

from baytree.display.terminal import aligned, in_columns, is_number

CELLS = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=6)


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=6)))
def test_every_cell_stands_in_its_column(rows):
    lines = in_columns(rows, "<>")
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row, line in zip(rows, lines, strict=True):
        places = [line[sum(widths[:k]) + 2 * k :][: widths[k]] for k in range(len(widths))]
        assert [place.strip() for place in places] == row
        assert all(place.endswith(cell) for place, cell in zip(places[1:], row[1:], strict=True))


def test_words_stand_to_the_left_and_numbers_to_the_right():
    assert aligned(["name", "share"], [["a", "5%"], ["bc", "12%"]]).splitlines() == [
        "name  share",
        "-----------",
        "a        5%",
        "bc      12%",
    ]


def test_a_number_may_have_commas_and_a_percent_sign():
    assert [is_number(text) for text in ("1,234", "12.5%", "-3e4", "", "1 of 2")] == [True, True, True, False, False]
