"""The design matrix: feature layout, means and standard deviations, and rows in standard units."""
