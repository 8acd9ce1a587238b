"""Split search: how the splits of a tree are found (sorted, fractional, counted, oblique)."""
