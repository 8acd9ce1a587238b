"""Comparison of models on the same folds, with a recommendation: `baytree.compare` and `baytree.compare_assumptions`."""
