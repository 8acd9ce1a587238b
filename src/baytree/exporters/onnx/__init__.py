"""Formulas as ONNX: a graph of strings and doubles."""
