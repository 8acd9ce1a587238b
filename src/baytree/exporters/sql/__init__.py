"""Export of formulas to SQL: layers of columns that sqlglot writes in the dialect of a database."""
