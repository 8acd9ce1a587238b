"""Decision tree model: flat node arrays, branch conditions, routing of rows, predictions, intervals and formula."""
