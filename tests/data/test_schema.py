"""A schema is a value: it can be joined, printed and asked for its columns."""

import pytest

from baytree.data.schema import Column, Kind, Note, Schema, Target, left_out_reason, level_map, sorted_levels


def nominal(*levels, declared=False):
    return Column("x", Kind.NOMINAL, levels, declared)


def test_collected_levels_are_joined_sorted_and_declared_ones_in_their_order():
    assert nominal("b").union(nominal("a")).levels == ("a", "b")
    assert nominal("b", declared=True).union(nominal("a")).levels == ("b", "a")


def test_joining_a_column_with_itself_changes_nothing():
    assert nominal("a", "b").union(nominal("a", "b")) == nominal("a", "b")


def test_ranks_are_joined_where_one_order_holds_the_other():
    short, long = Column("x", Kind.ORDINAL, ("S", "L"), True), Column("x", Kind.ORDINAL, ("S", "M", "L"), True)
    assert short.union(long).levels == long.union(short).levels == ("S", "M", "L")
    with pytest.raises(ValueError, match=r"the rank of 'XL' among \['S', 'L'\] is not known"):
        short.union(Column("x", Kind.ORDINAL, ("XL",), True))


def test_columns_of_different_kinds_are_not_joined():
    with pytest.raises(ValueError, match="'x' is nominal in one table and numeric in the other"):
        nominal("a").union(Column("x", Kind.NUMERIC))


def test_declared_classes_keep_their_order_in_any_union():
    order = ("low", "middle", "high")
    low = Target("y", ("low",), "object", True, order)
    rest = Target("y", ("middle", "high"), "object", True, order)
    assert low.union(rest).classes == rest.union(low).classes == order


def test_collected_classes_are_sorted():
    assert Target("y", ("b",)).union(Target("y", ("a",))).classes == ("a", "b")


def test_levels_of_mixed_types_have_one_order():
    levels = ["10", "9", 2, 10, True]
    assert sorted_levels(levels) == sorted_levels(levels[::-1])


def test_a_map_of_levels_names_the_old_code_of_each_new_level():
    assert level_map(("a", "b"), ("b", "c", "a")).tolist() == [1, -1, 0]


def test_an_unknown_column_is_refused_with_those_that_there_are():
    schema = Schema((nominal("a"),), Target("y"), ("x",))
    assert schema["x"].kind is Kind.NOMINAL
    with pytest.raises(ValueError, match="no column 'z'; the columns are 'x'"):
        schema["z"]


@pytest.mark.parametrize(
    ("done", "reason"),
    [
        ("is left out, as declared", "as declared"),
        (
            "is left out: whole numbers that only number the rows, so it only identifies rows",
            "whole numbers that only number the rows",
        ),
        ("is left out: all its strings differ, such as 'a1', so it only identifies rows", "all its strings differ"),
        ("is left out: numbers in 2 units ($, €), such as '$5', '€5', cannot be compared", "numbers in 2 units ($, €)"),
        ("every value is 1: nothing can be learnt from it", ""),
    ],
)
def test_the_reason_is_read_from_the_text_that_model_files_store(done, reason):
    assert left_out_reason(Note("x", done)) == reason
