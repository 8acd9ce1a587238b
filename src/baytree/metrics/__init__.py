"""How good models are, which columns and which model to choose."""
