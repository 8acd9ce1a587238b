"""Laws that hold for every tree of this room, whatever the table."""

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree.tree.model import Tree, depths, parents, preorder
from law_settings import settings

LEARNERS = [
    bt.DecisionTreeClassifier(),
    bt.DecisionTreeClassifier(criterion="entropy", missing="category", min_leaf=2),
    bt.DecisionTreeClassifier(criterion="gain_ratio", missing="surrogate"),
    bt.DecisionTreeClassifier(criterion="twoing", missing="largest", max_leaves=5),
    bt.DecisionTreeClassifier(criterion="likelihood_ratio", alpha=0.3),
    bt.CARTClassifier(cp=0.0, min_split=4),
    bt.DecisionTreeClassifier(branching="multiway", criterion="entropy", min_leaf=2),
    bt.DecisionTreeClassifier(missing="fractional", max_depth=4),
    bt.DecisionTreeRegressor(min_leaf=2),
    bt.DecisionTreeRegressor(missing="category"),
    bt.CARTRegressor(cp=0.0, min_split=4),
]


def _name(model) -> str:
    return repr(model)


def _mixed(seed: int, n: int = 40) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "x": rng.integers(0, 9, n).astype(float),
        "z": np.round(rng.normal(size=n), 1),
        "level": pd.Categorical.from_codes(rng.integers(0, 5, n), list("abcde")),
        "rank": pd.Categorical.from_codes(rng.integers(0, 4, n), list("SMLX"), ordered=True),
    })  # fmt: skip
    for name in frame:
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame, rng.integers(0, 3, n)


def _labels(model, y: np.ndarray) -> np.ndarray:
    return y.astype(float) if hasattr(model, "values") or "Regressor" in type(model).__name__ else y


def _answers(model, frame: pd.DataFrame) -> np.ndarray:
    return model.predict_proba(frame) if hasattr(model, "predict_proba") else model.predict(frame)


def _arrays(tree: Tree) -> list[bytes]:
    records = (tree, tree.surrogates)
    return [getattr(r, f).tobytes() for r in records for f in r.__struct_fields__ if isinstance(getattr(r, f), np.ndarray)]


@pytest.mark.parametrize("model", LEARNERS, ids=_name)
@pytest.mark.parametrize("seed", range(4))
def test_a_row_of_weight_2_equals_two_rows_and_weight_0_none(model, seed):
    frame, y = _mixed(seed)
    y = _labels(model, y)
    weight = np.random.default_rng(seed).integers(0, 4, len(frame))
    twice = np.repeat(np.arange(len(frame)), weight)
    one = _answers(model.fit(frame, y, sample_weight=weight), frame)
    other = _answers(model.fit(frame.iloc[twice], y[twice]), frame)
    np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("model", LEARNERS, ids=_name)
def test_threads_do_not_change_the_tree(model):
    frame, y = _mixed(1, 20_000)
    y = _labels(model, y)
    small = model.__class__(**(model.get_params() | {"max_depth": 6}))
    trees = [_arrays(small.set_params(n_jobs=jobs).fit(frame, y).tree_) for jobs in (1, 2, 3)]
    assert trees[0] == trees[1] == trees[2]


@pytest.mark.parametrize("model", LEARNERS, ids=_name)
def test_the_order_of_rows_does_not_change_the_answers(model):
    frame, y = _mixed(5)
    y = _labels(model, y)
    order = np.random.default_rng(0).permutation(len(frame))
    one, other = _answers(model.fit(frame, y), frame), _answers(model.fit(frame.iloc[order], y[order]), frame)
    np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("model", LEARNERS[:2] + LEARNERS[5:6] + LEARNERS[8:9], ids=_name)
def test_a_copied_or_constant_column_at_the_end_changes_nothing(model):
    frame, y = _mixed(6)
    y = _labels(model, y)
    wider = frame.assign(copy=frame["x"], constant=1.0, empty=np.nan)
    np.testing.assert_array_equal(_answers(model.fit(frame, y), frame), _answers(model.fit(wider, y), wider))


