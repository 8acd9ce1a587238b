"""Metrics of predictions: scores, confusion matrices, residuals, and curves, as additive statistics where possible.

`scores` defines every metric once. `confusion` and `residuals` accumulate what the metrics need over the parts of a table,
`evaluation` is the public `evaluate`, `text` prints it. `decision_curve` and `rejection_curve` are result classes;
`impurity` has the teaching functions `entropy`, `gini` and `information_gain`.
"""
