"""The scikit-learn face, a file per family: parameters in, a learner, a fitted model out."""
