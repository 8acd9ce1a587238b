"""Export of formulas to ONNX: a graph on strings and doubles."""
