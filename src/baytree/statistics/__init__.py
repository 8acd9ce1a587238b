"""Additive statistics: values computed from rows, whose sum over parts is the statistic of the whole.

Most can also be subtracted, which is what cross-validation and `forget` use. `exact_sum` is the basis: sums of doubles
without rounding. `counts`, `moments`, `totals`, `value_counts` and `text` are the statistics of columns, `profile` is the
summary of a training table, `containers` concatenate per-row arrays, `binning` finds cut points from counts.
"""
