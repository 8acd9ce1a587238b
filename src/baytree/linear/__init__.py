"""Linear models for raw tables: discriminant analysis, logistic regression, linear regression and MARS."""
