"""MARS estimators: multivariate adaptive regression splines for regression and classification.

Friedman (1991) and Fast MARS (Friedman 1993), compatible with R's earth (Milborrow). This module holds the shared parameters
and the accessors of a fitted model; the forward and backward pass are in `linear.mars`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import CostsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.base import Estimator
from baytree.estimators.linear.logistic import monotone_columns
from baytree.estimators.prediction import Classifier, Regressor
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.mars.backward import SplineImportanceTable
from baytree.linear.mars.features import MarsOptions
from baytree.linear.mars.learner import MarsLearner
from baytree.linear.mars.model import MAX_DEGREE, MarsModel
from baytree.linear.mars.text import curves_of, importances_of, terms_of
from baytree.param_validation import reject_text_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAX_TERMS = 2000

_PARAMETERS = {
    "max_terms": (
        "int, optional",
        "Maximum number of terms in the forward pass, earth's ``nk``; by default min(200, max(20, 2 · features)) + 1.\n"
        "A step counts as two terms even if it adds only one.",
    ),
    "penalty": (
        "float, optional",
        "GCV cost of a knot, in addition to its coefficients; by default 2, or 3 for ``max_degree`` above 1. With −1,\n"
        "terms and knots cost nothing.",
    ),
    "min_span": (
        "int, default=0",
        "Minimum number of rows between two knots; 0 computes it from the table, −k allows k knots per column.",
    ),
    "end_span": (
        "int, default=0",
        "Number of rows without knots at each end of a column; 0 computes it from the table.",
    ),
    "threshold": (
        "float, default=0.001",
        "The forward pass stops if a step adds less than this to R², or if R² is within this distance of 1.",
    ),
    "fast_k": (
        "int, default=20",
        "Maximum number of parent terms that a step tries, ranked by their last improvement (Fast MARS); 0 tries all. It\n"
        "saves time but stops growth early: with ``max_degree=1``, after about 21 terms.",
    ),
    "fast_beta": (
        "float, default=1.0",
        "Ageing factor: how fast a parent term that is not tried moves down in that ranking.",
    ),
    "auto_linear": (
        "bool, default=True",
        "Whether to use a linear term instead of a hinge with its knot at the smallest value.",
    ),
    "prune": (
        "bool, default=True",
        "Whether to remove terms in a backward pass.",
    ),
    "standardize": (
        "bool, default=False",
        "Whether to scale columns by their standard deviation (the power of two below it). Without it, the units of a\n"
        "column may matter, as in earth: a linear term is new if the square of its new part is above 0.01.",
    ),
    "ordinal": (
        '{"rank", "dummies"}, default="rank"',
        "Encode an ordinal column as one number, its rank, or as one feature per level except the first.",
    ),
    "missing": (
        '{"mean+indicator", "mean", "error"}, default="mean+indicator"',
        "How to treat missing values: replace them by the mean (or the most frequent level) and add a missing indicator,\n"
        "replace them only, or raise an error.",
    ),
    "conventions": (
        "{None, 'earth'}, default=None",
        "Meaning of sample weights. With None, whole weights are row counts: a row of weight 2 equals two rows. Other\n"
        "weights, and with ``'earth'`` all weights, weight the residuals, while spans and GCV count each row once.",
    ),
}


class MarsEstimator(Estimator):
    """Base of the MARS estimators; the model is a sum of products of hinge functions."""

    model_: MarsModel
    _parameters: ClassVar = _PARAMETERS
    _accepts_infinite = True  # infinities are refused while reading, which saves one pass over the table

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
        """Residual sum of squares on the training rows."""
        return self.model_.rss

    @property
    def gcv_(self) -> float:
        """Generalised cross-validation criterion."""
        return self.model_.gcv

    @property
    def r2_(self) -> float:
        """Proportion of the variance that is explained on the training rows."""
        return self.model_.r2

    def terms(self) -> list[dict[str, Any]]:
        """List the terms, the constant first: ``term`` (text), ``hinges`` and ``coefficient`` (several: by class).

        A hinge has ``column``, ``feature`` (a level of a nominal column), ``side`` (``"above"``: max(0, x − cut),
        ``"below"``: max(0, cut − x), ``"linear"``: x), ``cut`` and ``text``.
        """
        check_is_fitted(self, "model_")
        return terms_of(self.model_, self.schema_)

    def importances(self) -> SplineImportanceTable:
        """Table of feature importances: number of pruning subsets that use a feature, and the GCV and RSS it saves there."""
        check_is_fitted(self, "model_")
        return importances_of(self.model_, self.schema_)

    def plot(self) -> Figure:
        """Plot the contribution of each column, and of each pair of interacting columns, with matplotlib."""
        from baytree.rendering.plots.model_plots import plot_splines

        check_is_fitted(self, "model_")
        return plot_splines(curves_of(self.model_, self.schema_))

    def _learner(self, schema: Schema) -> MarsLearner:
        reject_text_columns(schema, "MARS")
        return MarsLearner(self._options(schema))

    def _options(self, schema: Schema) -> MarsOptions:
        return MarsOptions(
            max_degree=param_validation.integer("max_degree", self.max_degree, 1, MAX_DEGREE),
            max_terms=None
            if self.max_terms is None
            else param_validation.integer("max_terms", self.max_terms, 1, _MAX_TERMS),
            penalty=_penalty(self.penalty),
            min_span=param_validation.integer("min_span", self.min_span, -param_validation.MAX_INTEGER),
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
        constraints = monotone_columns(self.monotone, self.ordinal, schema)
        if constraints and self.max_degree > 1:
            raise ValueError(
                f"monotone needs max_degree=1, not {self.max_degree!r}: a product of columns is not monotonic in each of "
                "them; use max_degree=1, or DecisionTreeRegressor and DecisionTreeClassifier(monotone=…)"
            )
        return constraints


def _penalty(given: Any) -> float | None:
    if given is None or (isinstance(given, (int, float)) and given == -1):
        return given
    return param_validation.finite("penalty", given, 0)


class MARSRegressor(MarsEstimator, Regressor):
    """Multivariate adaptive regression splines: regression by a sum of hinges, products of hinges and linear terms.

    A forward pass adds terms: mirrored hinges max(0, x − cut) and max(0, cut − x) of a column times an earlier term. A
    backward pass removes terms and chooses the subset with the best generalised cross-validation criterion (Friedman 1991).
    Terms, cuts and coefficients equal those of R's earth. Nominal columns become one feature per level except the first.
    Missing values are replaced by the mean or the most frequent level, with a missing indicator.

    Parameters
    ----------
    max_degree : {1, 2, 3}, default=1
        Maximum number of columns in a term.

    Attributes
    ----------
    rss_ : float
        Residual sum of squares on the training rows.
    gcv_ : float
        Generalised cross-validation criterion: RSS / (n (1 − cost / n)²).
    r2_ : float
        Proportion of the variance that is explained on the training rows.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"hours": [float(h) for h in range(40)], "grade": [max(0.0, h - 20.0) for h in range(40)]}
    >>> model = bt.MARSRegressor().fit(rows, "grade")
    >>> model.predict({"hours": [10.0, 30.0]}).round(4).tolist()
    [-0.0253, 9.975]
    """


class MARSClassifier(MarsEstimator, Classifier):
    """Multivariate adaptive regression splines for classification: log-odds as a sum of hinges and products of hinges.

    Terms are chosen as by `MARSRegressor`, by least squares on a 0/1 column for the second of two classes, or on one column
    per class for three or more, which share their terms. Then each such column is fitted by logistic regression on the terms
    (the glm step of earth). The probabilities of three or more classes are normalised by their sum.

    Parameters
    ----------
    max_degree : {1, 2, 3}, default=1
        Maximum number of columns in a term.

    Attributes
    ----------
    rss_ : float
        Residual sum of squares of the 0/1 columns, by least squares.
    gcv_ : float
        Generalised cross-validation criterion: RSS / (n (1 − cost / n)²).
    r2_ : float
        Proportion of the variance of the 0/1 columns that is explained on the training rows.

    Examples
    --------
    >>> import baytree as bt
    >>> hours = [float(h) for h in range(40)]
    >>> model = bt.MARSClassifier().fit({"hours": hours, "passed": ["no"] * 14 + ["yes", "no"] * 3 + ["yes"] * 20}, "passed")
    >>> model.predict({"hours": [5.0, 35.0]}).tolist()
    ['no', 'yes']
    """

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
        costs: CostsLike = None,
    ):
        super().__init__(
            max_degree=max_degree,
            max_terms=max_terms,
            penalty=penalty,
            min_span=min_span,
            end_span=end_span,
            threshold=threshold,
            fast_k=fast_k,
            fast_beta=fast_beta,
            auto_linear=auto_linear,
            prune=prune,
            standardize=standardize,
            ordinal=ordinal,
            missing=missing,
            conventions=conventions,
            monotone=monotone,
            schema=schema,
            unseen=unseen,
            n_jobs=n_jobs,
            profile=profile,
        )
        self.costs = costs
