"""What the events of text columns add to the scores, as expressions over the words of a document."""

from __future__ import annotations

import numpy as np

from baytree.bayes.events.text.document_likelihood import DocumentLikelihood
from baytree.bayes.events.text.document_urns import DocumentUrns
from baytree.formula.expressions import Case, Compare, Expression, LogRising, Named, OverWords, Product, Sum, When
from baytree.formula.steps import Effects, Steps, bag, constant, table, where_known


def documents(likelihood: DocumentLikelihood, steps: Steps) -> Effects:
    """Σ amount · weight over the words that are there; or a probability for each word that is there, and that is not."""
    j, kept = likelihood.column, likelihood.scale > 0
    present, absent = likelihood.present[kept], likelihood.absent[kept]
    if likelihood.rule == "binary":
        words = bag(steps, j, np.ones_like(likelihood.scale) * kept, False)
        value = _of_a_set(words, present, absent)
    else:
        words = bag(steps, j, likelihood.scale, likelihood.is_unit)
        value = OverWords(words, "amount", table(present))
    return [(j, where_known(j, value, present.shape[1]))]


def urns_of_words(likelihood: DocumentUrns, steps: Steps) -> Effects:
    """Σ log Γ(a + x)/Γ(a), less log Γ(A + n)/Γ(A), with x of each word, n of all."""
    j, urn = likelihood.column, likelihood.concentration
    words = bag(steps, j, likelihood.scale, likelihood.is_unit)
    drawn, size = steps.keep(OverWords(words, "amount")), steps.keep(constant(urn.sum(axis=0)))
    rising = OverWords(words, "rising", table(urn[likelihood.scale > 0]))
    return [(j, where_known(j, Sum((rising, less_size(size, drawn))), urn.shape[1]))]


def less_size(size: Named, drawn: Named) -> Expression:
    """−log Γ(A + n)/Γ(A), 0 where nothing was drawn or nothing is left in the urn."""
    nothing, cost = constant(0.0), Product((constant(-1.0), LogRising(size, drawn)))
    whens = (When(Compare(drawn, "<=", nothing), nothing), When(Compare(size, "<=", nothing), nothing))
    return Case(whens, cost)


def _of_a_set(words: Named, present: np.ndarray, absent: np.ndarray) -> Expression:
    """Σ absent over all words, + present − absent for each that is there; what is impossible is counted apart."""
    never, always = np.isneginf(present), np.isneginf(absent)
    base, raised = np.where(always, 0.0, absent), np.where(never, 0.0, present)
    score = Sum((constant(base.sum(axis=0)), OverWords(words, "presence", table(raised - base))))
    if not (never.any() or always.any()):
        return score
    change = OverWords(words, "presence", table(never.astype(np.float64) - always))
    impossible = Sum((constant(always.sum(axis=0)), change))
    return Case((When(Compare(impossible, ">", constant(0.0)), constant(-np.inf)),), score)
