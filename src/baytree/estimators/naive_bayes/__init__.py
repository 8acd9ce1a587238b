"""Naive Bayes estimators, and the joint distribution."""
