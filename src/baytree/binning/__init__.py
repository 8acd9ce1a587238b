"""Optimal bins of a column: counts of fine bins that add up, and the best coarse bins over them."""
