"""The models by the short names that `fit --model`, `compare` and its advice share. Nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from baytree.homes import HOMES

if TYPE_CHECKING:
    from baytree.estimators.base import Estimator

BASELINE = "majority class"
CLASSIFICATION, REGRESSION = "classification", "regression"


class Family(NamedTuple):
    """A family of models: its name in a leaderboard, the estimator that it is, and settings that suit a raw table."""

    name: str
    estimator: str  # its public name
    settings: Mapping[str, Any] = {}
    effort: float = 1.0  # of one fold beside the other families, on a census of 32,000 rows; after what others began with
    competes: bool = True  # whether `compare` tries it without being asked
    takes_text: bool = False

    @property
    def kind(self) -> type[Estimator]:
        """The estimator's class."""
        return getattr(import_module(f"baytree.{HOMES[self.estimator]}"), self.estimator)

    def made(self, **settings: Any) -> Estimator:
        """An unfitted estimator, with these settings over the usual ones."""
        return self.kind(**{**self.settings, **settings})


# weaker penalties than these leave classes that can be told apart with weights beyond all reading, and take longest
STRENGTHS = (
    0.0001, 0.00046415888336127773, 0.002154434690031882, 0.01, 0.046415888336127774,
    0.21544346900318823, 1.0, 4.641588833612772, 21.54434690031882, 100.0,
)  # fmt: skip
_BY_CV = {"Cs": STRENGTHS, "max_iter": 100}
_SPLINES = {"max_degree": 2, "max_terms": 41}  # more terms take long, and pruning keeps few of them
_LOGISTIC = "LogisticRegressionCV"
CLASSIFIERS = {
    "majority": Family(BASELINE, "DecisionTreeClassifier", {"max_depth": 0}, effort=0.2, takes_text=True),
    "id3": Family("ID3", "ID3Classifier"),
    "c45": Family("C4.5", "C45Classifier", effort=1.3),
    "c50": Family("C5.0", "C50Classifier", effort=2.4),
    "c50-rules": Family("C5.0, rules", "C50Classifier", {"rules": True}, effort=1.0),
    "c50-boosted": Family("C5.0, 10 trials", "C50Classifier", {"trials": 10}, effort=24.0, competes=False),
    "cart": Family("CART, pruned by 1 SE", "CARTClassifier", {"cp": 0.0005, "pruning": "1se"}, effort=6.5),
    "chaid": Family("CHAID", "CHAIDClassifier", effort=0.9),
    "nb-mle": Family("naive Bayes, mle", "NaiveBayesClassifier", {"estimate": "mle"}, effort=0.1, takes_text=True),
    "nb": Family("naive Bayes, bayes", "NaiveBayesClassifier", {"estimate": "bayes"}, effort=0.1, takes_text=True),
    "lda": Family("LDA", "LinearDiscriminantAnalysis", effort=0.3),
    "qda": Family("QDA", "QuadraticDiscriminantAnalysis", effort=0.3),
    "logistic": Family("logistic, L2 by CV", _LOGISTIC, {"penalty": "l2", **_BY_CV}, effort=4.0, takes_text=True),
    "lasso": Family("logistic, L1 by CV", _LOGISTIC, {"penalty": "l1", **_BY_CV}, effort=7.0, takes_text=True),
    "mars": Family("MARS", "MARSClassifier", _SPLINES, effort=3.8),
    "logistic-fixed": Family("logistic, L2 at C = 1", "LogisticRegression", effort=0.5, competes=False, takes_text=True),
    "cart-cp": Family("CART, cp 0.01", "CARTClassifier", competes=False),
    "tree": Family("tree, not pruned", "DecisionTreeClassifier", competes=False),
    "optimal": Family("optimal tree of depth 3", "OptimalTreeClassifier", effort=10.0, competes=False),
    "nbtree": Family("NBTree", "NBTreeClassifier", effort=5.0, competes=False),
    "streaming": Family("streaming tree", "StreamingTreeClassifier", competes=False),
}
REGRESSORS = {
    "mean": Family("mean", "DecisionTreeRegressor", {"max_depth": 0}, effort=0.2),
    "linear": Family("linear", "LinearRegression", effort=0.2),
    "lasso": Family("lasso by CV", "LinearRegressionCV", {"penalty": "l1"}),
    "cart": Family("CART, pruned by 1 SE", "CARTRegressor", {"cp": 0.0005, "pruning": "1se"}, effort=10.0),
    "cart-min": Family("CART, pruned by min", "CARTRegressor", {"cp": 0.0005, "pruning": "min"}, effort=10.0),
    "cart-cp": Family("CART, cp 0.01", "CARTRegressor"),
    "chaid": Family("CHAID", "CHAIDRegressor", effort=5.0),
    "mars": Family("MARS", "MARSRegressor", _SPLINES, effort=3.0),
    "tree": Family("tree, not pruned", "DecisionTreeRegressor", competes=False),
}
FAMILIES = {CLASSIFICATION: CLASSIFIERS, REGRESSION: REGRESSORS}
# what `compare` can judge them by, and the metrics that are meant
JUDGES = {
    CLASSIFICATION: {
        "brier": "Brier score", "log_loss": "log loss", "accuracy": "accuracy", "auc": "AUC", "cost": "expected cost",
    },
    REGRESSION: {"squared_error": "squared error", "absolute_error": "MAE"},
}  # fmt: skip


def names() -> list[str]:
    """The short names, those of classes first."""
    return list(dict.fromkeys([*CLASSIFIERS, *REGRESSORS]))


def judges() -> list[str]:
    """What models can be judged by, classes first."""
    return [name for names in JUDGES.values() for name in names]


def named(short: str) -> dict[str, Family]:
    """The families of that short name by their task; none where there is no such model."""
    return {task: families[short] for task, families in FAMILIES.items() if short in families}
