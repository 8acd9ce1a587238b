"""A model from a file answers without scikit-learn, and is the estimator that was saved for whoever looks closer."""

import copy
import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor

import baytree as bt
from baytree import storage
from baytree.storage.lazy_estimator import LazyEstimator, loaded

IRIS = bt.datasets.load("iris", as_="pandas")


def as_in_a_new_process(model):
    content = storage.dumps(model)
    estimator = partial(storage.loads, content)
    return loaded(model._predictor, lambda: type(model), estimator)


@pytest.fixture(params=[bt.CARTClassifier(), bt.NaiveBayesClassifier(), bt.LinearRegression()], ids=str)
def fitted(request):
    return clone(request.param).fit(IRIS, "petal_width" if is_regressor(request.param) else "species")


def test_it_answers_bit_for_bit_like_the_estimator(fitted):
    light = as_in_a_new_process(fitted)
    np.testing.assert_array_equal(light.predict(IRIS), fitted.predict(IRIS))
    assert str(light) == str(fitted)
    assert [str(each) for each in light.explain(IRIS[:3])] == [str(each) for each in fitted.explain(IRIS[:3])]
    if is_classifier(fitted):
        np.testing.assert_array_equal(light.predict_proba(IRIS), fitted.predict_proba(IRIS))
    assert type(light).__mro__[-2] is LazyEstimator


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.model_,
        repr,
        dir,
        clone,
        copy.deepcopy,
        pickle.dumps,
        lambda model: model.set_params(unseen="error"),
        lambda model: setattr(model, "unseen", "error"),
        lambda model: hasattr(model, "no_such_thing"),
    ],
)
def test_it_is_the_estimator_once_more_is_asked(fitted, ask):
    light = as_in_a_new_process(fitted)
    ask(light)
    assert type(light) is type(fitted)
    light.unseen = fitted.unseen
    assert storage.dumps(light) == storage.dumps(fitted)


def test_it_is_an_estimator_for_whoever_looks(fitted):
    light = as_in_a_new_process(fitted)
    assert isinstance(light, type(fitted))
    assert isinstance(light, BaseEstimator)
    assert hasattr(light, "predict_proba") == hasattr(fitted, "predict_proba")
    assert is_classifier(light) == is_classifier(fitted)


def test_it_goes_on_learning():
    fitted = bt.NaiveBayesClassifier().fit(IRIS, "species")
    light = as_in_a_new_process(fitted).partial_fit(IRIS[:50], "species")
    assert storage.dumps(light) == storage.dumps(fitted.partial_fit(IRIS[:50], "species"))


@pytest.mark.slow
def test_a_new_process_predicts_without_scikit_learn(tmp_path):
    bt.save(bt.CARTClassifier().fit(IRIS, "species"), tmp_path / "m.baytree")
    code = (
        f"import sys, baytree as bt; model = bt.load({str(tmp_path / 'm.baytree')!r})\n"
        "print(model.predict({name: [1.0] for name in model.explain.__self__._predictor.schema.inputs}).tolist())\n"
        "assert not {'sklearn', 'scipy', 'pandas', 'polars'} & set(sys.modules)\n"
        "from importlib.util import find_spec\n"
        "unused = ['base.learner', 'formula', 'summary', 'rendering.model_text', 'data.inference.infer']\n"
        "unused += ['tree.model.summary', 'data.encoding.bag_of_words', 'data.encoding.tokenize']\n"
        "unused = [f'baytree.{name}' for name in unused]\n"
        "assert not set(unused) & set(sys.modules), set(unused) & set(sys.modules)\n"
        "assert all(find_spec(name) for name in unused)\n"
        "print(isinstance(model, bt.CARTClassifier), model.n_leaves_, type(model) is bt.CARTClassifier)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['setosa']", "True 3 True"]
