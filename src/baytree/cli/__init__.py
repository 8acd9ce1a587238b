"""The command line: from a table to a readable model, and from a model to answers.

Exit codes: 0 done, 1 the work failed, 2 the call was wrong, 130 stopped by Ctrl-C. No command shows a traceback
without `--debug`, and nothing that came with a table reaches the terminal unescaped. Heavy imports wait inside the
commands, so that `baytree --help` answers at once.
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
