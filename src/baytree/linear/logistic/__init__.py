"""Logistic regression: rows, objective, solvers, the path of penalties and its cross-validation.

The rows of a logistic regression in pieces, dense or sparse, and what they say about coefficients: it adds up.

Solvers of logistic regression: each step asks the rows for a gradient, and now and then for a Hessian.
"""
