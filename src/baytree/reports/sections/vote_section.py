"""Rules that vote, and trials, on a page: each rule with what it covers and how sure it is, each trial with its rules."""

from __future__ import annotations

from baytree.reports.sections.tree_section import MOST_RULES, NAMED_LEVELS, rules_view
from baytree.show.report.records.vote_views import TrialsView, TrialView, VotingRulesView, VotingRuleView
from baytree.show.tree.condition_text import sentence
from baytree.summary.tree import RuleSetSummary, TreeSummary, TrialsSummary, VotingRuleSummary

MOST_TRIALS = 20


def voting_rules_view(summary: RuleSetSummary) -> VotingRulesView:
    """The rules in their order."""
    rules = tuple(_rule(rule, summary.classes.index(rule.label)) for rule in summary.rules[:MOST_RULES])
    return VotingRulesView(rules, max(len(summary.rules) - MOST_RULES, 0), summary.default)


def trials_view(summary: TrialsSummary) -> TrialsView:
    """The trials, each with its rules or with one rule for each leaf."""
    found = tuple(_trial(k, trial) for k, trial in enumerate(summary.trials[:MOST_TRIALS], 1))
    return TrialsView(found, max(len(summary.trials) - MOST_TRIALS, 0))


def _rule(rule: VotingRuleSummary, place: int) -> VotingRuleView:
    tests = tuple(sentence(each, NAMED_LEVELS) for each in rule.conditions)
    return VotingRuleView(tests, rule.label, place, rule.confidence, rule.cover, rule.right, rule.lift)


def _trial(number: int, trial: TreeSummary | RuleSetSummary) -> TrialView:
    if isinstance(trial, RuleSetSummary):
        return TrialView(f"trial {number}", f"{len(trial.rules)} rules", voting_rules_view(trial))
    leaves = sum(not node.branches for node in trial.nodes)
    return TrialView(f"trial {number}", f"{leaves} leaves", rules_view(trial))
