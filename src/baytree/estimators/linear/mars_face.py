"""What both kinds of MARS share: their parameters, and how a fitted model is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from baytree import settings
from baytree.estimators.base import Estimator
from baytree.estimators.linear.face import followed_columns
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.splines.importance import ImportanceTable
from baytree.linear.splines.learner import Mars, refuse_text
from baytree.linear.splines.model import MOST_DEGREE, Splines
from baytree.linear.splines.options import Options
from baytree.linear.splines.spline_terms import curves_of, importances_of, terms_of
from baytree.table.schema import Schema

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

    model_: Splines
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

    def importances(self) -> ImportanceTable:
        """The features by three measures: subsets of pruning in which they occur, and what those gain of GCV and of RSS."""
        check_is_fitted(self, "model_")
        return importances_of(self.model_, self.schema_)

    def plot(self) -> Figure:
        """What each column adds to the answer, and each pair of columns that act together (matplotlib)."""
        from baytree.show.pictures.spline_plots import plot_splines

        check_is_fitted(self, "model_")
        return plot_splines(curves_of(self.model_, self.schema_))

    def _learner(self, schema: Schema) -> Mars:
        refuse_text(schema)
        return Mars(self._options(schema))

    def _options(self, schema: Schema) -> Options:
        return Options(
            max_degree=settings.whole("max_degree", self.max_degree, 1, MOST_DEGREE),
            max_terms=None if self.max_terms is None else settings.whole("max_terms", self.max_terms, 1, _MOST_TERMS),
            penalty=_penalty(self.penalty),
            min_span=settings.whole("min_span", self.min_span, -settings.MANY),
            end_span=settings.whole("end_span", self.end_span, 0),
            threshold=settings.number("threshold", self.threshold, 0, 1),
            fast_k=settings.whole("fast_k", self.fast_k, 0),
            fast_beta=settings.finite("fast_beta", self.fast_beta, 0),
            auto_linear=settings.flag("auto_linear", self.auto_linear),
            prune=settings.flag("prune", self.prune),
            standardize=settings.flag("standardize", self.standardize),
            ordinal=settings.one_of("ordinal", self.ordinal, ("rank", "dummies")),
            missing=settings.one_of("missing", self.missing, MISSING_POLICIES),
            conventions=settings.one_of("conventions", self.conventions, (None, "earth")),
            monotone=self._followed(schema),
        )

    def _followed(self, schema: Schema) -> tuple[tuple[str, int], ...]:
        followed = followed_columns(self.monotone, self.ordinal, schema)
        if followed and self.max_degree > 1:
            raise ValueError(
                f"monotone: max_degree={self.max_degree!r} multiplies columns, and a product follows none of them whatever "
                "the other holds; use max_degree=1, or DecisionTreeRegressor and DecisionTreeClassifier(monotone=…)"
            )
        return followed


def _penalty(given: Any) -> float | None:
    if given is None or (isinstance(given, (int, float)) and given == -1):
        return given
    return settings.finite("penalty", given, 0)
