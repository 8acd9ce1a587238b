"""Additive models: a curve per column and a surface per pair of columns, whose values add up to the score."""
