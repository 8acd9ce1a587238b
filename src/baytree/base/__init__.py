"""Interfaces shared by all model families: `Learner`, `Model`, `Statistic`, and `Predictor`."""
