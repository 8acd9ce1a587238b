"""Every family of models on the same folds of one table, and the simplest that is as good as the best."""