@pytest.mark.parametrize("model", LEARNERS, ids=_name)
def test_children_share_out_their_parent(model):
    frame, y = _mixed(7)
    tree = model.fit(frame, _labels(model, y)).tree_
    above, inner = parents(tree), tree.column >= 0
    total = np.bincount(above[1:], tree.weight[1:], len(tree))
    stays = "CART" in type(model).__name__  # there a row that no side attracts may rest at an inner node
    assert np.allclose(total[inner], tree.weight[inner]) or (stays and (total[inner] <= tree.weight[inner]).all())
    assert (tree.gain[inner] > 0).all()
    assert (tree.rows > 0).all()
    assert sorted(preorder(tree)) == list(range(len(tree)))
    assert (depths(tree)[1:] == depths(tree)[above[1:]] + 1).all()


@pytest.mark.parametrize("model", LEARNERS, ids=_name)
def test_every_ledger_adds_up_to_the_answer(model):
    frame, y = _mixed(8)
    answers = _answers(model.fit(frame, _labels(model, y)), frame).reshape(len(frame), -1)
    for ledger, answer in zip(model.explain(frame), answers, strict=True):
        np.testing.assert_allclose(ledger.scores, answer, atol=1e-12)


@pytest.mark.parametrize("model", LEARNERS, ids=_name)
@pytest.mark.parametrize("fill", [np.nan, 1.0])
def test_tables_without_information_give_the_root(model, fill):
    table = np.full((30, 2), fill)
    y = _labels(model, np.arange(30) % 3)
    assert model.fit(table, y).n_leaves_ == 1
    assert np.isfinite(_answers(model, table)).all()


@pytest.mark.parametrize("model", LEARNERS, ids=_name)
def test_one_row_and_one_class_give_a_leaf(model):
    assert model.fit([[1.0]], _labels(model, np.array([1]))).n_nodes_ == 1
    assert model.fit(np.arange(50.0)[:, None], _labels(model, np.ones(50, int))).n_nodes_ == 1


def test_a_hundred_thousand_levels_are_grouped():
    names = np.array([f"id{i}" for i in range(100_000)], object)
    y = np.arange(100_000) % 3
    model = bt.DecisionTreeClassifier(schema={"id": "nominal"}).fit(pd.DataFrame({"id": names}), y)
    assert model.score(pd.DataFrame({"id": names}), y) == 1.0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=5).filter(str.strip), min_size=2, max_size=12, unique=True))
def test_any_text_can_be_a_level(names):
    frame = pd.DataFrame({"level": pd.Categorical(names * 3, categories=names)})
    y = np.arange(len(names) * 3) % len(names) % 2
    model = bt.DecisionTreeClassifier().fit(frame, y)
    assert (model.predict(frame) == y).all()
    assert str(model)


def test_rows_without_a_value_take_the_learned_side_and_unseen_levels_the_same_road():
    x = np.array([1.0, 2, 3, 4, np.nan, np.nan])
    model = bt.DecisionTreeClassifier().fit(x[:, None], [0, 0, 1, 1, 0, 0])
    assert model.predict([[np.nan]])[0] == 0
    frame = pd.DataFrame({"c": ["a", "a", "b", "b", None]})
    model = bt.DecisionTreeClassifier().fit(frame, [0, 0, 1, 1, 1])
    assert model.predict(pd.DataFrame({"c": ["never seen"]}))[0] == 1


def test_priors_and_costs_move_the_answer():
    X, y = np.zeros((10, 1)), np.array([0] * 8 + [1] * 2)
    assert bt.DecisionTreeClassifier().fit(X, y).predict(X[:1])[0] == 0
    assert bt.DecisionTreeClassifier(priors={0: 0.1, 1: 0.9}).fit(X, y).predict(X[:1])[0] == 1
    costly = bt.CARTClassifier(costs=[[0, 1], [9, 0]]).fit(X, y)
    assert costly.predict(X[:1])[0] == 1
    np.testing.assert_allclose(costly.predict_proba(X[:1])[0], [0.8, 0.2])


