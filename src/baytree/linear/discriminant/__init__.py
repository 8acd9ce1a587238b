"""Discriminant analysis: one additive statistic, and the rules that follow from it."""
