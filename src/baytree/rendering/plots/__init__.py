"""Plots by matplotlib, which is imported nowhere else."""
