"""The design matrix: which features a table has, their means and spreads, and rows in these units."""
