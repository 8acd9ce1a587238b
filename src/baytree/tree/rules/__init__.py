"""Rule sets derived from decision trees."""

from __future__ import annotations

from baytree.tree.rules.rule_set import Rule, RuleSet, holding, passing, paths, rules

__all__ = ["Rule", "RuleSet", "holding", "passing", "paths", "rules"]
