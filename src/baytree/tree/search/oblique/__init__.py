"""Oblique splits: thresholds on weighted sums of columns, chosen by minimum description length."""
