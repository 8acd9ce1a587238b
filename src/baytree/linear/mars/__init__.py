"""Multivariate adaptive regression splines (MARS, Friedman 1991): sums of products of hinges, grown forwards and pruned
backwards.

`learner.py` is the entry: `features.py` prepares features, `forward.py` adds terms, `backward.py` prunes them,
`coefficients.py` has the logistic step for classes and monotonicity constraints, `model.py` the result.
"""
