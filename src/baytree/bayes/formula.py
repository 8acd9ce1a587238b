"""Naive Bayes and the joint table as formulas: the prior, what each column adds to the scores, and the posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.bayes.events import Likelihood
from baytree.bayes.events.amount_likelihoods import AmountLikelihood
from baytree.bayes.events.urns import UrnLikelihood
from baytree.formula import Formula
from baytree.formula.expressions import (
    Case,
    Compare,
    Expression,
    Highest,
    Matching,
    Named,
    Quotient,
    Softmax,
    Sum,
    Total,
    When,
)
from baytree.formula.steps import Effects, Steps, chosen, constant, numbers
from baytree.table.schema import Schema

if TYPE_CHECKING:
    from baytree.bayes.joint_table import JointTable
    from baytree.bayes.model import NaiveBayes


def naive_bayes(model: NaiveBayes, schema: Schema) -> Formula:
    """log p(c) + Σ log p(x_j | c), and its softmax; where every class is impossible, the prior."""
    steps = Steps(schema)
    added: Effects = []
    for likelihood in model.likelihoods:
        added += likelihood.formula(steps)
    scores = _possible(model, steps.scores(model.log_prior, added))
    counts = tuple(j for likelihood in model.likelihoods if _counts(likelihood) for j in likelihood.columns)
    return chosen("naive Bayes", steps, Softmax(scores), counts=counts)


def posterior(model: NaiveBayes, steps: Steps) -> Expression:
    """The posterior of a model that is a part of another, whose columns have no one effect each."""
    terms = [value for likelihood in model.likelihoods for _, value in likelihood.formula(steps)]
    return Softmax(_possible(model, steps.keep(Sum((constant(model.log_prior), *terms)))))


def joint_table(model: JointTable, schema: Schema) -> Formula:
    """The shares of the classes among the combinations that agree with what is known; where there are none, among all."""
    steps = Steps(schema)
    codes, n_columns = model.code.tolist(), len(schema)
    matching = Matching(
        tuple(range(n_columns)),
        tuple(tuple(code[:-1]) for code in codes),
        tuple(code[-1] for code in codes),
        numbers(model.weight),
        tuple(model.levels[:-1]),
        model.levels[-1],
        model.alpha,
    )
    weight = steps.keep(matching)
    total = steps.keep(Total(weight))
    is_any = Compare(total, ">", constant(0.0))
    share = Case((When(is_any, Quotient(weight, total)),), constant(model.class_shares()))
    return chosen("joint table", steps, share)


def _possible(model: NaiveBayes, scores: Named) -> Expression:
    if not any(_may_exclude(likelihood) for likelihood in model.likelihoods):
        return scores
    impossible = Compare(Highest(scores), "==", constant(-np.inf))
    return Case((When(impossible, constant(model.log_prior)),), scores)


def _may_exclude(likelihood: Likelihood) -> bool:
    """Whether a value may be impossible in a class: a probability of 0, or a kind that its urn does not hold."""
    arrays = [value for value in msgspec.structs.asdict(likelihood).values() if isinstance(value, np.ndarray)]
    urn = getattr(likelihood, "concentration", None)
    return any(np.isneginf(array).any() for array in arrays) or (urn is not None and bool((urn == 0).any()))


def _counts(likelihood: Likelihood) -> bool:
    """Whether the numbers of these columns may not be negative."""
    is_amount = isinstance(likelihood, AmountLikelihood) and likelihood.rule in ("count", "poisson")
    return is_amount or isinstance(likelihood, UrnLikelihood)
