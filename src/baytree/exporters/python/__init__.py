"""Export of formulas to Python: a module that imports only the standard library."""