@pytest.mark.parametrize(("bad", "word"), [
    ({"criterion": "ginni"}, "criterion"), ({"missing": "drop"}, "missing"), ({"max_depth": -1}, "max_depth"),
    ({"min_leaf": "few"}, "min_leaf"), ({"priors": [0.5, 0.6]}, "priors"), ({"costs": [[0, 1]]}, "costs"),
    ({"n_jobs": 0}, "n_jobs"), ({"max_leaves": 2.5}, "max_leaves"), ({"alpha": 2}, "alpha"),
])  # fmt: skip
def test_wrong_parameters_are_named(bad, word):
    with pytest.raises(ValueError, match=word):
        bt.DecisionTreeClassifier(**bad).fit([[0.0], [1.0]], [0, 1])


def test_a_chain_of_many_nodes_is_grown_read_and_pruned_without_recursion():
    X, y = np.arange(400.0)[:, None], 1.5 ** np.arange(400)
    model = bt.DecisionTreeRegressor().fit(X, y)
    assert model.depth_ > 100
    assert len(model.nodes()) == model.n_nodes_
    assert model.prune("cost_complexity", 0.001).n_leaves_ < model.n_leaves_


@pytest.mark.parametrize("learner", [bt.DecisionTreeRegressor(), bt.CARTRegressor(min_split=2, cp=0.0)])
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e307])
def test_labels_whose_squares_leave_the_range_of_doubles_are_learnt(learner, unit):
    y = unit * np.array([1.0, 1.0, 2.0, 3.0, 3.0])
    model = learner.fit(np.arange(5.0)[:, None], y)
    np.testing.assert_allclose(model.predict(np.arange(5.0)[:, None]), y)
    assert np.isfinite(model.tree_.risk).all()


@pytest.mark.parametrize("missing", ["learned", "category", "largest", "surrogate"])
def test_the_trace_holds_every_candidate_and_the_best_one_was_taken(missing):
    frame, y = _mixed(3)
    model = bt.DecisionTreeClassifier(trace=True, missing=missing, max_depth=3).fit(frame, y)
    for node in np.flatnonzero(model.tree_.column >= 0):
        here = [c for c in model.trace_ if c["node"] == node]
        (taken,) = [c for c in here if c["is_taken"]]
        assert taken["gain"] == pytest.approx(max(c["gain"] for c in here))
        assert taken["gain"] == pytest.approx(model.tree_.gain[node] / model.tree_.weight[node])


BROKEN = {  # an array of a tree, an entry, what it becomes, and the words that refuse it
    "a node has a negative column": ("column", 0, -2),
    "a node has a negative index into branch_of": ("start", 0, -1),
    "a node reads past branch_of": ("levels", 0, 99),
    "a node has neither a threshold nor levels": ("cut", 0, np.nan),
    "a split has no branch": ("branches", 0, 0),
    "a child does not come after its parent": ("first", 0, 0),
    "children overlap, or a node has no parent": ("first", 0, 2),
    "some nodes are not children of any node": ("branches", 0, 3),
    "missing values take an unknown branch": ("missing", 0, 2),
    "a proportion of weight is not between 0 and 1": ("share", -1, 1.5),
    "a node predicts a number that is not finite": ("value", -1, np.inf),
    "a node predicts an unknown class": ("prediction", -1, 2),
}


@pytest.mark.parametrize("words", BROKEN)
def test_arrays_that_are_no_tree_are_refused_in_words(words):
    name, at, value = BROKEN[words]
    x = np.arange(40.0)
    tree = bt.DecisionTreeClassifier(max_depth=1).fit({"x": x}, np.where(x < 20, "a", "b")).model_
    broken = getattr(tree, name).copy()
    broken[at] = value
    with pytest.raises(ValueError, match=f"not a tree: {words}"):
        msgspec.structs.replace(tree, **{name: broken})


def test_levels_that_take_no_branch_are_refused_in_words():
    frame = {"c": ["u", "v", "w"] * 20}
    tree = bt.DecisionTreeClassifier(max_depth=1).fit(frame, ["a", "b", "b"] * 20).model_
    for branch, words in ((-2, "a level takes a negative branch"), (7, "a level takes an unknown branch")):
        branch_of = tree.branch_of.copy()
        branch_of[tree.start[0]] = branch
        with pytest.raises(ValueError, match=f"not a tree: {words}"):
            msgspec.structs.replace(tree, branch_of=branch_of)
