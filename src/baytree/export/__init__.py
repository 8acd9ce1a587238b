"""Models in other forms: one file per target, each a pure reader of (model, schema)."""
