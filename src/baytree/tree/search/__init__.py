"""From a policy and rows to a tree."""
