"""MARS: multivariate adaptive regression splines, for numbers and for classes.

What both kinds of MARS share: their parameters, and how a fitted model is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree.data.schema.schema import Schema
from baytree.estimators.base import Estimator
from baytree.estimators.linear.logistic import monotone_columns
from baytree.estimators.prediction import Classifier, Regressor
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.mars.backward import SplineImportanceTable
from baytree.linear.mars.features import MarsOptions
from baytree.linear.mars.learner import MarsLearner, refuse_text
from baytree.linear.mars.model import MOST_DEGREE, MarsModel
from baytree.linear.mars.text import curves_of, importances_of, terms_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_TERMS = 2000

_PARAMETERS = {
    "max_terms": (
        "int, optional",
        "The largest number of terms of the forward pass, earth's ``nk``; by default min(200, max(20, 2 · features)) + 1.\n"
        "A step takes two of them even where it adds one term.",
    ),
    "penalty": (
        "float, optional",
        "What a knot costs in GCV beside its coefficients; by default 2, for terms of several columns 3. −1 makes all free.",
    ),
    "min_span": (
        "int, default=0",
        "The least number of rows between two knots; 0 finds it from the table, −k allows k knots in a column.",
    ),
    "end_span": (
        "int, default=0",
        "The number of rows at each end without knots; 0 finds it from the table.",
    ),
    "threshold": (
        "float, default=0.001",
        "The forward pass ends when a step adds less to R², or R² comes this close to 1.",
    ),
    "fast_k": (
        "int, default=20",
        "How many parents a step tries, by what they gave last (Fast MARS); 0 tries all. It is fast and it ends growth\n"
        "early: with ``max_degree=1`` after about 21 terms.",
    ),
    "fast_beta": (
        "float, default=1.0",
        "How fast a parent that was not tried sinks in that order.",
    ),
    "auto_linear": (
        "bool, default=True",
        "Whether a hinge that would bend at the least value is a line.",
    ),
    "prune": (
        "bool, default=True",
        "Whether terms are removed again.",
    ),
    "standardize": (
        "bool, default=False",
        "Whether columns are taken in units of their spread (the power of two below it). Without it the units of a column\n"
        "may matter, as in earth: a line is new if the square of its new part is above 0.01.",
    ),
    "ordinal": (
        '{"rank", "dummies"}, default="rank"',
        "An ordinal column as one number, its rank, or as one feature per level but the first.",
    ),
    "missing": (
        '{"mean+indicator", "mean", "error"}, default="mean+indicator"',
        "What a gap is: the mean (or the commonest level) and a mark that it was one, the mean alone, or an error.",
    ),
    "conventions": (
        "{None, 'earth'}, default=None",
        "What weights are: with None, whole ones are numbers of rows, so that a row of weight 2 is the row twice. Others,\n"
        "and with ``'earth'`` all, weigh residuals, while spans and GCV count each row once.",
    ),
}


class MarsEstimator(Estimator):
    """An estimator whose model is a sum of splines."""

    model_: MarsModel
    _parameters: ClassVar = _PARAMETERS
    _accepts_infinite = True  # infinities are refused while reading, which saves a read of the table

    def __init__(
        self,
        max_degree: int = 1,
        max_terms: int | None = None,
        penalty: float | None = None,
        min_span: int = 0,
        end_span: int = 0,
        threshold: float = 0.001,
        fast_k: int = 20,
        fast_beta: float = 1.0,
        auto_linear: bool = True,
        prune: bool = True,
        standardize: bool = False,
        ordinal: str = "rank",
        missing: str = "mean+indicator",
        conventions: str | None = None,
        monotone: Mapping[str, str] | None = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.penalty = penalty
        self.min_span = min_span
        self.end_span = end_span
        self.threshold = threshold
        self.fast_k = fast_k
        self.fast_beta = fast_beta
        self.auto_linear = auto_linear
        self.prune = prune
        self.standardize = standardize
        self.ordinal = ordinal
        self.missing = missing
        self.conventions = conventions
        self.monotone = monotone
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def rss_(self) -> float:
        """The residual sum of squares in training."""
        return self.model_.rss

    @property
    def gcv_(self) -> float:
        """The generalised cross-validation criterion."""
        return self.model_.gcv

    @property
    def r2_(self) -> float:
        """The share of the variance that is explained in training."""
        return self.model_.r2

    def terms(self) -> list[dict[str, Any]]:
        """The terms, the constant first: ``term`` in words, ``hinges`` and ``coefficient`` (of many classes, by class).

        A hinge has ``column``, ``feature`` (a level of a nominal column), ``side`` (``"above"``: max(0, x − cut),
        ``"below"``: max(0, cut − x), ``"linear"``: x), ``cut`` and ``text``.
        """
        check_is_fitted(self, "model_")
        return terms_of(self.model_, self.schema_)

    def importances(self) -> SplineImportanceTable:
        """The features by three measures: subsets of pruning in which they occur, and what those gain of GCV and of RSS."""
        check_is_fitted(self, "model_")
        return importances_of(self.model_, self.schema_)

    def plot(self) -> Figure:
        """What each column adds to the answer, and each pair of columns that act together (matplotlib)."""
        from baytree.rendering.plots.model_plots import plot_splines

        check_is_fitted(self, "model_")
        return plot_splines(curves_of(self.model_, self.schema_))

    def _learner(self, schema: Schema) -> MarsLearner:
        refuse_text(schema)
        return MarsLearner(self._options(schema))

    def _options(self, schema: Schema) -> MarsOptions:
        return MarsOptions(
            max_degree=param_validation.integer("max_degree", self.max_degree, 1, MOST_DEGREE),
            max_terms=None
            if self.max_terms is None
            else param_validation.integer("max_terms", self.max_terms, 1, _MOST_TERMS),
            penalty=_penalty(self.penalty),
            min_span=param_validation.integer("min_span", self.min_span, -param_validation.MANY),
            end_span=param_validation.integer("end_span", self.end_span, 0),
            threshold=param_validation.number("threshold", self.threshold, 0, 1),
            fast_k=param_validation.integer("fast_k", self.fast_k, 0),
            fast_beta=param_validation.finite("fast_beta", self.fast_beta, 0),
            auto_linear=param_validation.flag("auto_linear", self.auto_linear),
            prune=param_validation.flag("prune", self.prune),
            standardize=param_validation.flag("standardize", self.standardize),
            ordinal=param_validation.one_of("ordinal", self.ordinal, ("rank", "dummies")),
            missing=param_validation.one_of("missing", self.missing, MISSING_POLICIES),
            conventions=param_validation.one_of("conventions", self.conventions, (None, "earth")),
            monotone=self._followed(schema),
        )

    def _followed(self, schema: Schema) -> tuple[tuple[str, int], ...]:
        followed = monotone_columns(self.monotone, self.ordinal, schema)
        if followed and self.max_degree > 1:
            raise ValueError(
                f"monotone: max_degree={self.max_degree!r} multiplies columns, and a product follows none of them whatever "
                "the other holds; use max_degree=1, or DecisionTreeRegressor and DecisionTreeClassifier(monotone=…)"
            )
        return followed


def _penalty(given: Any) -> float | None:
    if given is None or (isinstance(given, (int, float)) and given == -1):
        return given
    return param_validation.finite("penalty", given, 0)


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
