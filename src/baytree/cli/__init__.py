"""Command line interface: fit, inspect, apply, compare and serve models.

Exit codes: 0 success, 1 the work failed, 2 the call was wrong, 3 `--fail` found something, 130 stopped by Ctrl-C. No command
shows a traceback without `--debug`, and nothing from a table reaches the terminal unescaped. Heavy imports are inside the
commands, so that `baytree --help` is fast.
"""

from __future__ import annotations

import sys

try:
    from baytree.cli.main import main
except ModuleNotFoundError as error:
    if error.name != "click":
        raise
    sys.exit("baytree: the command line needs click; pip install 'baytree[cli]'")

__all__ = ["main"]
