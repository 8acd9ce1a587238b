"""A tree as a person reads it: nodes, outline, cards, importances."""
