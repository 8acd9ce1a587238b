"""Docstrings tell the truth: every parameter, every fitted attribute, and examples that run."""

import doctest
import inspect
from functools import cached_property

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import baytree as bt
from baytree.base.model import Explanation
from baytree.comparison.leaderboard import Comparison
from baytree.estimators.docstrings import entries
from baytree.interview.interview import Interview, Question
from baytree.model_selection.result import CrossValidation

PUBLIC = [name for name in bt.__all__ if inspect.isclass(getattr(bt, name)) or inspect.isfunction(getattr(bt, name))]
ESTIMATORS = [name for name in PUBLIC if inspect.isclass(getattr(bt, name)) and issubclass(getattr(bt, name), BaseEstimator)]
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(getattr(bt, name))]
RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RANDOM.normal(size=60),
        "b": RANDOM.integers(0, 3, 60),
        "y": np.where(RANDOM.random(60) < 0.5, "no", "yes"),
    }
)


def sections(thing):
    return inspect.getdoc(thing) or ""


def fitted(name):
    kind = getattr(bt, name)
    needs_another = any(p.default is p.empty for p in list(inspect.signature(kind).parameters.values())[:1])
    model = kind(bt.GaussianNB()) if needs_another else kind()
    if "trace" in model.get_params():
        model.set_params(trace=True)
    frame = FRAME.assign(y=FRAME.a) if issubclass(getattr(bt, name), RegressorMixin) else FRAME
    whole = name in ("CategoricalNB", "MultinomialNB", "ComplementNB")  # take no negative numbers
    return model.fit(frame[["b", "y"]] if whole else frame, "y")


@pytest.mark.parametrize("name", [*ESTIMATORS, *FUNCTIONS])
def test_every_parameter_has_an_entry_of_its_own(name):
    thing = getattr(bt, name)
    parameters = [each for each in inspect.signature(thing).parameters if each != "self"]
    assert list(entries(sections(thing), "Parameters")) == parameters


@pytest.mark.parametrize("name", ["Column", "Schema", "Text"])
def test_every_field_of_a_record_has_an_entry(name):
    kind = getattr(bt, name)
    assert list(entries(sections(kind), "Parameters")) == list(inspect.signature(kind).parameters)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_of_a_method_has_an_entry(name):
    for method, function in inspect.getmembers(getattr(bt, name), inspect.isroutine):
        if method.startswith("_") or not function.__module__.startswith("baytree"):
            continue
        parameters = [each for each in inspect.signature(function).parameters if each != "self"]
        assert list(entries(sections(function), "Parameters")) == parameters, method


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_fitted_attribute_is_documented_and_every_documented_one_is_there(name):
    model = fitted(name)
    properties = [each for each, value in inspect.getmembers(type(model)) if isinstance(value, property)]
    found = {each for each in [*vars(model), *properties] if each.endswith("_") and not each.startswith("_")}
    found -= set(model.get_params())
    documented = set(entries(sections(type(model)), "Attributes"))
    assert found - documented == set()
    assert {each for each in documented if not hasattr(model, each)} <= {"path_", "loss_curve_"}


@pytest.mark.parametrize("kind", [Comparison, CrossValidation, Explanation, Interview, Question])
def test_every_attribute_of_a_result_is_documented(kind):
    members = inspect.getmembers(kind, lambda value: isinstance(value, cached_property) or not inspect.isroutine(value))
    shown = [name for name, value in members if not (value.__doc__ or "").startswith("Deprecated name")]
    found = {name for name in [*shown, *getattr(kind, "__annotations__", {})] if not name.startswith("_")}
    told = {name.strip() for names in entries(sections(kind), "Attributes") for name in names.split(",")}
    assert found == told


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_are_there_and_run(name):
    thing = getattr(bt, name)
    tests = [test for test in doctest.DocTestFinder(recurse=False).find(thing, name, globs={}) if test.examples]
    assert tests, f"{name} shows no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in tests:
        words: list[str] = []
        assert runner.run(test, out=words.append).failed == 0, "".join(words)
