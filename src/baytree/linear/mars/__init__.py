"""Multivariate adaptive regression splines: sums of products of hinges, grown forwards and pruned backwards."""
