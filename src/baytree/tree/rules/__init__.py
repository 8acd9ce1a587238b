"""Rules made from trees."""
