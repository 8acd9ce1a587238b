"""The suite says the same each time: hypothesis draws from a fixed source. `make reliability` searches with new ones."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

# a busy machine must not decide whether a law holds
settings.register_profile("same each time", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", settings.get_profile("same each time"), max_examples=15)


def pytest_configure(config: pytest.Config) -> None:
    """The fast suite tries fewer examples of every law that does not say how many it needs; all of them know Ctrl-C."""
    settings.load_profile("few" if "not slow and" in config.option.markexpr else "same each time")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background, and so would be what tests start
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def closed_figures():
    """Closes what a test has drawn: open figures of other tests must not make one warn of too many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def seconds_to_stop() -> Callable[[Callable[[], object], float], float | None]:
    """Seconds from Ctrl-C to KeyboardInterrupt, for a work and when it is pressed; None where the work ended first."""
    return _seconds_to_stop


def _seconds_to_stop(work: Callable[[], object], after: float) -> float | None:
    sent = []

    def press() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    timer.start()
    try:
        work()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.cancel()
        timer.join()
    return None
