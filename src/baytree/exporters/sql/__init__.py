"""Formulas as a query: layers of columns that sqlglot writes in the dialect of a database."""
