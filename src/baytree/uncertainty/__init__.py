"""Uncertainty of predictions: intervals of probabilities and means, conformal ranks, and the reject option. Works on arrays
alone.
"""
