"""Best possible small trees: exact search over tests that are offered as data."""
