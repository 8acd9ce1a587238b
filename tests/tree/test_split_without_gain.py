"""Splits without a gain: exclusive-or, ties of classification error, and the stump of the loans."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree import sklearn as drop_ins

XOR = pd.DataFrame({"a": [0, 0, 1, 1] * 3, "b": [0, 1, 0, 1] * 3}).assign(y=["even", "odd", "odd", "even"] * 3)
NOMINAL = {"a": "nominal", "b": "nominal"}
LOANS = bt.datasets.load("loans")
WAYS = [
    {},
    *({"criterion": criterion} for criterion in ("error", "entropy", "gain_ratio", "twoing", "chi2", "likelihood_ratio")),
    *({"missing": missing} for missing in ("surrogate", "fractional", "category", "largest")),
    *({"branching": "multiway", "missing": missing} for missing in ("learned", "fractional", "category", "largest")),
    {"max_split_columns": 2},
    {"priors": [0.3, 0.7]},
]


@pytest.mark.parametrize("schema", [None, NOMINAL], ids=["numbers", "levels"])
@pytest.mark.parametrize("parameters", WAYS, ids=str)
def test_balanced_xor_grows_to_four_pure_leaves(parameters, schema):
    assert bt.DecisionTreeClassifier(schema=schema, **parameters).fit(XOR, "y").n_leaves_ == 1
    model = bt.DecisionTreeClassifier(schema=schema, split_without_gain=True, **parameters).fit(XOR, "y")
    assert model.n_leaves_ == 4
    assert [node["column"] for node in model.nodes()].count("a") == 1  # the first column comes first
    assert model.score(XOR, "y") == 1


@pytest.mark.parametrize("schema", [None, NOMINAL], ids=["numbers", "levels"])
@pytest.mark.parametrize("branching", ["binary", "multiway"])
def test_xor_of_numbers_grows_to_four_leaves(branching, schema):
    rows = XOR.assign(y=[0.1, 0.7, 0.7, 0.1] * 3)
    assert bt.DecisionTreeRegressor(branching=branching, schema=schema).fit(rows, "y").n_leaves_ == 1
    model = bt.DecisionTreeRegressor(branching=branching, schema=schema, split_without_gain=True).fit(rows, "y")
    assert model.n_leaves_ == 4
    assert model.score(rows, "y") == pytest.approx(1)


def test_id3_splits_xor_if_asked_and_names_the_parameter_if_not():
    assert "split_without_gain=True splits without a gain" in str(bt.ID3Classifier().fit(XOR, "y"))
    assert bt.ID3Classifier(split_without_gain=True, schema=NOMINAL).fit(XOR, "y").n_leaves_ == 4
    assert "split_without_gain" not in bt.CARTClassifier().get_params()


def test_classification_error_splits_fair_of_one_to_three():
    model = bt.DecisionTreeClassifier(criterion="error", branching="multiway", split_without_gain=True).fit(LOANS, "Loan")
    root, *_ = nodes = model.nodes()
    assert root["column"] == "Credit"
    fair = nodes[root["children"][1]]
    assert fair["counts"] == [1, 3]
    assert fair["column"] is not None
    kept = bt.DecisionTreeClassifier(criterion="error", branching="multiway").fit(LOANS, "Loan").nodes()
    assert kept[kept[0]["children"][1]]["column"] is None


@pytest.mark.parametrize("branching", ["binary", "multiway"])
@pytest.mark.parametrize("missing", ["learned", "fractional"])
@pytest.mark.parametrize("columns", [["Term", "Loan"], list(LOANS)], ids=["only Term", "first_split"])
def test_the_stump_on_term_has_four_to_one_and_two_to_two(branching, missing, columns):
    stump = bt.DecisionTreeClassifier(
        max_depth=1, criterion="error", split_without_gain=True, first_split="Term", branching=branching, missing=missing
    ).fit(LOANS[columns], "Loan")
    assert [node["counts"] for node in stump.nodes()[1:]] == [[1, 4], [2, 2]]


def test_stopping_rules_hold_for_splits_without_gain():
    for rule in (
        {"min_gain": 0.001},
        {"alpha": 0.05},
        {"max_depth": 0},
        {"min_split": 13},
        {"min_leaf": 7},
        {"max_leaves": 1},
    ):
        for branching in ("binary", "multiway"):
            if branching == "multiway" and "alpha" in rule:
                continue
            model = bt.DecisionTreeClassifier(split_without_gain=True, branching=branching, **rule).fit(XOR, "y")
            assert model.n_leaves_ == 1, rule


def test_equal_rows_of_two_classes_end_in_a_leaf():
    rows = {"a": [1, 1, 2, 2], "b": ["x", "x", "x", "x"], "y": ["no", "yes", "no", "yes"]}
    for parameters in WAYS[:-1]:
        assert bt.DecisionTreeClassifier(split_without_gain=True, **parameters).fit(rows, "y").n_leaves_ == 2


@pytest.mark.parametrize("branching", ["binary", "multiway"])
@pytest.mark.parametrize("schema", [None, NOMINAL], ids=["numbers", "levels"])
def test_rows_without_weight_make_no_branch(branching, schema):
    extra = pd.concat([pd.DataFrame({"a": [-1, 2], "b": [-1, 2], "y": ["even", "odd"]}), XOR])
    weight = np.r_[0.0, 0.0, np.ones(len(XOR))]
    model = bt.DecisionTreeClassifier(split_without_gain=True, min_leaf=0, branching=branching, schema=schema)
    model.fit(extra, "y", sample_weight=weight)
    occupied = [node["n"] for node in model.nodes() if node["n"]]
    assert sorted(occupied)[:4] == [3, 3, 3, 3]
    assert model.tree_.weight.min() > 0 or (branching == "multiway" and schema)  # a level without rows in a node has a leaf
    assert model.score(XOR, "y") == 1


def test_a_missing_value_may_be_all_that_separates_rows():
    rows = pd.DataFrame({"a": [1.0, 1.0, None, None] * 3, "b": [0, 1, 0, 1] * 3, "y": ["even", "odd", "odd", "even"] * 3})
    model = bt.DecisionTreeClassifier(split_without_gain=True, schema={"a": "numeric"}).fit(rows, "y")
    assert model.score(rows, "y") == 1
    levels = rows.assign(a=rows.a.map({1.0: "one"}))
    assert bt.DecisionTreeClassifier(split_without_gain=True).fit(levels, "y").score(levels, "y") == 1


def test_a_monotone_column_is_tested_only_for_a_gain():
    model = bt.DecisionTreeClassifier(split_without_gain=True, monotone={"a": "up"}).fit(XOR, "y")
    assert model.nodes()[0]["column"] == "b"


def test_merged_levels_need_a_difference():
    with pytest.raises(ValueError, match=r"split_without_gain=True: branching='merge' splits only where .* give branching"):
        bt.DecisionTreeClassifier(split_without_gain=True, branching="merge").fit(XOR, "y")
    with pytest.raises(ValueError, match="split_without_gain"):
        bt.DecisionTreeClassifier(split_without_gain="yes").fit(XOR, "y")


TABLES = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.sampled_from([None, 0.0, 1.0, 2.0]), min_size=n, max_size=n) for _ in range(2)),
        st.lists(st.sampled_from("uvw") | st.none(), min_size=n, max_size=n),
        st.lists(st.sampled_from("abc"), min_size=n, max_size=n),
    )
)


@given(TABLES, st.sampled_from(WAYS[:-1]))
def test_no_branch_is_empty_and_leaves_are_pure_or_inseparable(columns, parameters):
    p, q, c, y = columns
    if len(set(y)) < 2:
        return
    rows = pd.DataFrame({"p": np.array(p, float), "q": np.array(q, float), "c": pd.Series(c, dtype=object), "y": y})
    model = bt.DecisionTreeClassifier(
        split_without_gain=True, schema={"p": "numeric", "q": "numeric", "c": "nominal"}, **parameters
    ).fit(rows, "y")
    tree = model.tree_
    if parameters.get("branching") != "multiway":
        assert (tree.weight > 0).all()
    if parameters.get("missing", "learned") == "learned" and "branching" not in parameters:
        inside = rows.assign(leaf=model.apply(rows))
        for _, leaf in inside.groupby("leaf"):
            assert leaf.y.nunique() == 1 or leaf[["p", "q", "c"]].drop_duplicates().shape[0] == 1
        assert sum(node["n"] for node in model.nodes() if node["column"] is None) == len(rows)


def test_the_drop_in_splits_xor_as_scikit_learn_does():
    from sklearn.tree import DecisionTreeClassifier

    X = XOR[["a", "b"]].to_numpy(float)
    ours, theirs = drop_ins.DecisionTreeClassifier().fit(X, XOR.y), DecisionTreeClassifier().fit(X, XOR.y)
    assert ours.get_n_leaves() == theirs.get_n_leaves() == 4
