"""Formulas as JavaScript: a script without requires, for node or inside a page."""
