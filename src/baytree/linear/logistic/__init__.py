"""Logistic regression with elastic-net penalties: rows, objective, solvers, regularization path and its cross-validation.

`learner.py` is the entry: `problem.py` prepares a table, `build_rows.py` its rows (`rows.py`, over `dense_block.py` and
`sparse_block.py` per partition), `fit.py` calls `solvers.py` and turns solutions into a `LogisticModel`. Each solver step
asks the rows for a gradient and sometimes for a Hessian, one map-reduce each.
"""
