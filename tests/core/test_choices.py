"""Names that the core takes: an unknown one is refused with those that there are, never read as another."""

import numpy as np
import pytest

from baytree import _core

X = [np.array([0.0, 1.0, 2.0, 3.0])]
LEVELS = np.zeros(1, np.int32)
LABEL = np.array([0, 0, 1, 1], np.int32)
NUMBERS = np.array([0.0, 0.5, 2.0, 3.0])
SETTINGS = {
    "criterion": "gini",
    "missing": "learned",
    "is_cart": False,
    "counts_rows": False,
    "is_counted": True,
    "min_split": 2.0,
    "min_leaf": 1.0,
    "max_depth": 5,
    "min_impurity": 0.0,
    "min_gain": 0.0,
    "min_risk": 0.0,
    "critical": [],
    "risk_scale": [1.0, 1.0],
    "loss": [0.0, 1.0, 1.0, 0.0],
    "max_levels": 12,
    "max_exhaustive_levels": 12,
    "max_surrogates": 0,
    "use_surrogate": 2,
    "surrogate_style": 0,
    "takes_no_gain": False,
    "columns_per_node": 0,
    "first_column": -1,
    "directions": [],
    "seed": 0,
}


def grow(label: np.ndarray | None = LABEL, y: np.ndarray | None = None, **changed: object) -> dict[str, np.ndarray]:
    scale = np.ones(0 if label is None else 2)
    return _core.grow(X, LEVELS, label, y, None, scale, {**SETTINGS, **changed}, 1)


def fractional(**changed: object) -> tuple:
    rules = _core.FractionalRules()
    for name, value in {"total": 4.0, "min_side": 1.0, **changed}.items():
        setattr(rules, name, value)
    return _core.fractional_grow(X, LEVELS, LABEL, np.ones(4), np.arange(4, dtype=np.int32), 2, rules, False, 1, False)


NAMES = [name for name, _ in _core.criteria()]
OF_CLASSES = [name for name, suits in _core.criteria() if suits.binary and not suits.numbers]


@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_every_criterion_of_classes_splits_what_is_apart(criterion):
    assert grow(criterion=criterion)["cut"][0] == 1.5


def test_a_split_that_gains_nothing_is_taken_only_where_that_is_asked_for():
    for labels in (np.array([0, 1, 1, 0], np.int32), np.array([0, 1, 0, 1], np.int32)):
        asked = grow(labels, takes_no_gain=True)
        assert len(asked["column"]) >= len(grow(labels)["column"])
        assert asked["impurity"][asked["column"] < 0].max() == 0.0


def test_drawn_columns_depend_on_the_seed_alone():
    drawn = [grow(columns_per_node=1, seed=seed)["column"].tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("name", ["foo", "", "Gini", "gini "])
def test_an_unknown_criterion_is_not_gini(name):
    with pytest.raises(ValueError, match=f"criterion='{name}': give one of {', '.join(NAMES)}"):
        grow(criterion=name)


def test_an_unknown_rule_for_missing_values_is_not_learned():
    with pytest.raises(ValueError, match="missing='foo': give one of learned, category, largest, surrogate"):
        grow(missing="foo")


def test_a_criterion_must_suit_its_target_and_two_branches():
    with pytest.raises(ValueError, match="criterion='row_effects' does not compare two branches"):
        grow(criterion="row_effects")
    with pytest.raises(ValueError, match="criterion='sse' is for numbers"):
        grow(criterion="sse")
    with pytest.raises(ValueError, match="criterion='gini' is for classes"):
        grow(label=None, y=NUMBERS)
    assert grow(label=None, y=NUMBERS, criterion="sse", risk_scale=[], loss=[])["cut"][0] == 1.5


@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_only_criteria_that_rpart_knows_have_its_arithmetic(criterion):
    if dict(_core.criteria())[criterion].rpart:
        assert grow(criterion=criterion, is_cart=True)["cut"][0] == 1.5
    else:
        with pytest.raises(ValueError, match=f"criterion='{criterion}' has no arithmetic of rpart"):
            grow(criterion=criterion, is_cart=True)


@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_a_criterion_that_cannot_compare_many_branches_is_refused_there(criterion):
    if dict(_core.criteria())[criterion].multiway:
        nodes, _ = fractional(measure=criterion)
        assert nodes.arrays()["column"][0] == 0
    else:
        with pytest.raises(ValueError, match=f"criterion='{criterion}' cannot compare many branches"):
            fractional(measure=criterion)


def test_the_fractional_search_refuses_unknown_names():
    with pytest.raises(ValueError, match="criterion='foo': give one of"):
        fractional(measure="foo")
    with pytest.raises(ValueError, match="missing='surrogate': give one of fractional, largest, category, learned"):
        _core.FractionalRules().missing = "surrogate"
    rules = _core.FractionalRules()
    rules.missing = "category"
    assert rules.missing == "category"


def test_a_test_of_groups_is_known_by_name():
    tables = np.ones((1, 2, 2))
    with pytest.raises(ValueError, match="test='foo': give one of pearson, likelihood_ratio, mean"):
        _core.test_groups(tables, "foo")
    nowhere, rules = np.zeros((0, 0), np.int64), _core.TrialRules(-3.0, 1.0, 0.01, False, 400)
    with pytest.raises(ValueError, match="test='foo': give one of"):
        _core.try_columns([], (nowhere, nowhere, nowhere, nowhere.astype(bool)), np.zeros(0, np.int32), "foo", rules, 1)


def test_rules_of_amounts_and_normals_are_known_by_name():
    table, scores = np.zeros((1, 2)), np.zeros((4, 2))
    with pytest.raises(ValueError, match="rule='foo': give one of binary, count, poisson, amount"):
        _core.add_amount_scores(np.ones((4, 1)), table, table, table, table, 0.0, "foo", scores)
    moments = np.ones((2, 1))
    with pytest.raises(ValueError, match="rule='foo': give one of mle, map, bayes, raised"):
        _core.add_left_out_scores(
            np.ones((4, 1)), LABEL, np.ones(0), *[moments] * 3, np.zeros(1), np.ones(1), "foo", 1.0, 0.0, 1.0, scores
        )
