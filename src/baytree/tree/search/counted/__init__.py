"""The counted search: multiway and merged splits from counts by node, column code and class, one pass per level."""
