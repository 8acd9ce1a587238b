"""Events that count as another program counts, for its numbers to the last digit."""
