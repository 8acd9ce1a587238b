"""Discriminant analysis: one mergeable statistic, and the linear (LDA) and quadratic (QDA) models derived from it."""
