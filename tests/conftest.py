"""The suite says the same each time: hypothesis draws from a fixed source. `make reliability` searches with new ones."""

import sys

import pytest
from hypothesis import HealthCheck, settings

# a busy machine must not decide whether a law holds
settings.register_profile("same each time", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same each time")


@pytest.fixture(autouse=True)
def closed_figures():
    """Closes what a test has drawn: open figures of other tests must not make one warn of too many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
