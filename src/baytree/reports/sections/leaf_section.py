"""A tree with naive Bayes leaves on a page: its picture, and the models that count for most."""

from __future__ import annotations

import msgspec

from baytree.reports.likelihoods import bayes_view
from baytree.reports.sections.tree_section import NAMED_LEVELS
from baytree.reports.subject import Subject
from baytree.show.report.records.hybrid_views import BayesLeafView, BayesLeavesView
from baytree.show.tree.condition_text import sentence
from baytree.summary.hybrid import BayesLeaf, BayesTreeSummary

MOST_LEAVES = 12


def leaves_view(subject: Subject) -> BayesLeavesView:
    """The naive Bayes models of the nodes."""
    summary = subject.summary
    assert isinstance(summary, BayesTreeSummary)
    order = sorted(range(len(summary.leaves)), key=lambda k: -summary.leaves[k].share)
    views = tuple(_leaf(subject, k, summary.leaves[k]) for k in order[:MOST_LEAVES])
    return BayesLeavesView(views, max(len(order) - MOST_LEAVES, 0))


def _leaf(subject: Subject, k: int, leaf: BayesLeaf) -> BayesLeafView:
    """A model as if it were the only one."""
    alone = msgspec.structs.replace(subject.predictor, model=subject.predictor.model.models[k])
    view = bayes_view(Subject(alone, leaf.model, subject.profile))
    return BayesLeafView(tuple(sentence(each, NAMED_LEVELS) for each in leaf.conditions), leaf.share, view)
