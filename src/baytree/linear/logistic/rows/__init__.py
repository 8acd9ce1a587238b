"""The rows of a logistic regression in pieces, dense or sparse, and what they say about coefficients: it adds up."""
