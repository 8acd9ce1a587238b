"""Parameters and values by the names that other libraries give them, for error messages that name ours.

`PARAMETERS` maps another library's parameter to ours, in order of preference; the first that the estimator has is named.
`VALUES` does the same for values of a parameter, and `ADVICE` holds parameters that have no counterpart. The tables are read
only when a name is unknown, by Python (`unknown_parameter`, `one_of`) and the command line alike.
"""

from __future__ import annotations

from collections.abc import Iterable

from baytree._warnings import did_you_mean

PARAMETERS: dict[str, tuple[str, ...]] = {
    # scikit-learn
    "ccp_alpha": ("cp",),
    "class_weight": ("class_prior", "priors"),
    "max_leaf_nodes": ("max_leaves",),
    "min_impurity_decrease": ("min_gain",),
    "min_impurity_split": ("min_impurity",),
    "min_samples_leaf": ("min_leaf", "min_cases", "min_objects"),
    "min_samples_split": ("min_split",),
    "monotonic_cst": ("monotone",),
    "n_estimators": ("trials",),
    "reg_param": ("shrinkage",),
    # R: rpart, C50, e1071, klaR, CHAID, earth, glmnet
    "alpha": ("l1_ratio",),
    "alpha2": ("alpha_merge",),
    "alpha3": ("alpha_resplit",),
    "alpha4": ("alpha_split",),
    "CF": ("confidence",),
    "cost": ("costs",),
    "degree": ("max_degree",),
    "earlyStopping": ("early_stopping",),
    "fL": ("alpha",),
    "fuzzyThreshold": ("fuzzy",),
    "lambda": ("lambda_", "C"),
    "laplace": ("alpha",),
    "loss": ("costs",),
    "maxdepth": ("max_depth",),
    "maxsurrogate": ("max_surrogates",),
    "minbucket": ("min_leaf",),
    "minCases": ("min_cases",),
    "minprob": ("min_prob",),
    "minsplit": ("min_split",),
    "minspan": ("min_span",),
    "endspan": ("end_span",),
    "nfold": ("cv",),
    "nfolds": ("cv",),
    "nk": ("max_terms",),
    "noGlobalPruning": ("global_pruning",),
    "prior": ("class_prior", "priors"),
    "thresh": ("threshold", "tol"),
    "usekernel": ("numeric",),
    "usesurrogate": ("use_surrogate",),
    "xval": ("cv",),
    # Weka
    "binarySplits": ("binary",),
    "confidenceFactor": ("confidence",),
    "minNumObj": ("min_objects", "min_leaf"),
    "reducedErrorPruning": ("pruning",),
    "subtreeRaising": ("raising",),
    "unpruned": ("pruning",),
    "useKernelEstimator": ("numeric",),
    "useLaplace": ("laplace",),
    "useMDLcorrection": ("mdl",),
    "useSupervisedDiscretization": ("numeric",),
    # textbooks
    "add_one": ("alpha",),
    "confidence_factor": ("confidence",),
    "cost_matrix": ("costs",),
    "folds": ("cv",),
    "lambd": ("lambda_", "C"),
    "min_samples": ("min_leaf",),
    "prior_probabilities": ("class_prior", "priors"),
    "pseudocount": ("alpha",),
    "regularization": ("C", "lambda_"),
    "smoothing": ("alpha",),
}

SETTINGS = {  # the value that stands for another library's switch
    "noGlobalPruning": "global_pruning=False",
    "reducedErrorPruning": "pruning='reduced_error'",
    "unpruned": "pruning=None",
    "useKernelEstimator": "numeric='kernel'",
    "usekernel": "numeric='kernel'",
    "useSupervisedDiscretization": "numeric='discretized'",
}

