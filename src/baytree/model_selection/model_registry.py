"""Models by the short names of `fit --model` and `compare`. This module imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from baytree._registry import PUBLIC_MODULES

if TYPE_CHECKING:
    from baytree.estimators.base import Estimator

BASELINE = "majority class"

CLASSIFICATION, REGRESSION = "classification", "regression"


class ModelFamily(NamedTuple):
    """Model family: its name in a leaderboard, its estimator class, and default parameters for raw tables."""

    name: str
    estimator: str  # public name of the class
    settings: Mapping[str, Any] = {}
    effort: float = 1.0  # relative time of one fold on 32,000 rows of census data, without shared first stages
    competes: bool = True  # whether `compare` includes it by default
    takes_text: bool = False

    @property
    def kind(self) -> type[Estimator]:
        """The estimator's class."""
        return getattr(import_module(f"baytree.{PUBLIC_MODULES[self.estimator]}"), self.estimator)

    def made(self, **settings: Any) -> Estimator:
        """Unfitted estimator, with these parameters overriding the defaults."""
        return self.kind(**{**self.settings, **settings})


# weaker penalties give unreadably large coefficients if classes are separable, and take longest to fit
STRENGTHS = (
    0.0001, 0.00046415888336127773, 0.002154434690031882, 0.01, 0.046415888336127774,
    0.21544346900318823, 1.0, 4.641588833612772, 21.54434690031882, 100.0,
)  # fmt: skip

_BY_CV = {"Cs": STRENGTHS, "max_iter": 100}

_SPLINES = {"max_degree": 2, "max_terms": 41}  # more terms take long, and pruning keeps few of them

_LOGISTIC = "LogisticRegressionCV"

CLASSIFIERS = {
    "majority": ModelFamily(BASELINE, "DecisionTreeClassifier", {"max_depth": 0}, effort=0.2, takes_text=True),
    "id3": ModelFamily("ID3", "ID3Classifier"),
    "c45": ModelFamily("C4.5", "C45Classifier", effort=1.3),
    "c50": ModelFamily("C5.0", "C50Classifier", effort=2.4),
    "c50-rules": ModelFamily("C5.0, rules", "C50Classifier", {"rules": True}, effort=1.0),
    "c50-boosted": ModelFamily("C5.0, 10 trials", "C50Classifier", {"trials": 10}, effort=24.0, competes=False),
    "cart": ModelFamily("CART, pruned by 1 SE", "CARTClassifier", {"cp": 0.0005, "pruning": "1se"}, effort=6.5),
    "chaid": ModelFamily("CHAID", "CHAIDClassifier", effort=0.9),
    "nb-mle": ModelFamily("naive Bayes, mle", "NaiveBayesClassifier", {"estimate": "mle"}, effort=0.1, takes_text=True),
    "nb": ModelFamily("naive Bayes, bayes", "NaiveBayesClassifier", {"estimate": "bayes"}, effort=0.1, takes_text=True),
    "lda": ModelFamily("LDA", "LinearDiscriminantAnalysis", effort=0.3),
    "qda": ModelFamily("QDA", "QuadraticDiscriminantAnalysis", effort=0.3),
    "logistic": ModelFamily("logistic, L2 by CV", _LOGISTIC, {"penalty": "l2", **_BY_CV}, effort=4.0, takes_text=True),
    "lasso": ModelFamily("logistic, L1 by CV", _LOGISTIC, {"penalty": "l1", **_BY_CV}, effort=7.0, takes_text=True),
    "mars": ModelFamily("MARS", "MARSClassifier", _SPLINES, effort=3.8),
    "additive": ModelFamily("additive model", "AdditiveClassifier", effort=3.0),
    "scorecard": ModelFamily("scorecard", "Scorecard", effort=3.0, competes=False),  # for two classes
    "logistic-fixed": ModelFamily(
        "logistic, L2 at C = 1", "LogisticRegression", effort=0.5, competes=False, takes_text=True
    ),
    "cart-cp": ModelFamily("CART, cp 0.01", "CARTClassifier", competes=False),
    "tree": ModelFamily("tree, not pruned", "DecisionTreeClassifier", competes=False),
    "optimal": ModelFamily("optimal tree of depth 3", "OptimalTreeClassifier", effort=10.0, competes=False),
    "nbtree": ModelFamily("NBTree", "NBTreeClassifier", effort=5.0, competes=False),
    "streaming": ModelFamily("streaming tree", "StreamingTreeClassifier", competes=False),
}

REGRESSORS = {
    "mean": ModelFamily("mean", "DecisionTreeRegressor", {"max_depth": 0}, effort=0.2),
    "linear": ModelFamily("linear", "LinearRegression", effort=0.2),
    "lasso": ModelFamily("lasso by CV", "LinearRegressionCV", {"penalty": "l1"}),
    "cart": ModelFamily("CART, pruned by 1 SE", "CARTRegressor", {"cp": 0.0005, "pruning": "1se"}, effort=10.0),
    "cart-min": ModelFamily("CART, pruned by min", "CARTRegressor", {"cp": 0.0005, "pruning": "min"}, effort=10.0),
    "cart-cp": ModelFamily("CART, cp 0.01", "CARTRegressor"),
    "chaid": ModelFamily("CHAID", "CHAIDRegressor", effort=5.0),
    "mars": ModelFamily("MARS", "MARSRegressor", _SPLINES, effort=3.0),
    "additive": ModelFamily("additive model", "AdditiveRegressor", effort=2.0),
    "tree": ModelFamily("tree, not pruned", "DecisionTreeRegressor", competes=False),
}

FAMILIES = {CLASSIFICATION: CLASSIFIERS, REGRESSION: REGRESSORS}

# metrics that `compare` can rank models by: option value -> metric name
JUDGES = {
    CLASSIFICATION: {
        "brier": "Brier score", "log_loss": "log loss", "accuracy": "accuracy", "auc": "AUC", "cost": "expected cost",
    },
    REGRESSION: {"squared_error": "squared error", "absolute_error": "MAE"},
}  # fmt: skip


def names() -> list[str]:
    """Short names, those of classifiers first."""
    return list(dict.fromkeys([*CLASSIFIERS, *REGRESSORS]))


def judges() -> list[str]:
    """Option values of the metrics that `compare` ranks by, those of classifiers first."""
    return [name for names in JUDGES.values() for name in names]


def named(short: str) -> dict[str, ModelFamily]:
    """Families with that short name, by task; empty if there is none."""
    return {task: families[short] for task, families in FAMILIES.items() if short in families}
