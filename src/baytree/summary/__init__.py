"""Model summaries: records of names and numbers that text, HTML, JSON and model comparison are derived from.

Names are as the user wrote them, numbers are not rounded, and a date is a number with its unit. One module per family of
models: `additive`, `linear`, `naive_bayes`, `scorecard`, `tree`.
"""

from __future__ import annotations

import math

import msgspec

from baytree.summary.additive import AdditiveSummary
from baytree.summary.linear import LinearSummary, QuadraticSummary, RegressionSummary, SplineSummary
from baytree.summary.naive_bayes import JointSummary, NaiveBayesSummary
from baytree.summary.scorecard import ScorecardSummary
from baytree.summary.tree import BayesTreeSummary, RuleSetSummary, TreeSummary, TrialsSummary

Summary = (
    NaiveBayesSummary | JointSummary | LinearSummary | RegressionSummary | SplineSummary | QuadraticSummary | TreeSummary
    | RuleSetSummary | TrialsSummary | BayesTreeSummary | AdditiveSummary | ScorecardSummary
)  # fmt: skip


def to_json(summary: Summary) -> bytes:
    """Encode a summary as JSON; numbers that are not finite become the strings "inf", "-inf" and "nan"."""
    return msgspec.json.encode(finite(msgspec.to_builtins(summary)))


def from_json(text: bytes | str) -> Summary:
    """Decode a summary that `to_json` wrote."""
    return msgspec.json.decode(text, type=Summary, strict=False)


def finite(value: object) -> object:
    """Replace numbers that are not finite by strings, because JSON cannot represent them."""
    if type(value) is float:
        return value if math.isfinite(value) else str(value)
    if type(value) is list or type(value) is tuple:
        return [finite(each) for each in value]
    return {name: finite(each) for name, each in value.items()} if type(value) is dict else value
