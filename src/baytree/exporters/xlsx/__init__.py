"""Formulas as Excel workbooks with live formulas."""
