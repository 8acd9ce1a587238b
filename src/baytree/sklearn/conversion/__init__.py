"""Fitted models of scikit-learn as models of this library: their numbers are taken over, nothing is learnt."""
