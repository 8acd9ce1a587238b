"""Learner, model, predictor."""
