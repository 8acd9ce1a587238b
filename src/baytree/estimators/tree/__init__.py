"""The faces of trees."""
