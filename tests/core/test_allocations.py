"""Memory may end at any allocation of the core: that is a MemoryError, never the end of the process or another model."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXACT = ("naive Bayes, bayes", "LDA", "tree", "CART", "C4.5", "C5.0", "CHAID")


def shim(folder: Path) -> Path:
    """The library that lets allocations fail, compiled."""
    made = folder / "failing_new.so"
    compiler = os.environ.get("CXX", "g++")
    subprocess.run([compiler, "-std=c++20", "-O1", "-shared", "-fPIC", HERE / "failing_new.cpp", "-o", made], check=True)
    return made


def faults(subject: str, most: int, library: Path) -> tuple[int, list[str]]:
    """How many allocations were let fail, and what was wrong then."""
    program = [sys.executable, HERE / "failing_allocations.py", subject, str(most)]
    run = subprocess.run(program, env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True)
    if run.returncode:
        return 0, [f"exit {run.returncode}: {run.stderr[-300:]}"]
    tried, *found = run.stdout.split("\n")
    return int(tried), [*filter(None, found)]


@pytest.mark.slow
@pytest.mark.parametrize("subject", EXACT)
def test_an_allocation_that_fails_is_a_memory_error(subject, tmp_path):
    if sys.platform != "linux" or not shutil.which(os.environ.get("CXX", "g++")):
        pytest.skip("needs a compiler, and a system that loads libraries before others")
    tried, found = faults(subject, 100, shim(tmp_path))
    assert found == []
    assert tried
