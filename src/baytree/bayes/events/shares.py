"""Shares of columns or words among all of them, and the weights that complement naive Bayes makes of them."""

from __future__ import annotations

import numpy as np


def log_shares(total: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """log (N_w + α) − log (N + Σα) of totals [n_columns, n_classes]; uniform where there is nothing."""
    raised = total + alpha[:, None]
    whole = raised.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, np.log(raised) - np.log(whole), -np.log(max(len(total), 1)))


def complement_weights(total: np.ndarray, alpha: np.ndarray, is_normalised: bool) -> np.ndarray:
    """−log of the shares in all other classes, or the shares of these logs: [n_columns, n_classes]."""
    log_share = log_shares(total.sum(axis=1, keepdims=True) - total, alpha)
    if not is_normalised:
        return -log_share
    return log_share / np.minimum(log_share.sum(axis=0), -1e-300)
