"""For every estimator and every value of every parameter: folds of the encoded table give what refitting the frame gives."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold

import baytree as bt
from baytree.model_selection.cross_validate import problem_of
from baytree.model_selection.trials import encodes_identically, with_fixed_kinds

SIZES = ["S", "M", "L"]
PRIORS = {"no": 0.5, "maybe": 0.2, "yes": 0.3}
COSTS = {"no": {"maybe": 1, "yes": 5}, "maybe": {"no": 1, "yes": 2}, "yes": {"no": 2, "maybe": 1}}
COMMON = {"unseen": ["missing", "error"], "n_jobs": [1, 2], "profile": [True, False]}
TREE = {
    "branching": ["binary", "multiway", "merge"],
    "missing": ["learned", "surrogate", "fractional", "category", "largest"],
    "max_depth": [None, 2],
    "max_leaves": [None, 4],
    "min_split": [2, 15],
    "min_leaf": [1, 6],
    "min_impurity": [0.0, 0.1],
    "min_gain": [0.0, 0.02],
    "averaging": [None, "prunings"],
    "monotone": [None, {"monotone": {"visits": "up"}}],
    "first_split": [None, "age"],
    "trace": [False, True],
}
CART = {
    "cp": [0.01, 0.0],
    "min_split": [20, 5],
    "min_leaf": [None, 3],
    "max_depth": [30, None, 2],
    "max_surrogates": [5, 0, 1],
    "use_surrogate": [0, 1, 2],
    "surrogate_style": [0, 1],
    "pruning": [None, {"pruning": "1se", "cp": 0.0, "min_split": 5}, {"pruning": "min", "cp": 0.0, "min_split": 5}],
    "cv": [{"cv": 3, "pruning": "min", "cp": 0.0}, {"cv": KFold(3), "pruning": "1se", "cp": 0.0}],
    "random_state": [None, {"random_state": 3, "pruning": "min", "cp": 0.0}],
    "averaging": [None, "prunings"],
    "monotone": [None, {"monotone": {"visits": "up"}}],
    "first_split": [None, "age"],
    "trace": [False, True],
}
CHAID = {
    "alpha_merge": [0.05, 0.5],
    "alpha_split": [0.05, 0.9],
    "alpha_resplit": [None, 0.04],
    "exhaustive": [False, True, "biggs", "ibm"],
    "min_split": [20, 4],
    "min_leaf": [7, 1],
    "min_prob": [0.01, 0.2],
    "max_depth": [None, 1],
    "bins": [10, 3],
    "averaging": [None, "prunings"],
    "trace": [False, True],
}
DISCRIMINANT = {
    "covariance": ["unbiased", "mle"],
    "shrinkage": [None, 0.3, "oas", "ledoit_wolf"],
    "priors": [None, PRIORS],
}
VALIDATED = {"split_without_gain": [False, True], "pruning": [None, "1se", "min"], "cv": [10, {"cv": 3, "pruning": "min"}]}
LOGISTIC = {
    "multi_class": ["multinomial", "ovr"],
    "standardize": [True, False],
    "ordinal": ["rank", "dummies"],
    "missing": ["mean+indicator", "mean"],
    "tol": [1e-8, 1e-4],
    "max_iter": [1000, 50],
    "class_weight": [None, "balanced", {"class_weight": {"no": 2.0, "maybe": 1.0, "yes": 0.5}}],
    "monotone": [None],  # this table has three classes; of two see test_signs.py
}
REGRESSION = {
    "standardize": [True, False],
    "ordinal": ["rank", "dummies"],
    "missing": ["mean+indicator", "mean"],
    "conventions": [None, "glmnet"],
}
MARS = {
    "max_degree": [1, 2, 3],
    "max_terms": [None, 5],
    "penalty": [None, 0, -1],
    "min_span": [0, 3, -2],
    "end_span": [0, 5],
    "threshold": [0.001, 0.0],
    "fast_k": [20, 0],
    "fast_beta": [1.0, 0.0],
    "auto_linear": [True, False],
    "prune": [True, False],
    "standardize": [False, True],
    "ordinal": ["rank", "dummies"],
    "missing": ["mean+indicator", "mean"],
    "conventions": [None, "earth"],
    "monotone": [None],
}
ADDITIVE = {"interactions": ["auto", 0, 2], "max_bins": [256, 8], "monotone": [None], "smooth": [0.0, 1.0]}
DROPIN = {"force_alpha": [True, False], "fit_prior": [True, False], "class_prior": [None, [0.2, 0.3, 0.5]]}
# Each parameter's documented values; a dict sets further parameters that the value needs.
VALUES: dict[str, dict[str, list[Any]]] = {
    "DecisionTreeClassifier": {
        "criterion": ["error", "entropy", "gini", "gain_ratio", "twoing", "chi2"],
        "alpha": [None, {"alpha": 0.05, "criterion": "chi2"}],
        "priors": [None, {"priors": PRIORS}],
        **TREE,
        "monotone": [None, {"monotone": {"age": "up"}, "schema": {"label": list(PRIORS)}}],
        "max_split_columns": [1, 2, 3],
        **VALIDATED,
    },
    "DecisionTreeRegressor": {
        "criterion": ["sse"],
        **TREE,
        **VALIDATED,
        "missing": ["learned", "surrogate", "category", "largest"],
    },
    "ID3Classifier": {"split_without_gain": [False, True], "averaging": [None, "prunings"], "trace": [False, True]},
    "C45Classifier": {
        "conventions": ["c4.5", "j48"],
        "criterion": ["gain_ratio", "gain"],
        "min_objects": [2, 8],
        "confidence": [0.25, 0.05],
        "pruning": ["error_based", "reduced_error", None],
        **{name: [False, True] for name in ("binary", "subset", "raising", "collapse", "mdl", "laplace", "trace")},
        "midpoint": [False, True],
        "averaging": [None, "prunings"],
    },
    "C50Classifier": {
        "trials": [1, 4],
        "confidence": [0.25, 0.05],
        "min_cases": [2, 8],
        **{name: [False, True] for name in ("rules", "subset", "global_pruning", "winnow", "fuzzy")},
        "early_stopping": [{"early_stopping": True, "trials": 3}, {"early_stopping": False, "trials": 3}],
    },
    "NBTreeClassifier": {
        "criterion": ["entropy", "gini"],
        "max_depth": [None, 2],
        "min_split": [2, 15],
        "min_leaf": [5, 1],
        "min_bayes": [30, 8],
        "alpha": [1.0, 0.3],
    },
    "OptimalTreeClassifier": {
        "max_depth": [3, 1, 4],
        "penalty": [0.01, 0.0],
        "min_leaf": [1, 8],
        "max_tests": [None, 3],
        "time_limit": [60, None],
    },
    "StreamingTreeClassifier": {
        "leaves": [{"leaves": "counts", "grace": 20}, {"leaves": "adaptive", "grace": 20}],
        "revise": [True, {"revise": False, "grace": 20, "confidence": 0.01}],
        "criterion": [{"criterion": "entropy", "grace": 20}, {"criterion": "gini", "grace": 20}],
        "confidence": [1e-7, {"confidence": 0.05, "grace": 20}],
        "grace": [200, 30],
        "tie": [0.05, {"tie": 0.5, "grace": 20, "revise": False}],
        "max_depth": [None, {"max_depth": 1, "grace": 20, "confidence": 0.1}],
        "max_bins": [64, {"max_bins": 8, "grace": 30}],
    },
    "CARTClassifier": {
        "criterion": ["gini", "entropy"],
        "priors": [None, {"priors": PRIORS}],
        "prune_by": ["risk", {"prune_by": "impurity", "pruning": "min", "cp": 0.0}],
        **CART,
        "monotone": [None, {"monotone": {"age": "up"}, "schema": {"label": list(PRIORS)}}],
        "cv": [*CART["cv"], {"cv": StratifiedKFold(3), "pruning": "min", "cp": 0.0}],
    },
    "CARTRegressor": CART,
    "CHAIDClassifier": {"test": ["pearson", "likelihood_ratio", "row_effects"], **CHAID},
    "CHAIDRegressor": CHAID,
    "NaiveBayesClassifier": {
        "events": [None, {"events": {"age": "kernel"}}, {"events": {"visits": "poisson", "age": "discretized"}}],
        "estimate": ["mle", "map", "bayes"],
        "numeric": ["gaussian", "kernel", "discretized"],
        "alpha": [1.0, 0.25],
        "priors": [None, {"priors": {"age": {"m0": 40, "k0": 1, "a0": 2, "b0": 50}, "label": {"yes": 3}}}],
        "class_prior": [None, {"class_prior": PRIORS}],
        "conventions": [None, "sklearn", "e1071", "weka"],
    },
    "GaussianNB": {"priors": [None, [0.2, 0.3, 0.5]], "var_smoothing": [1e-9, 0.1]},
    "BernoulliNB": {"alpha": [1.0, 0.0], "binarize": [0.0, 1.5], **DROPIN},
    "MultinomialNB": {"alpha": [1.0, 0.3], **DROPIN},
    "ComplementNB": {"alpha": [1.0, 0.3], "norm": [False, True], **DROPIN},
    "CategoricalNB": {"alpha": [1.0, 0.3], "min_categories": [None, 9], **DROPIN},
    "JointDistribution": {"alpha": [0.0, 1.0]},
    "LinearDiscriminantAnalysis": DISCRIMINANT,
    "QuadraticDiscriminantAnalysis": {**DISCRIMINANT, "diagonal": [False, True]},
    "MARSRegressor": {**MARS, "monotone": [None, {"monotone": {"visits": "up"}}]},
    "MARSClassifier": MARS,
    "AdditiveRegressor": {**ADDITIVE, "monotone": [None, {"monotone": {"visits": "up"}}]},
    "AdditiveClassifier": ADDITIVE,
    "Scorecard": {
        "base_points": [600, 500],
        "base_odds": [50, 20],
        "points_to_double": [20, 40],
        "max_bins": [6, 3],
        "min_bin": [0.05, 0.2],
        "monotone": ["auto", None, {"monotone": {"age": "up"}}],
        "good": [None, "yes"],
        "select": ["l1", "stepwise", "all"],
        "n_folds": [5, 3],
        "rule": ["min", "1se"],
    },
    "LinearRegression": {
        "penalty": [None, "l2", "l1", {"penalty": "elasticnet", "l1_ratio": 0.4}],
        "C": [1.0, {"C": 0.1, "penalty": "l2"}],
        "lambda_": [None, {"lambda_": 0.3, "penalty": "l1"}],
        "l1_ratio": [{"penalty": "elasticnet", "l1_ratio": 0.9}],
        **REGRESSION,
    },
    "LinearRegressionCV": {
        "penalty": ["l2", "l1", {"penalty": "elasticnet", "l1_ratio": 0.4}],
        "lambdas": [4, [0.1, 1.0]],
        "Cs": [None, [0.1, 1.0]],
        "cv": [3, KFold(3)],
        "rule": ["min", "1se"],
        "scoring": ["squared_error", "absolute_error"],
        "l1_ratio": [{"penalty": "elasticnet", "l1_ratio": 0.9}],
        **REGRESSION,
    },
    "LogisticRegression": {
        "penalty": ["l2", "l1", None, {"penalty": "elasticnet", "l1_ratio": 0.4}],
        "C": [1.0, 0.1],
        "lambda_": [None, 0.05],
        "l1_ratio": [{"penalty": "elasticnet", "l1_ratio": 0.9}],
        "solver": [
            "auto",
            "newton",
            "lbfgs",
            {"solver": "cd", "penalty": "l1"},
            {"solver": "gradient_descent", "tol": 0.1},
        ],
        "warm_start": [False, True],
        "learning_rate": [{"learning_rate": 0.5, "solver": "gradient_descent", "max_iter": 50}],
        "path": [0, 5],
        **LOGISTIC,
    },
    "LogisticRegressionCV": {
        "penalty": ["l2", "l1", {"penalty": "elasticnet", "l1_ratio": 0.4}],
        "Cs": [4, [0.1, 1.0]],
        "cv": [3, KFold(3), StratifiedKFold(3)],
        "rule": ["min", "1se"],
        "scoring": ["log_loss", "accuracy", "auc", "brier"],
        "l1_ratio": [{"penalty": "elasticnet", "l1_ratio": 0.9}],
        "solver": ["auto"],
        **LOGISTIC,
    },
}
NUMBERS_ONLY = ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB")  # whose columns have no levels
EXACT = ("NB", "NaiveBayesClassifier", "JointDistribution", "Tree", "ID3", "C45", "CART", "CHAID")  # bit for bit


@cache
def table() -> pd.DataFrame:
    """Numbers with gaps, levels that few rows have, an order, a declared category with a level that no row has."""
    rng = np.random.default_rng(5)
    label = rng.choice(["no", "maybe", "yes"], 72)
    frame = pd.DataFrame({"age": np.round(30 + 8 * (label == "yes") + 6 * rng.normal(size=72), 1)})
    frame["visits"] = rng.poisson(2 + (label == "no"), 72)
    frame["colour"] = np.where(rng.random(72) < 0.5, label, rng.choice(["red", "blue"], 72)).astype(object)
    frame.loc[[7, 40], "colour"] = ["once", "also once"]
    frame["size"] = pd.Categorical(rng.choice(["S", "M", "M"], 72), categories=SIZES, ordered=True)
    frame["kind"] = pd.Categorical(rng.choice(["x", "y"], 72), categories=["y", "never", "x"])
    frame.loc[rng.random(72) < 0.15, "age"] = np.nan
    frame.loc[rng.random(72) < 0.1, "colour"] = None
    frame["label"] = label
    frame["amount"] = 3.0 * frame["visits"] + (label == "yes") + rng.normal(size=72)
    return frame


def rows_for(name: str) -> tuple[pd.DataFrame, str]:
    """What an estimator takes of the table, and its target."""
    frame = table()
    if is_regressor(getattr(bt, name)()):
        return frame.drop(columns="label"), "amount"
    frame = frame.drop(columns="amount")
    if name == "Scorecard":  # of two classes
        return frame.assign(label=frame["label"].replace("maybe", "no")), "label"
    if name in ("ID3Classifier", "JointDistribution"):
        return frame[["colour", "kind", "label"]].assign(colour=frame["colour"].fillna("none")), "label"
    if name.endswith("NB"):
        whole = {"visits": frame["visits"], "codes": frame["kind"].cat.codes.astype(int), "label": frame["label"]}
        return pd.DataFrame(whole), "label"
    return frame, "label"


def variants() -> list[Any]:
    """Every value of every parameter, one at a time; the fast suite tries one of each estimator.

    The default of one parameter is the estimator that the default of every other is: it is tried once.
    """
    found = {}
    for name, parameters in VALUES.items():
        for parameter, values in {**parameters, **common(name)}.items():
            for value in values:
                found.setdefault(repr((name, made(name, parameter, value).get_params())), (name, parameter, value))
    first = {case[0]: case for case in reversed(found.values())}
    return [pytest.param(*case, marks=() if case is first[case[0]] else pytest.mark.slow) for case in found.values()]


def common(name: str) -> dict[str, list[Any]]:
    """Parameters that every estimator of this kind has."""
    costs = {"no": {"yes": 2}, "yes": {"no": 1}} if name == "Scorecard" else COSTS
    return COMMON | ({"costs": [None, {"costs": costs}]} if is_classifier(getattr(bt, name)()) else {})


def made(name: str, parameter: str, value: Any) -> Any:
    settings = value if isinstance(value, dict) and parameter in value else {parameter: value}
    quick = {"Cs": 3, "cv": 3, "max_iter": 60, "tol": 1e-4} if name == "LogisticRegressionCV" else {}
    return getattr(bt, name)(**{**quick, **settings})


def folds(n_rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rows = np.arange(n_rows)
    return [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]


def refitted(estimator: Any, frame: pd.DataFrame, target: str, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
    fitted = clone(estimator).fit(frame.iloc[train], target)
    rows = frame.drop(columns=target).iloc[test]
    return fitted.predict(rows), fitted.predict_proba(rows) if is_classifier(fitted) else None


@pytest.mark.parametrize(("name", "parameter", "value"), variants(), ids=lambda part: str(part)[:40])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_folds_of_the_encoded_table_give_what_refitting_the_frame_gives(name, parameter, value):
    frame, target = rows_for(name)
    estimator = made(name, parameter, value)
    problem = problem_of(estimator, frame, target).without_identifiers()
    is_anew = estimator.unseen == "error" or name == "CategoricalNB"  # whose levels are all codes up to the largest
    assert encodes_identically(with_fixed_kinds(estimator, problem), problem) is not is_anew
    pairs = folds(len(frame))
    if estimator.unseen == "error" and name not in NUMBERS_ONLY:
        with pytest.raises(ValueError, match="was not seen in training"):  # as refitting refuses it
            bt.cross_validate(estimator, frame, target, cv=pairs)
        return
    expected = [refitted(estimator, frame, target, *pair) for pair in pairs]
    result = bt.cross_validate(estimator, frame, target, cv=pairs)
    rounding = 0 if any(word in name for word in EXACT) else 1e-12
    for trial, (answers, probability) in zip(result.trials, expected, strict=True):
        if probability is None:
            np.testing.assert_allclose(trial.answer, answers, rtol=rounding, atol=0)
            continue
        np.testing.assert_allclose(trial.probability, probability, rtol=0, atol=rounding)
        assert [result.classes[code] for code in trial.answer] == answers.tolist()


def test_the_list_of_values_has_every_estimator_and_every_parameter():
    assert set(VALUES) == {name for name in bt.__all__ if hasattr(getattr(bt, name), "explain")}
    for name, parameters in VALUES.items():
        assert {*parameters, *common(name), "schema"} == set(inspect.signature(getattr(bt, name)).parameters)
