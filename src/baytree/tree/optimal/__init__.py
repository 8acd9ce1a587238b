"""Optimal small trees: exact search over a finite set of candidate tests, with a certificate."""
