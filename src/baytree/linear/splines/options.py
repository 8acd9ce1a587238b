"""What users of MARS can choose, checked, and what follows from it for a table of a certain size."""

from __future__ import annotations

import math

import msgspec

_ENDS_ADJUSTED = 2.0  # how much longer the ends without knots are for terms of several columns
_LOG_2 = 0.69315  # rounded as in the programs that this one agrees with; so are the other numbers of the spans


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The choices; spans of 0 are found from the table, a negative least span is a number of knots."""

    max_degree: int = 1
    max_terms: int | None = None
    penalty: float | None = None
    min_span: int = 0
    end_span: int = 0
    threshold: float = 0.001
    fast_k: int = 20
    fast_beta: float = 1.0
    auto_linear: bool = True
    prune: bool = True
    standardize: bool = False
    ordinal: str = "rank"
    missing: str = "mean+indicator"
    monotone: tuple[tuple[str, int], ...] = ()  # columns with which answers may not fall (1), or not rise (−1)
    conventions: str | None = None  # "earth": whole weights weigh residuals too

    def slots(self, n_features: int) -> int:
        """How many terms may be grown; a step takes two of them, even where it adds one term."""
        return min(200, max(20, 2 * n_features)) + 1 if self.max_terms is None else self.max_terms

    def cost(self, n_terms: int) -> float:
        """How many parameters the terms count for: each knot costs `penalty` beside the coefficients."""
        penalty = (2.0 if self.max_degree == 1 else 3.0) if self.penalty is None else self.penalty
        return 0.0 if penalty == -1 else n_terms + penalty * (n_terms - 1) / 2

    def gcv(self, rss: float, n_terms: int, n_rows: int) -> float:
        """Generalised cross-validation: RSS / (n (1 − cost / n)²); infinite where terms cost all that rows give."""
        cost = self.cost(n_terms)
        return rss / (n_rows * (1 - cost / n_rows) ** 2) if cost < n_rows else math.inf


class Spans(msgspec.Struct, frozen=True):
    """Which ranks of a sorted column may be knots: from `end` up, the `first`-th that counts, then every `step`-th."""

    end: int
    first: int
    step: int


def spans_of(options: Options, n_rows: int, n_features: int, n_support: int, degree: int) -> Spans:
    """Friedman's spans (1991, equations 43 and 45, α = 0.05) for a term of this degree over a parent with support."""
    end = options.end_span or int(7.32193 + math.log(n_features) / _LOG_2)
    if degree > 1:
        end += int(_ENDS_ADJUSTED * end + 0.5)
    end = max(1, min(end, n_rows // 2 - 1))
    if options.min_span < 0:
        step = -(-n_rows // (1 - options.min_span))
        return Spans(end, max(1, -(-end // step) * step - 1), step)
    step = options.min_span or max(1, int((2.9702 + math.log(n_features * max(1, n_support))) / 1.7329))
    free = max(0, n_rows - 2 * end)
    first = end + free // 2
    if free > step:
        first = end + (step // 2 if free % step == 0 else free % step // 2)
    return Spans(end, max(1, first), step)
