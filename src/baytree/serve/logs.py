"""What the server tells while it runs: a line of JSON for each request and event, without anything of the rows."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

import msgspec


class Log:
    """Writes lines to a file descriptor, standard error unless said otherwise; a full disk or a closed pipe is no reason to
    stop answering."""

    def __init__(self, descriptor: int | None = None):
        self._descriptor = sys.stderr.fileno() if descriptor is None else descriptor

    def write(self, event: str, **told: str | int | float | None) -> None:
        """One line: the time, what happened, and what is known of it."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        known = {key: value for key, value in told.items() if value is not None}
        line = msgspec.json.encode({"time": now, "event": event, **known}) + b"\n"
        try:
            os.write(self._descriptor, line)
        except OSError:
            self._descriptor = os.open(os.devnull, os.O_WRONLY)
