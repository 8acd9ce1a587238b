"""Weka's Id3, node by node."""

import numpy as np
import pytest
from quinlan_oracles import table
from reference import expected, in_order, probabilities, tables

from baytree import ID3Classifier


@pytest.mark.parametrize("name", tables("id3"))
def test_the_tree_is_that_of_id3(name):
    reference = expected("id3", name)
    fit = reference["fits"]["default"]
    columns, labels = table(name, reference["classes"])
    model = ID3Classifier(n_jobs=1).fit(columns, labels)
    ours = {node["id"]: node for node in model.nodes()}
    waiting, n_nodes = [(0, fit["tree"])], 0
    while waiting:
        place, theirs = waiting.pop()
        n_nodes += 1
        mine = ours[place]
        assert mine["column"] == theirs.get("attribute")
        if theirs.get("branches"):
            assert mine["groups"] == [[branch["value"]] for branch in theirs["branches"]]
            waiting += [(child, b["node"]) for child, b in zip(mine["children"], theirs["branches"], strict=True)]
        elif theirs["class"] is None:
            assert mine["weight"] == 0
        else:
            assert (mine["prediction"], mine["probabilities"]) == (theirs["class"], pytest.approx(theirs["dist"], abs=1e-9))
    assert n_nodes == model.n_nodes_
    given = probabilities(fit["pred"]["dist"])[1]
    is_answered = given.sum(axis=1) > 0
    ours = in_order(model, columns, reference["classes"])
    np.testing.assert_allclose(ours[is_answered], given[is_answered], rtol=0, atol=1e-8)
