"""Rules that vote, in words."""

from __future__ import annotations

from baytree.show.names import number, quoted
from baytree.show.tree.condition_text import sentence
from baytree.summary.tree import RuleSetSummary, VotingRuleSummary

_MOST_LEVELS = 12


def rule_set_lines(summary: RuleSetSummary) -> list[str]:
    """A line for each rule, and one for where none holds."""
    lines = [f"rule {k}: {rule_line(rule)} ({_support(rule)})" for k, rule in enumerate(summary.rules)]
    return [*lines, f"default: {quoted(summary.default)}"]


def rule_line(rule: VotingRuleSummary) -> str:
    """IF … THEN …, without its support."""
    asked = " AND ".join(sentence(condition, _MOST_LEVELS) for condition in rule.conditions)
    return f"IF {asked} THEN {quoted(rule.label)}" if asked else f"ALWAYS {quoted(rule.label)}"


def _support(rule: VotingRuleSummary) -> str:
    wrong = rule.cover - rule.right
    covered = f"{number(rule.cover)} rows" + (f", {number(wrong)} of them wrong" if wrong > 0 else "")
    return f"{covered}; confidence {rule.confidence:.3f}, lift {rule.lift:.1f}"
