"""The warning that an optimum was not reached: ours, and scikit-learn's."""

from __future__ import annotations

from sklearn import exceptions

from baytree.notices import BaytreeWarning


class ConvergenceWarning(BaytreeWarning, exceptions.ConvergenceWarning):
    """A fit that stopped before its optimum, or that has none."""
