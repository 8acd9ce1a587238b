"""Logistic regression: rows, objective, solvers, the path of penalties and its cross-validation."""
