"""The suite says the same each time: hypothesis draws from a fixed source. `make reliability` searches with new ones."""

import inspect
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

import law_settings

# a busy machine must not decide whether a law holds
settings.register_profile("same each time", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same each time")


def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Nothing is collected of a function that is left out: of scikit-learn's checks alone there would be thousands."""
    words = collector.config.option.markexpr
    left_out = set() if " or " in words else set(re.findall(r"\bnot (\w+)", words))
    marks = getattr(obj, "pytestmark", []) if inspect.isfunction(obj) else []
    return [] if left_out & {mark.name for mark in marks} else None


def pytest_configure(config: pytest.Config) -> None:
    """All tests know Ctrl-C, and laws of the fast suite try few examples."""
    if "not slow and" in config.option.markexpr:
        law_settings.try_few_examples()
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
