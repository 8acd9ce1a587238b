"""Solvers of logistic regression: each step asks the rows for a gradient, and now and then for a Hessian."""
