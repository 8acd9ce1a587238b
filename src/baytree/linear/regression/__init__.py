"""Linear regression: least squares and its penalties as functions of one statistic."""
