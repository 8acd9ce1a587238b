"""Estimators with scikit-learn's interface, one package per model family: naive Bayes, trees and linear models."""
