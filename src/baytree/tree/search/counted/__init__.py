"""The counted search: codes, counts by node, column and class, and the splits chosen from them."""
