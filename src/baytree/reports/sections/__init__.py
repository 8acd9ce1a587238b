"""What stands in each section of a page, as records."""
