"""Models of two families in one: trees whose leaves are naive Bayes models."""
