"""What came over the wire: bytes counted while they are read, JSON, CSV and Arrow made into rows of a model."""
