"""Decision trees: one growing engine, in which each algorithm is a policy."""
