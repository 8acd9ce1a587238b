"""Scorecards: optimal bins, weight of evidence, logistic regression, and whole points."""
