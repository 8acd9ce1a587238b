"""Encoding of raw columns into a `Table`: numbers, level codes, bags of words, labels and weights."""
