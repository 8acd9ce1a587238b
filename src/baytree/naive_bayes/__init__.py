"""Naive Bayes classifiers and the full joint distribution of nominal columns.

Naive Bayes predicts argmax_c log p(c) + Σ_j log p(x_j | c) (Duda and Hart 1973; Domingos and Pazzani 1997). Each group of
columns has an event model (`naive_bayes.events`): it computes an additive statistic from the rows and derives a likelihood
from that. `statistic` collects the statistics, `learner` derives the model and computes leave-one-out predictions, `model`
predicts, explains and becomes a formula, `sampling` draws rows and plots densities. `joint_model` and `joint_learner` count
combinations of all columns instead. `point_estimates` is for teaching: MLE, MAP and posterior mean of one parameter.
"""
