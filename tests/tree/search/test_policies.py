"""Each classic algorithm is one stored policy, and its estimator learns by it."""

import msgspec
import pytest

import baytree as bt
from baytree.data.schema import Column, Kind, Schema, Target
from baytree.engine.partitions import LocalPartitions
from baytree.tree.growing import SearchKind, search_of
from baytree.tree.learner import TreeLearner
from baytree.tree.policy import CHAID, POLICIES, Branching, Missing, SplitSelection

SCHEMA = Schema((Column("x", Kind.NUMERIC),), Target("y", ("a", "b")), ("x",))
ESTIMATORS = {
    "ID3": bt.ID3Classifier(),
    "C4.5": bt.C45Classifier(),
    "J48": bt.C45Classifier(conventions="j48"),
    "C5.0": bt.C50Classifier(),
    "CART": bt.CARTClassifier(),
    "CHAID": bt.CHAIDClassifier(),
}


def test_every_policy_has_an_estimator():
    assert set(ESTIMATORS) == set(POLICIES)


@pytest.mark.parametrize("name", POLICIES)
def test_an_estimator_without_parameters_learns_by_the_stored_policy(name):
    assert ESTIMATORS[name]._learner(SCHEMA).policy == POLICIES[name]


@pytest.mark.parametrize("name", POLICIES)
def test_growing_by_a_policy_is_what_its_estimator_does_and_says_which_search_it_took(name):
    frame, y = {"x": [float(k % 10) for k in range(60)]}, ["a" if k % 10 < 4 else "b" for k in range(60)]
    model = ESTIMATORS[name].fit(frame, y)
    grown = TreeLearner(POLICIES[name])._grow(LocalPartitions(model._prepare_rows(frame, y, None).table))
    assert grown.search is search_of(POLICIES[name])
    assert model.n_leaves_ == 2
    assert (grown.model.tree if hasattr(grown.model, "tree") else grown.model).n_leaves == 2


def test_the_search_follows_from_how_columns_branch():
    searches = {b: search_of(msgspec.structs.replace(CHAID, branching=b)) for b in Branching}
    assert searches[Branching.BINARY] is SearchKind.SORTED
    assert searches[Branching.MERGE] is SearchKind.COUNTED
    assert searches[Branching.MULTIWAY] is SearchKind.COUNTED
    assert {searches[b] for b in (Branching.ONE_LEVEL, Branching.GROUPED)} == {SearchKind.FRACTIONAL}


def test_rows_that_follow_several_branches_or_are_fractions_are_searched_as_such():
    multiway = msgspec.structs.replace(CHAID, branching=Branching.MULTIWAY)
    assert search_of(msgspec.structs.replace(multiway, missing=Missing.FRACTIONAL)) is SearchKind.FRACTIONAL
    frame, y = {"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]
    for weight, search in ((2.0, SearchKind.COUNTED), (0.3, SearchKind.FRACTIONAL)):
        table = ESTIMATORS["ID3"]._prepare_rows(frame, y, [weight] * 4).table
        assert TreeLearner(multiway)._grow(LocalPartitions(table)).search is search


def test_chaid_alone_chooses_by_adjusted_p():
    assert [name for name, policy in POLICIES.items() if policy.choose is SplitSelection.ADJUSTED_P] == ["CHAID"]
