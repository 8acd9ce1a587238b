"""E5: depth is not a danger. A long chain is grown, read, pruned, saved, loaded, copied and pickled: of a million nodes
in `make reliability`, of fewer here."""

import copy
import pickle
import subprocess
import sys
import threading

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


def test_ties_of_a_large_node_go_to_the_lower_cut_in_any_order_of_the_rows():
    X, y = chain(10_000)
    order = np.random.default_rng(1).permutation(10_000)
    tree = bt.DecisionTreeClassifier().fit(X[order], y[order]).tree_
    assert np.array_equal(tree.cut[tree.column >= 0], np.arange(9999) + 0.5)


@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio", "chi2"])
def test_ties_go_to_the_lower_cut_under_every_criterion(criterion):
    tree = bt.DecisionTreeClassifier(criterion=criterion).fit(*chain(1500)).tree_
    assert np.array_equal(tree.cut[tree.column >= 0], np.arange(1499) + 0.5)


@pytest.mark.slow
def test_a_chain_of_twenty_thousand_levels_is_grown_and_read(tmp_path):
    check(bt.DecisionTreeClassifier().fit(*chain(20_000)), 20_000, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        "CARTClassifier(cp=0, min_split=2, min_leaf=1, max_depth=None)",
        "C45Classifier(min_objects=1, mdl=False, pruning=None, collapse=False)",
    ],
)
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


def run_on_small_stack(work):
    """Runs it in a thread with 64 kB of stack: a recursion of a few hundred calls would end the process."""
    failures, usual = [], threading.stack_size(64 * 1024)

    def run():
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(usual)
    for failure in failures:
        raise failure


def test_a_chain_is_grown_and_read_on_a_small_stack(tmp_path):
    run_on_small_stack(lambda: check(bt.DecisionTreeClassifier().fit(*chain(1000)), 1000, tmp_path))


def read_chain(n_rows, folder):
    X, y = chain(n_rows)
    model = bt.DecisionTreeClassifier().fit(X, y)
    assert (model.depth_, model.n_nodes_) == (n_rows - 1, 2 * n_rows - 1)
    few = np.array([0, 1, n_rows // 2, n_rows - 1])
    assert np.array_equal(model.predict(X[few]), y[few])
    assert str(model).count("\n") == model.n_nodes_ - 1
    assert len(model.export_text().splitlines()) == model.n_nodes_
    assert len(model.rules()) == n_rows
    assert len(model.cost_complexity_path().cp) >= 1
    assert model.prune("cost_complexity", 1.0).n_nodes_ == 1
    assert model.prune("max_leaves", 100).n_leaves_ == 100
    assert model.snip(n_rows - 1).n_nodes_ < model.n_nodes_
    bt.save(model, folder / "chain.baytree")
    for other in (bt.load(folder / "chain.baytree"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.tree_.cut, model.tree_.cut, equal_nan=True)
        assert np.array_equal(other.apply(X[few]), model.apply(X[few]))
    assert clone(model).get_params() == model.get_params()


@pytest.mark.slow
def test_a_long_chain_is_grown_and_read_on_a_small_stack(tmp_path):
    run_on_small_stack(lambda: read_chain(30_001, tmp_path))
