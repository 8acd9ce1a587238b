"""E5: depth is not a danger. A chain of a million nodes is grown, read, pruned, saved, loaded, copied and pickled."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import baytree as bt


def chain(n_rows):
    """Labels that alternate along one column: the best cut takes away the first row, again and again."""
    return np.arange(float(n_rows))[:, None], np.arange(n_rows) % 2


def check(model, n_rows, tmp_path):
    X, y = chain(n_rows)
    few = np.array([0, 1, n_rows // 2, n_rows - 1])
    assert model.depth_ == n_rows - 1
    assert model.n_nodes_ == 2 * n_rows - 1
    assert np.array_equal(model.predict(X[few]), y[few])
    assert len(str(model).splitlines()) == model.n_nodes_
    assert max(map(len, str(model).splitlines())) < 200
    assert len(model.export_text().splitlines()) == model.n_nodes_
    assert len(model.nodes()) == model.n_nodes_
    assert len(model.rules()) == model.n_leaves_
    assert len(model.explain(X[few[-1:]])[0].evidence) == n_rows - 1
    bt.save(model, tmp_path / "chain.baytree")
    loaded = bt.load(tmp_path / "chain.baytree")
    for other in (loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.apply(X[few]), model.apply(X[few]))
    assert clone(model).get_params() == model.get_params()
    assert len(model.cost_complexity_path().cp) >= 1
    assert model.prune("cost_complexity", 1.0).n_nodes_ == 1
    assert model.prune("max_leaves", 100).n_leaves_ == 100
    assert model.prune("collapse").n_nodes_ == model.n_nodes_  # neighbours on the chain never agree
    assert model.snip(0).n_nodes_ == 1
    assert model.feature_importances_.tolist() == [1.0]


def test_a_chain_of_two_thousand_levels_is_grown_and_read(tmp_path):
    check(bt.DecisionTreeClassifier().fit(*chain(2000)), 2000, tmp_path)


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_levels_is_grown_and_read(tmp_path):
    check(bt.DecisionTreeClassifier().fit(*chain(100_000)), 100_000, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["CARTClassifier(cp=0, min_split=2, min_leaf=1, max_depth=None)",
                                       "C45Classifier(min_objects=1, mdl=False, pruning=None, collapse=False)"])
def test_other_trees_grow_chains_on_a_small_stack(estimator):
    code = f"""
import resource, threading
threading.stack_size(256 * 1024)  # the interpreter itself needs most of it
import numpy as np, baytree as bt
def work():
    X, y = np.arange(4000.0)[:, None], np.arange(4000) % 2
    model = bt.{estimator}.fit(X, y)
    print(model.depth_, len(model.export_text()), len(str(model)))
thread = threading.Thread(target=work); thread.start(); thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout, done.stderr


@pytest.mark.slow
def test_a_chain_of_a_million_nodes_is_pruned_saved_and_told(tmp_path):
    from test_views import chain as record

    model = bt.DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    model.model_ = record(500_000)
    assert model.depth_ == 500_000
    assert str(model).count("\n") == 1_000_000
    assert len(model.export_text().splitlines()) == 1_000_001
    bt.save(model, tmp_path / "chain.baytree")
    assert np.array_equal(bt.load(tmp_path / "chain.baytree").tree_.cut, model.tree_.cut, equal_nan=True)
    assert len(pickle.loads(pickle.dumps(model)).tree_) == 1_000_001
    assert model.snip(500_000).n_nodes_ == 500_001
    assert model.prune("collapse").n_nodes_ == 1
    assert model.predict([[-1e7], [1.0]]).tolist() == ["b", "b"]
