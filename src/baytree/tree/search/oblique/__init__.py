"""Tests of several columns: sums that are worth their bits, found from the scatter of the rows at a node."""
