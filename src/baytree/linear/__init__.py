"""Linear models on raw tables: discriminant analysis from one additive statistic, and logistic regression."""
