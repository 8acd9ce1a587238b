"""A parameter or value by another library's name is answered with ours."""

import pytest

import baytree as bt
from baytree._registry import PUBLIC_MODULES
from baytree.param_synonyms import PARAMETERS, VALUES

ESTIMATORS = [kind for name in PUBLIC_MODULES if hasattr(kind := getattr(bt, name), "parameter_names")]


@pytest.mark.parametrize(
    ("call", "ours"),
    [
        (lambda: bt.NaiveBayesClassifier(laplace=1), "alpha"),
        (lambda: bt.NaiveBayesClassifier(fL=1), "alpha"),
        (lambda: bt.NaiveBayesClassifier(usekernel=True), "numeric='kernel'"),
        (lambda: bt.NaiveBayesClassifier(class_weight="balanced"), "class_prior"),
        (lambda: bt.CARTClassifier(class_weight="balanced"), "priors .*sample_weight"),
        (lambda: bt.C45Classifier(class_weight="balanced"), "sample_weight"),
        (lambda: bt.DecisionTreeClassifier(ccp_alpha=0.1), "alpha"),
        (lambda: bt.CARTClassifier(minsplit=20), "min_split"),
        (lambda: bt.CARTClassifier(minbucket=7), "min_leaf"),
        (lambda: bt.CARTClassifier(maxdepth=7), "max_depth"),
        (lambda: bt.C45Classifier(confidence_factor=0.25), "confidence"),
        (lambda: bt.C50Classifier(n_estimators=10), "trials"),
        (lambda: bt.CARTClassifier().set_params(minsplit=20), "min_split"),
    ],
)
def test_a_parameter_of_another_library_is_answered_with_ours(call, ours):
    with pytest.raises((TypeError, ValueError), match=f"there is no parameter .*{ours}"):
        call()


@pytest.mark.parametrize(
    ("model", "ours"),
    [
        (bt.DecisionTreeClassifier(criterion="information_gain"), "'entropy'"),
        (bt.DecisionTreeClassifier(criterion="classification_error"), "'error'"),
        (bt.DecisionTreeClassifier(criterion="misclassification"), "'error'"),
        (bt.C45Classifier(criterion="information_gain"), "'gain'"),
        (bt.LogisticRegression(penalty="lasso"), "'l1'"),
    ],
)
def test_a_value_of_another_library_is_answered_with_ours(model, ours):
    with pytest.raises(ValueError, match=f"is called {ours} here"):
        model.fit({"x": [1, 2, 3, 4], "y": ["a", "b", "a", "b"]}, "y")


def test_an_unknown_word_lists_every_parameter():
    with pytest.raises(TypeError) as raised:
        bt.DecisionTreeClassifier(qqqq=1)
    assert all(name in str(raised.value) for name in bt.DecisionTreeClassifier.parameter_names())


def test_every_parameter_of_the_table_exists_somewhere_and_is_not_the_other_librarys_word():
    known = {name for kind in ESTIMATORS for name in kind.parameter_names()}
    assert {ours for names in PARAMETERS.values() for ours in names} <= known
    for theirs, names in PARAMETERS.items():
        assert theirs not in names
    assert set(VALUES) <= known
