"""The suite says the same each time: hypothesis draws from a fixed source. `make reliability` searches with new ones."""

from hypothesis import HealthCheck, settings

# a busy machine must not decide whether a law holds
settings.register_profile("same each time", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same each time")
