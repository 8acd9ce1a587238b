"""How far an answer can be trusted: intervals of probabilities and means, of arrays alone."""
