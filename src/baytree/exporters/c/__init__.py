"""Export of formulas to C: one C99 file that needs only the math library."""
