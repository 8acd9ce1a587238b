"""Formulas as Python source: a module of the standard library alone."""
