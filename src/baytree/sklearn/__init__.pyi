"""scikit-learn's names for editors and type checkers; at run time they are imported on first access."""

from baytree.sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
from baytree.sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
from baytree.sklearn.logistic import LogisticRegression as LogisticRegression
from baytree.sklearn.logistic_cv import LogisticRegressionCV as LogisticRegressionCV
from baytree.sklearn.naive_bayes import BernoulliNB as BernoulliNB
from baytree.sklearn.naive_bayes import CategoricalNB as CategoricalNB
from baytree.sklearn.naive_bayes import ComplementNB as ComplementNB
from baytree.sklearn.naive_bayes import GaussianNB as GaussianNB
from baytree.sklearn.naive_bayes import MultinomialNB as MultinomialNB
from baytree.sklearn.tree import DecisionTreeClassifier as DecisionTreeClassifier
from baytree.sklearn.tree import DecisionTreeRegressor as DecisionTreeRegressor
