"""Raw tables to encoded rows: schema, inference, encoding, labels, weights. Frames and files come in here, nowhere else."""
