"""Schema of a table: columns, target, and the notes on how the table was read."""
