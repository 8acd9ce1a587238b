"""Decision trees: one growing machine, many named settings."""
