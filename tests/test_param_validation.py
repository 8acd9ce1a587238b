"""What users set is read in their own words, the same for every estimator."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baytree import param_validation

CLASSES = ("no", "perhaps", "yes")
amounts = st.lists(st.floats(0, 1e6), min_size=3, max_size=3).filter(any)


@given(amounts, st.permutations(CLASSES))
def test_priors_by_label_are_those_in_the_order_of_the_classes(numbers, order):
    by_place = param_validation.priors("priors", numbers, CLASSES)
    by_label = param_validation.priors("priors", dict(zip(CLASSES, numbers, strict=True)), CLASSES)
    assert np.array_equal(by_place.shares(order), by_label.shares(order))


@given(amounts, st.lists(st.sampled_from(CLASSES), unique=True, min_size=1))
def test_the_shares_of_any_classes_add_up_to_one(numbers, some):
    assert param_validation.priors("priors", numbers, CLASSES).shares(some).sum() == pytest.approx(1)


@pytest.mark.parametrize("given", [{"no": 1, "yse": 1}, [1.0, 2.0], [0, 0, 0], [1, -1, 1], [np.nan, 1, 1], "equal", 3])
def test_priors_that_cannot_be_meant_are_refused_by_their_name(given):
    with pytest.raises(ValueError, match=r"^class_prior"):
        param_validation.priors("class_prior", given, CLASSES)


@pytest.mark.parametrize(
    "given", [np.eye(3), np.ones((2, 2)), [[0, 1, 1], [0, 0, 0], [1, 1, 0]], {"no": {"yes": 1}}, "high"]
)
def test_costs_that_cannot_be_meant_are_refused(given):
    with pytest.raises(ValueError, match=r"^costs"):
        param_validation.costs(given, CLASSES)


def test_costs_in_a_data_frame_are_refused_with_a_remedy():
    frame = pd.DataFrame([[0, 5], [1, 0]], index=["no", "yes"], columns=["no", "yes"])
    with pytest.raises(ValueError, match=r"costs\.to_dict\('index'\)"):
        param_validation.costs(frame, ("no", "yes"))
    assert param_validation.costs(frame.to_dict("index"), ("no", "yes")).amounts.tolist() == [[0, 5], [1, 0]]


def test_costs_by_label_are_those_of_a_matrix():
    matrix = [[0, 1, 5], [1, 0, 2], [3, 1, 0]]
    rows = {truth: {answer: matrix[i][j] for j, answer in enumerate(CLASSES) if i != j} for i, truth in enumerate(CLASSES)}
    order = CLASSES[::-1]
    assert np.array_equal(param_validation.costs(rows, CLASSES).of(order), param_validation.costs(matrix, CLASSES).of(order))


@given(st.lists(st.floats(0.01, 1e6), min_size=3, max_size=3))
def test_balanced_classes_weigh_the_same(weight):
    each = param_validation.class_weights("balanced", CLASSES).of(CLASSES, np.array(weight)) * weight
    assert each == pytest.approx(np.full(3, each[0]))


@pytest.mark.parametrize("value", [True, "3", None, float("nan"), float("inf"), 2.5, 0, -1, np.bool_(True), [3]])
def test_what_is_no_whole_number_is_none(value):
    with pytest.raises(ValueError, match=r"max_depth=.*whole number of at least 1"):
        param_validation.integer("max_depth", value, 1)


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3)])
def test_a_whole_number_of_any_type_is_that_number(value):
    assert param_validation.integer("max_depth", value, 1) == 3
    assert type(param_validation.integer("max_depth", value, 1)) is int


def test_a_choice_is_not_what_only_equals_it():
    with pytest.raises(ValueError, match="give one of 1, None"):
        param_validation.one_of("degree", 1.0, (1, None))
