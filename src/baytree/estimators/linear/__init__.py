"""The faces of linear models."""
