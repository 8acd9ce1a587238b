"""Fit and predict with tables on disk in batches, so that a file may be larger than memory."""