ADVICE = {  # parameters without a counterpart
    "ccp_alpha": "prune the fitted tree, as in prune(alpha=0.01, by='impurity'), or choose the penalty with pruning='1se'",
    "class_weight": "give sample_weight to fit",
    "fit_intercept": "the intercept is always fitted",
    "max_features": "every column is searched; choose columns with SelectFeatures",
    "maxcompete": "leave it out; trace=True lists the other columns of each split",
    "na.action": "missing values need no option",
    "na_action": "missing values need no option",
    "random_state": "nothing here is random, so leave it out",
    "splitter": "the best split is always taken, so leave it out",
    "store_covariance": "leave it out; covariance_ is always there",
    "var_smoothing": "a prior on each variance keeps it above 0 instead (estimate=, priors=)",
    "verbose": "leave it out; print(model) shows the result",
}

VALUES: dict[str, dict[object, tuple[object, ...]]] = {
    "criterion": {
        "classification_error": ("error",),
        "deviance": ("entropy",),
        "info_gain": ("entropy", "gain"),
        "information": ("entropy",),
        "information_gain": ("entropy", "gain"),
        "informationgain": ("entropy", "gain"),
        "log_loss": ("entropy",),
        "misclassification": ("error",),
        "misclassification_error": ("error",),
        "gain-ratio": ("gain_ratio",),
        "gini_index": ("gini",),
        "chi_squared": ("chi2",),
        "mse": ("squared_error",),
        "variance": ("squared_error",),
    },
    "scoring": {
        "log-loss": ("log_loss",),
        "neg_log_loss": ("log_loss",),
        "deviance": ("log_loss",),
        "roc_auc": ("auc",),
        "area": ("auc",),
        "error": ("accuracy",),
        "class": ("accuracy",),
        "brier_score": ("brier",),
        "neg_brier_score": ("brier",),
        "mse": ("squared_error",),
        "neg_mean_squared_error": ("squared_error",),
        "mae": ("absolute_error",),
        "neg_mean_absolute_error": ("absolute_error",),
    },
    "penalty": {"lasso": ("l1",), "ridge": ("l2",), "elastic_net": ("elasticnet",), "none": (None,)},
    "estimate": {"laplace": ("bayes",), "ml": ("mle",), "posterior": ("bayes",)},
    "numeric": {"normal": ("gaussian",), "density": ("kernel",), "entropy": ("discretized",), "mdl": ("discretized",)},
    "pruning": {"1-se": ("1se",), "best": ("min",), "cv": ("1se",), "none": (None,), "pessimistic": ("error_based",)},
    "covariance": {"ml": ("mle",), "moment": ("unbiased",)},
}


def unknown_parameter(name: str, known: Iterable[str]) -> str:
    """Message for an unknown parameter: our name for it, the closest one, or all of them.

    >>> unknown_parameter("minsplit", ["min_leaf", "min_split"])
    "there is no parameter 'minsplit'; it is called min_split here"
    >>> unknown_parameter("class_weight", ["alpha"])
    "there is no parameter 'class_weight'; give sample_weight to fit"
    """
    known = list(known)
    ours = next((each for each in PARAMETERS.get(name, ()) if each in known), None)
    if ours is None and name not in ADVICE:
        return did_you_mean("parameter", name, known, is_shortened=False)
    if ours is None:
        return f"there is no parameter {name!r}; {ADVICE[name]}"
    also = f", or {ADVICE[name]}" if name in ADVICE else ""
    setting = SETTINGS.get(name)
    hint = f"give {setting}" if setting else f"it is called {ours} here"
    return f"there is no parameter {name!r}; {hint}{also}"


def value_hint(parameter: str, value: object, choices: Iterable[object]) -> str:
    """Sentence part that names our word for another library's value; empty if there is none.

    >>> value_hint("criterion", "information_gain", ["gini", "entropy"])
    "'information_gain' is called 'entropy' here; "
    """
    words = VALUES.get(parameter, {})
    meant = words.get(value.lower(), ()) if isinstance(value, str) else ()
    choices = [str(each) if isinstance(each, str) else each for each in choices]
    ours = [each for each in meant if each in choices]
    return f"{value!r} is called {ours[0]!r} here; " if ours else ""
