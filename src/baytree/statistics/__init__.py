"""Statistics: values made from rows. Those of parts add up to those of the whole, and can be taken away again."""
