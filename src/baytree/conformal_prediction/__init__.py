"""Conformal prediction sets and intervals with guaranteed coverage for any model: `baytree.conformal`."""
