"""baytree: classifiers that a person can read.

>>> import baytree as bt
>>> bt.__version__
'0.1.0'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Where each public name lives. Nothing is imported before it is asked for: the command line and prediction from a saved
# model start without scikit-learn.
_HOMES = {
    "BackwardSelection": "select.wrapper",
    "BernoulliNB": "bayes.dropins",
    "C45Classifier": "tree.c45",
    "CARTClassifier": "tree.cart_classifiers",
    "CARTRegressor": "tree.cart_classifiers",
    "CHAIDClassifier": "tree.chaid",
    "CHAIDRegressor": "tree.chaid",
    "CategoricalNB": "bayes.codes",
    "Column": "table",
    "ComplementNB": "bayes.dropins",
    "DecisionTreeClassifier": "tree.classifiers",
    "DecisionTreeRegressor": "tree.classifiers",
    "ForwardSelection": "select.wrapper",
    "GaussianNB": "bayes.dropins",
    "ID3Classifier": "tree.id3",
    "JointDistribution": "bayes.joint",
    "Kind": "table",
    "LinearDiscriminantAnalysis": "linear.classifiers",
    "LogisticRegression": "linear.logistic_classifiers",
    "LogisticRegressionCV": "linear.logistic_classifiers",
    "MultinomialNB": "bayes.dropins",
    "NaiveBayesClassifier": "bayes.classifiers",
    "QuadraticDiscriminantAnalysis": "linear.classifiers",
    "Schema": "table",
    "SelectFeatures": "select.filters",
    "Text": "table",
    "compare": "comparison.compare",
    "compare_assumptions": "comparison.assumptions",
    "cross_validate": "evaluate.validation",
    "learning_curve": "evaluate.curves",
    "load": "storage",
    "plot_importances": "plots",
    "plot_impurities": "plots",
    "plot_regions": "plots",
    "rank_features": "select.filters",
    "root_stability": "evaluate.curves",
    "save": "storage",
}

_ROOMS = ("datasets",)  # modules that users name themselves, as in bt.datasets.load("iris")

__all__ = sorted([*_HOMES, *_ROOMS])


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
