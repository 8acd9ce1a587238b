"""Incremental decision trees (Hoeffding trees), with the statistics needed to continue learning."""
