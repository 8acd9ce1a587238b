"""The inference rules in order."""
