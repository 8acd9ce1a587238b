"""The faces of naive Bayes and the joint table."""
