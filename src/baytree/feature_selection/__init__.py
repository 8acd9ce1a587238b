"""Feature selection: filters that rank columns, and wrappers that search subsets by cross-validation.

`filters` has the public `rank_features` and `SelectFeatures`. `column_counts` is the additive statistic that filters need,
`measures` the statistics of one column, `column_scores` applies them to tables, `ranking` is the result. `wrapper` has
`ForwardSelection` and `BackwardSelection`, with `subset_search` (the search) and `subset_scores` (fast scoring).
`selector` is their common base class.
"""
