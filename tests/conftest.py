"""The suite says the same each time: hypothesis draws from a fixed source. `make reliability` searches with new ones."""

from hypothesis import settings

settings.register_profile("same each time", derandomize=True)
settings.load_profile("same each time")
