"""Linear regression: least squares, ridge, lasso and elastic net, derived from one mergeable statistic."""
