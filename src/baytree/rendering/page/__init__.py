"""Pages: records of names and numbers, a template for each, and one HTML file that needs nothing else."""
