"""MARS: multivariate adaptive regression splines, for numbers and for classes."""

from __future__ import annotations

from baytree.estimators.base import Classifier, Regressor
from baytree.estimators.linear.mars_face import MarsEstimator


class MARSRegressor(MarsEstimator, Regressor):
    """Multivariate adaptive regression splines: a number as a sum of hinges, products of hinges and lines.

    A forward pass adds terms, mirrored hinges max(0, x − cut) and max(0, cut − x) of a column times an earlier term; a
    backward pass removes those that generalised cross-validation does not miss (Friedman 1991). Terms, cuts and
    coefficients are those of R's earth. Nominal columns become one feature per level but the first; gaps are filled by
    the mean or the commonest level and marked by a feature of their own.

    Parameters
    ----------
    max_degree : {1, 2, 3}, default=1
        The largest number of columns in a term.

    Attributes
    ----------
    rss_ : float
        The residual sum of squares in training.
    gcv_ : float
        The generalised cross-validation criterion: RSS / (n (1 − cost / n)²).
    r2_ : float
        The share of the variance that is explained in training.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"hours": [float(h) for h in range(40)], "grade": [max(0.0, h - 20.0) for h in range(40)]}
    >>> model = bt.MARSRegressor().fit(rows, "grade")
    >>> model.predict({"hours": [10.0, 30.0]}).round(4).tolist()
    [-0.0253, 9.975]
    """


class MARSClassifier(MarsEstimator, Classifier):
    """Multivariate adaptive regression splines for classes: log-odds as a sum of hinges, products of hinges and lines.

    Terms are found as by `MARSRegressor`, by least squares on a 0/1 column for the second of two classes, or for each of
    three or more, which share their terms. Then the glm step: a logistic regression of each such column on the terms. The
    probabilities of three or more classes are divided by their sum.

    Parameters
    ----------
    max_degree : {1, 2, 3}, default=1
        The largest number of columns in a term.

    Attributes
    ----------
    rss_ : float
        The residual sum of squares of the 0/1 columns, by least squares.
    gcv_ : float
        The generalised cross-validation criterion: RSS / (n (1 − cost / n)²).
    r2_ : float
        The share of the variance of the 0/1 columns that is explained in training.

    Examples
    --------
    >>> import baytree as bt
    >>> hours = [float(h) for h in range(40)]
    >>> model = bt.MARSClassifier().fit({"hours": hours, "passed": ["no"] * 14 + ["yes", "no"] * 3 + ["yes"] * 20}, "passed")
    >>> model.predict({"hours": [5.0, 35.0]}).tolist()
    ['no', 'yes']
    """
