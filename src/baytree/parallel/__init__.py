"""Threads, BLAS threads and memory limits of one process."""
