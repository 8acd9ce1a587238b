"""Inspection of trees: node records, details, importances and drawings."""
