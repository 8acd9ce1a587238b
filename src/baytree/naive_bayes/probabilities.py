"""Probabilities of events under a naive Bayes model, and its full table: the joint distribution that naive Bayes implies.

P(class, x_1, …, x_d) = P(class) Π_j P(x_j | class), so an event that allows some levels of some columns has the probability
Σ_class P(class) Π_j Σ_level P(level | class), summed over the allowed classes and levels. Other columns sum to 1.
"""

from __future__ import annotations

from math import prod

import msgspec
import numpy as np

from baytree.data.encoding import encode
from baytree.data.encoding.table import Table
from baytree.data.frames import read
from baytree.data.schema.schema import Schema
from baytree.naive_bayes.joint_learner import MAX_TABLE_CELLS, Allowed, as_levels, check_levels, intersect
from baytree.naive_bayes.joint_model import level_counts
from baytree.naive_bayes.model import NaiveBayes


def event_probability(model: NaiveBayes, schema: Schema, event: Allowed, given: Allowed) -> float:
    """P(event | given); NaN if P(given) is 0."""
    condition = _joint_probability(model, schema, given)
    both = [intersect(a, b) for a, b in zip(given, event, strict=True)]
    return _joint_probability(model, schema, both) / condition if condition > 0 else float("nan")


def full_table(model: NaiveBayes, schema: Schema) -> dict[str, np.ndarray]:
    """Every combination of levels and class with its probability, as columns."""
    check_levels(schema, schema.names)
    levels = level_counts(schema)
    if prod(levels) > MAX_TABLE_CELLS:
        raise ValueError(
            f"the full table has {prod(levels):,} cells, more than the limit of {MAX_TABLE_CELLS:,}; compute single "
            "probabilities with probability(...)"
        )
    joint = np.exp(model.log_prior)
    for j in reversed(range(len(schema))):
        of_level = _level_probabilities(model, schema, j)
        joint = of_level.reshape(len(of_level), *[1] * (joint.ndim - 1), -1) * joint
    codes = np.indices(levels).reshape(len(levels), -1)
    return {**as_levels(codes.T, schema), "probability": joint.ravel()}


def _joint_probability(model: NaiveBayes, schema: Schema, allowed: Allowed) -> float:
    """Probability that every column, and the class, is among its allowed codes; None allows all."""
    *columns, classes = allowed
    named = [j for j, codes in enumerate(columns) if codes is not None]
    probability = np.exp(model.log_prior)
    for j in named:
        probability = probability * _level_probabilities(model, schema, j)[columns[j]].sum(axis=0)
    return float(probability.sum() if classes is None else probability[classes].sum())


def _level_probabilities(model: NaiveBayes, schema: Schema, j: int) -> np.ndarray:
    """P(level | class) of one column: float64 [n_levels, n_classes]."""
    levels = schema.columns[j].levels
    # one row per level in which all other columns are missing, and so contribute nothing
    rows = {name: list(levels) if name == schema.columns[j].source else [None] * len(levels) for name in schema.inputs}
    values = encode.encode(read(rows), msgspec.structs.replace(schema, is_named=True), unseen="error")
    table = Table(schema, values, np.ones(len(levels)), None, True)
    scores = np.zeros((len(levels), len(model.log_prior)))
    for likelihood in model.likelihoods:
        if j in likelihood.columns:
            likelihood.add_scores(table, scores)
    return np.exp(scores)
