"""baytree: classifiers that a person can read.

>>> import baytree as bt
>>> bt.__version__
'0.1.0'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from baytree.version import __version__ as __version__

# Where each public name lives. Nothing is imported before it is asked for: the command line and prediction from a saved
# model start without scikit-learn.
_HOMES = {
    "BackwardSelection": "choose.select.wrapper",
    "BernoulliNB": "estimators.count_dropins",
    "C45Classifier": "estimators.c45",
    "CARTClassifier": "estimators.cart",
    "CARTRegressor": "estimators.cart",
    "CHAIDClassifier": "estimators.chaid",
    "CHAIDRegressor": "estimators.chaid",
    "CategoricalNB": "estimators.categorical_dropin",
    "Column": "table.schema",
    "ComplementNB": "estimators.count_dropins",
    "DecisionTreeClassifier": "estimators.open_trees",
    "DecisionTreeRegressor": "estimators.open_trees",
    "ForwardSelection": "choose.select.wrapper",
    "GaussianNB": "estimators.gaussian_dropin",
    "ID3Classifier": "estimators.id3",
    "JointDistribution": "estimators.joint",
    "Kind": "table.schema",
    "LinearDiscriminantAnalysis": "estimators.discriminant",
    "LogisticRegression": "estimators.logistic",
    "LogisticRegressionCV": "estimators.logistic_cv",
    "MultinomialNB": "estimators.count_dropins",
    "NaiveBayesClassifier": "estimators.naive_bayes",
    "QuadraticDiscriminantAnalysis": "estimators.discriminant",
    "Schema": "table.schema",
    "SelectFeatures": "choose.select.filters",
    "Text": "table.schema",
    "compare": "choose.compare.compare",
    "compare_assumptions": "choose.compare.assumptions",
    "cross_validate": "choose.validate.validation",
    "export": "exports",
    "learning_curve": "choose.validate.curves",
    "load": "storage",
    "plot_importances": "show.plots",
    "plot_impurities": "show.plots",
    "plot_regions": "show.regions",
    "rank_features": "choose.select.filters",
    "root_stability": "choose.validate.curves",
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
