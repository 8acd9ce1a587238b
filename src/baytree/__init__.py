"""baytree: classifiers that a person can read, on raw tables.

>>> import baytree as bt
>>> frame = bt.datasets.load("penguins")
>>> model = bt.CARTClassifier().fit(frame, "species")
>>> model.predict(frame[:2]).tolist()
['Adelie', 'Adelie']

The public names by topic; `help(bt.NAME)` describes each of them.

Naive Bayes and the joint distribution
    NaiveBayesClassifier           an event model per column; missing values, text, merge and forget
    JointDistribution              probabilities of any event, by counting
    GaussianNB                     normal columns, with scikit-learn's parameters
    BernoulliNB                    binary columns, with scikit-learn's parameters
    CategoricalNB                  columns of codes, with scikit-learn's parameters
    MultinomialNB                  counts of words, with scikit-learn's parameters
    ComplementNB                   counts of words against all other classes
    NBTreeClassifier               decision tree with naive Bayes models in its leaves
    estimate_bernoulli             probability of success by MLE, MAP and posterior mean
    estimate_categorical           probabilities of levels by MLE, MAP and posterior mean
    estimate_normal                mean and variance by MLE, MAP and posterior

Trees and rules
    DecisionTreeClassifier         free choice of criterion, branching, missing-value rule and pruning
    DecisionTreeRegressor          the same for numbers
    ID3Classifier                  ID3
    C45Classifier                  C4.5, and Weka's J48
    C50Classifier                  C5.0: trees, rule sets and boosting
    CARTClassifier                 CART with rpart's parameters
    CARTRegressor                  CART for numbers
    CHAIDClassifier                CHAID
    CHAIDRegressor                 CHAID for numbers
    OptimalTreeClassifier          the best tree of a given depth, with a certificate
    StreamingTreeClassifier        a tree that learns row by row
    entropy                        entropy in bits, of labels or counts
    gini                           Gini impurity
    classification_error           proportion of rows outside the most frequent class
    conditional_entropy            entropy that remains when a column is known
    information_gain               what a column tells about the target
    plot_impurities                the three impurities as curves

Linear models, splines and curves
    LogisticRegression             two or more classes, with l1, l2 or elastic-net penalty
    LogisticRegressionCV           the same, penalty strength by cross-validation
    LinearRegression               least squares, lasso, ridge, elastic net
    LinearRegressionCV             the same, penalty strength by cross-validation
    LinearDiscriminantAnalysis     Gaussian classes with a common covariance
    QuadraticDiscriminantAnalysis  Gaussian classes with their own covariances
    MARSClassifier                 sums of hinges for classes
    MARSRegressor                  sums of hinges for numbers
    AdditiveClassifier             a curve per column, and pairs that interact, for classes
    AdditiveRegressor              the same for numbers
    Scorecard                      whole points for bins of columns, for two classes

Features and feature selection
    rank_features                  filters: information gain, gain ratio, chi-squared, mRMR, …
    SelectFeatures                 filter as a scikit-learn selector
    bin_column                     optimal bins of a column, with weight of evidence
    ForwardSelection               wrapper that adds columns
    BackwardSelection              wrapper that removes columns
    one_hot                        nominal columns as columns of 0 and 1
    bag_of_words                   word counts or tf-idf of texts
    plot_importances               the most important columns of a model

Validation and comparison
    audit                          traps in a table: leaks, duplicates, groups, order in time, imbalance
    Audit, Finding                 what it returns
    compare                        every model on the same folds, and which to take
    cross_validate                 one model by cross-validation
    evaluate                       a fitted model on rows whose target is known
    learning_curve                 score against the number of training rows
    compare_assumptions            generative beside discriminative classifiers
    root_stability                 how often each column is the root of a tree
    conformal                      sets of classes that contain the truth with a given probability
    reject_curve                   accuracy against the proportion of rows that are predicted
    plot_reject                    the same as a plot

Explanation
    report                         a page that shows a model and answers what-if questions
    plot_regions                   predictions over one or two columns
    diff                           what differs between two models
    drift                          what differs between new rows and the training rows

Data, files and export
    read                           a table on disk, as the command line reads it
    scan                           a table on disk that is larger than memory
    sql                            rows of a database, which stay there
    datasets                       small bundled tables
    Schema, Column, Kind, Text     what each column is, and how to declare it
    partial_fit                    learn from files batch by batch, safe against a kill
    save, load                     model files: readable JSON, no pickle
    export                         SQL, ONNX, PMML, Python, JavaScript, C, JSON
    from_sklearn                   a fitted scikit-learn model as a baytree model
    BaytreeWarning                 warnings about the table or the fit
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from baytree._registry import PUBLIC_MODULES
from baytree.version import __version__ as __version__

_PUBLIC_SUBMODULES = ("datasets",)  # public submodules, used as in bt.datasets.load("iris")

__all__ = sorted([*PUBLIC_MODULES, *_PUBLIC_SUBMODULES])


def __getattr__(name: str) -> Any:
    if name in _PUBLIC_SUBMODULES:
        return import_module(f".{name}", __name__)
    if name in PUBLIC_MODULES:
        return getattr(import_module(f".{PUBLIC_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
