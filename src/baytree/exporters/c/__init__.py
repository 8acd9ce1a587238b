"""Formulas as C: one C99 file that needs the mathematical library only."""
