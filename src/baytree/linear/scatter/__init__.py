"""The mergeable statistic of discriminant analysis and least squares: weight, mean and centred cross products of
features.
"""
