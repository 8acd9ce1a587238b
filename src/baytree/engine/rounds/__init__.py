"""What a few rounds tell of all rows: quantiles, weights that count as rows, values far from the others."""
