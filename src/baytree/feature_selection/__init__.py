"""Which columns to keep: filters that rank them, wrappers that try them."""
