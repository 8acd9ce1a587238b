"""The script that runs the core under sanitizers finds its tests."""

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_the_sanitized_run_names_tests_that_are_there():
    named = re.findall(r"\btests/[\w./]+", (HERE / "sanitized.sh").read_text())
    assert named
    assert [path for path in named if not (HERE.parent.parent / path).exists()] == []
