"""Naive Bayes: one event model per column, from counts and moments that add up."""
