"""The records that a file may hold, by their tag. A family adds a line for its model and one for its statistics."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from baytree.storage.model_file_error import ModelFileError
from baytree.storage.stored_arrays import decode

RECORDS = {
    "bayes_tree": "hybrid.model:BayesTree",
    "linear_discriminant": "linear.discriminant.model:LinearDiscriminant",
    "logistic": "linear.logistic.model:LogisticModel",
    "combinations": "bayes.combinations:Combinations",
    "joint_table": "bayes.joint_table:JointTable",
    "naive_bayes": "bayes.model:NaiveBayes",
    "naive_bayes_seen": "bayes.seen:Seen",
    "quadratic_discriminant": "linear.discriminant.model:QuadraticDiscriminant",
    "products": "linear.regression.statistic:Products",
    "regression": "linear.regression.model:Regression",
    "scatter": "linear.scatter.scatter:Scatter",
    "rule_trials": "tree.boost.rules:RuleTrials",
    "splines": "linear.splines.model:Splines",
    "stream_seen": "tree.stream.seen:StreamSeen",
    "tree": "tree.model.structure:Tree",
    "tree_trials": "tree.boost.voting_trees:TreeTrials",
}


def record(raw: msgspec.Raw, version: int) -> Any:
    """The record of a file of this format; None where it holds none."""
    if bytes(raw) == b"null":
        return None
    tag = decode(raw, _Tagged).type
    if version == 1 and tag == "chaid":
        from baytree.storage import format1

        return format1.chaid(raw)
    if tag not in RECORDS:
        raise ModelFileError(f"holds a record {tag!r}, which this version of baytree does not know")
    module, _, name = RECORDS[tag].partition(":")
    return decode(raw, getattr(import_module(f"baytree.{module}"), name))


class _Tagged(msgspec.Struct):
    type: str
