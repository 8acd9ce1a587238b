"""baytree: classifiers that a person can read. For editors and type checkers; names are loaded when they are asked for."""

from baytree import datasets as datasets
from baytree.bayes.one_parameter import estimate_bernoulli as estimate_bernoulli
from baytree.bayes.one_parameter import estimate_normal as estimate_normal
from baytree.choose.by_hand import classification_error as classification_error
from baytree.choose.by_hand import conditional_entropy as conditional_entropy
from baytree.choose.by_hand import entropy as entropy
from baytree.choose.by_hand import gini as gini
from baytree.choose.by_hand import information_gain as information_gain
from baytree.choose.compare.assumptions import compare_assumptions as compare_assumptions
from baytree.choose.compare.compare import compare as compare
from baytree.choose.conformal.conformal import conformal as conformal
from baytree.choose.evaluation import evaluate as evaluate
from baytree.choose.reject_curve import plot_reject as plot_reject
from baytree.choose.reject_curve import reject_curve as reject_curve
from baytree.choose.select.filters import SelectFeatures as SelectFeatures
from baytree.choose.select.filters import rank_features as rank_features
from baytree.choose.select.wrapper import BackwardSelection as BackwardSelection
from baytree.choose.select.wrapper import ForwardSelection as ForwardSelection
from baytree.choose.validate.curves import learning_curve as learning_curve
from baytree.choose.validate.curves import root_stability as root_stability
from baytree.choose.validate.validation import cross_validate as cross_validate
from baytree.diffs import diff as diff
from baytree.drifts import drift as drift
from baytree.engine.scan import scan as scan
from baytree.estimators.bayes.bernoulli_dropin import BernoulliNB as BernoulliNB
from baytree.estimators.bayes.categorical_dropin import CategoricalNB as CategoricalNB
from baytree.estimators.bayes.count_dropins import ComplementNB as ComplementNB
from baytree.estimators.bayes.count_dropins import MultinomialNB as MultinomialNB
from baytree.estimators.bayes.gaussian_dropin import GaussianNB as GaussianNB
from baytree.estimators.bayes.joint_distribution import JointDistribution as JointDistribution
from baytree.estimators.bayes.naive_bayes import NaiveBayesClassifier as NaiveBayesClassifier
from baytree.estimators.linear.discriminant import (
    LinearDiscriminantAnalysis as LinearDiscriminantAnalysis,
)
from baytree.estimators.linear.discriminant import (
    QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis,
)
from baytree.estimators.linear.logistic import LogisticRegression as LogisticRegression
from baytree.estimators.linear.logistic_cv import LogisticRegressionCV as LogisticRegressionCV
from baytree.estimators.linear.mars import MARSClassifier as MARSClassifier
from baytree.estimators.linear.mars import MARSRegressor as MARSRegressor
from baytree.estimators.linear.regression import LinearRegression as LinearRegression
from baytree.estimators.linear.regression_cv import LinearRegressionCV as LinearRegressionCV
from baytree.estimators.tree.c45 import C45Classifier as C45Classifier
from baytree.estimators.tree.c50 import C50Classifier as C50Classifier
from baytree.estimators.tree.cart import CARTClassifier as CARTClassifier
from baytree.estimators.tree.cart import CARTRegressor as CARTRegressor
from baytree.estimators.tree.chaid import CHAIDClassifier as CHAIDClassifier
from baytree.estimators.tree.chaid import CHAIDRegressor as CHAIDRegressor
from baytree.estimators.tree.id3 import ID3Classifier as ID3Classifier
from baytree.estimators.tree.nb_tree import NBTreeClassifier as NBTreeClassifier
from baytree.estimators.tree.open_trees import (
    DecisionTreeClassifier as DecisionTreeClassifier,
)
from baytree.estimators.tree.open_trees import (
    DecisionTreeRegressor as DecisionTreeRegressor,
)
from baytree.estimators.tree.optimal import OptimalTreeClassifier as OptimalTreeClassifier
from baytree.estimators.tree.streaming import StreamingTreeClassifier as StreamingTreeClassifier
from baytree.exports import export as export
from baytree.notices import BaytreeWarning as BaytreeWarning
from baytree.reports import report as report
from baytree.show.pictures.plots import plot_importances as plot_importances
from baytree.show.pictures.plots import plot_impurities as plot_impurities
from baytree.show.pictures.regions import plot_regions as plot_regions
from baytree.sklearn.conversion.from_sklearn import from_sklearn as from_sklearn
from baytree.storage import load as load
from baytree.storage import save as save
from baytree.streams.going_on import partial_fit as partial_fit
from baytree.table.read import read as read
from baytree.table.schema import Column as Column
from baytree.table.schema import Kind as Kind
from baytree.table.schema import Schema as Schema
from baytree.table.schema import Text as Text
from baytree.version import __version__ as __version__
