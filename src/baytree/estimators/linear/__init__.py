"""Linear model estimators: linear and logistic regression, discriminant analysis, MARS."""
