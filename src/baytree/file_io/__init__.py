"""Atomic file writes, file locks, and temporary files that are removed at exit."""
