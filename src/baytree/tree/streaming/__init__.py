"""Trees that go on learning: row after row, with what is needed to go on kept beside the tree."""
