"""Trees of two branches, level by level, from counts that add up: for rows that are not in memory."""
