"""How well a model does on rows that it has not learnt from."""
