"""Binary trees over rows that do not fit in memory: map-reduce of counts by code, one pass per level of the tree."""
