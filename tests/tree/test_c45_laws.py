"""What holds for every table: C4.5 and ID3 as laws."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import baytree as bt
from law_settings import settings

MAKERS = {
    "c4.5": lambda **given: bt.C45Classifier(n_jobs=1, **given),
    "j48": lambda **given: bt.C45Classifier(conventions="j48", n_jobs=1, **given),
    "groups": lambda **given: bt.C45Classifier(subset=True, n_jobs=1, **given),
    "two branches": lambda **given: bt.C45Classifier(conventions="j48", binary=True, n_jobs=1, **given),
    "unpruned": lambda **given: bt.C45Classifier(min_objects=1, pruning=None, n_jobs=1, **given),
    "id3": lambda **given: bt.ID3Classifier(n_jobs=1, **given),
}
every_tree = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
often = settings(max_examples=8, deadline=None)


@st.composite
def tables(draw, missing=True):
    """Two numeric and two nominal columns with few values, so that ties and holes are common; and labels."""
    n = draw(st.integers(1, 40))
    holes = [np.nan] if missing else []
    numbers = st.sampled_from([0.0, 0.1, 0.7, 1.0, 1e9, 1e9 + 1, *holes])
    names = st.sampled_from(["a", "b", "c", "日", *([None] if missing else [])])
    frame = {name: draw(hnp.arrays(float, n, elements=numbers)) for name in ("x", "y")}
    frame |= {name: draw(st.lists(names, min_size=n, max_size=n)) for name in ("u", "v")}
    labels = draw(st.lists(st.sampled_from(["no", "yes", "maybe"]), min_size=n, max_size=n))
    levels = pd.CategoricalDtype(["a", "b", "c", "日"])
    return pd.DataFrame(frame).astype({"u": levels, "v": levels}), np.array(labels, object)


def trees_are_equal(one, other):
    a, b = one.tree_, other.tree_
    names = ("column", "first", "branches", "cut", "missing", "counts", "share", "value", "prediction")
    return all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in names)


@every_tree
@given(table=tables())
@often
def test_probabilities_are_probabilities_and_the_answer_is_the_largest(make, table):
    X, y = table
    model = make().fit(X, y)
    answer = model.predict_proba(X)
    assert np.all(answer >= 0)
    np.testing.assert_allclose(answer.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert list(model.predict(X)) == list(model.classes_[answer.argmax(axis=1)])


@every_tree
@given(table=tables(missing=False), repeats=st.lists(st.integers(1, 3), min_size=40, max_size=40))
@often
def test_a_weight_is_a_number_of_copies(make, table, repeats):
    X, y = table
    repeats = np.array(repeats[: len(y)])
    weighted = make().fit(X, y, sample_weight=repeats)
    copied = make().fit(X.loc[X.index.repeat(repeats)].reset_index(drop=True), np.repeat(y, repeats))
    assert trees_are_equal(weighted, copied)


@every_tree
@given(table=tables())
@often
def test_a_row_of_weight_zero_was_never_there(make, table):
    X, y = table
    extra = pd.concat([X, X.iloc[:1].assign(x=-5.0)], ignore_index=True)
    with_zero = make().fit(extra, np.append(y, y[0]), sample_weight=np.append(np.ones(len(y)), 0))
    assert trees_are_equal(with_zero, make().fit(X, y))


@every_tree
@given(table=tables())
@often
def test_names_of_columns_do_not_matter(make, table):
    X, y = table
    assert trees_are_equal(make().fit(X, y), make().fit(X.set_axis(["Z", "", "<b>", "0"], axis=1), y))


@every_tree
@given(table=tables())
@often
def test_a_row_that_misses_everything_gets_the_distribution_of_the_root(make, table):
    X, y = table
    model = make().fit(X, y)
    nothing = pd.DataFrame({"x": [np.nan], "y": [np.nan]}).assign(u=pd.Series([None], dtype=X.u.dtype))
    answer = model.predict_proba(nothing.assign(v=pd.Series([None], dtype=X.v.dtype)))[0]
    shares = np.array([(y == label).mean() for label in model.classes_])
    np.testing.assert_allclose(answer, shares, rtol=0, atol=1e-6)


@every_tree
@given(table=tables())
@often
def test_an_explanation_adds_up_to_the_answer(make, table):
    X, y = table
    model = make().fit(X, y)
    for ledger, answer in zip(model.explain(X), model.predict_proba(X), strict=True):
        np.testing.assert_allclose(ledger.scores, answer, rtol=0, atol=1e-12)


@every_tree
@given(table=tables())
@often
def test_every_row_counts_once_at_each_level(make, table):
    X, y = table
    model = make().fit(X, y)
    for node in model.nodes():
        assert node["weight"] == pytest.approx(sum(node["counts"]), rel=1e-6, abs=1e-9)
        if node["children"]:
            below = sum(model.tree_.weight[child] for child in node["children"])
            assert below == pytest.approx(node["weight"], rel=1e-5)


@every_tree
def test_threads_do_not_matter(make):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(20_000, 6))).assign(c=pd.Categorical(rng.integers(0, 9, 20_000).astype(str)))
    X = X.mask(rng.random(X.shape) < 0.05).set_axis(list("abcdefg"), axis=1)
    y = (X.a.fillna(0) + (X.g == "3") + rng.normal(size=len(X)) > 0.5).astype(int)
    models = [make().set_params(n_jobs=n).fit(X[:4000], y[:4000]) for n in (1, 2, 3)]
    assert trees_are_equal(models[0], models[1])
    assert trees_are_equal(models[0], models[2])


@every_tree
@given(table=tables())
@settings(max_examples=10, deadline=None)
def test_a_saved_tree_answers_as_before(make, table, tmp_path_factory):
    X, y = table
    model = make().fit(X, y)
    path = tmp_path_factory.mktemp("models") / "tree.baytree"
    bt.save(model, path)
    np.testing.assert_array_equal(bt.load(path).predict_proba(X), model.predict_proba(X))
