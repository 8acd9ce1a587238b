"""Linear models and splines in words."""
