"""Models that combine two families: decision trees with naive Bayes leaves."""
