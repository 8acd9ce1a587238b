"""Formulas as statements of doubles, arrays and loops: what the printers of C-like languages share."""
