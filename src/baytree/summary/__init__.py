"""What a model is, for a person: records of names and numbers. Text, HTML and JSON are printers of them.

Names are as the user wrote them, numbers are not rounded, and a date is a number with its unit.
"""

from __future__ import annotations

import math

import msgspec

from baytree.summary.linear import LinearSummary, QuadraticSummary, RegressionSummary, SplineSummary
from baytree.summary.naive_bayes import JointSummary, NaiveBayesSummary
from baytree.summary.tree import BayesTreeSummary, RuleSetSummary, TreeSummary, TrialsSummary

Summary = (
    NaiveBayesSummary | JointSummary | LinearSummary | RegressionSummary | SplineSummary | QuadraticSummary | TreeSummary
    | RuleSetSummary | TrialsSummary | BayesTreeSummary
)  # fmt: skip


def to_json(summary: Summary) -> bytes:
    """The record as JSON, which has no word for numbers that are not finite: they are the texts "inf", "-inf", "nan"."""
    return msgspec.json.encode(finite(msgspec.to_builtins(summary)))


def from_json(text: bytes | str) -> Summary:
    """The record that `to_json` has written."""
    return msgspec.json.decode(text, type=Summary, strict=False)


def finite(value: object) -> object:
    """Plain values in which numbers that are not finite are texts: JSON has no word for them."""
    if type(value) is float:
        return value if math.isfinite(value) else str(value)
    if type(value) is list or type(value) is tuple:
        return [finite(each) for each in value]
    return {name: finite(each) for name, each in value.items()} if type(value) is dict else value
