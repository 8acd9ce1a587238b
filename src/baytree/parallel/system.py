"""Parse memory sizes: bytes, or text such as "2GB"."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}

MIN_MEMORY_BYTES = 1_000_000  # a smaller limit is taken for a mistake, such as 2 for 2 GB


def parse_memory_size(memory: str | int) -> int:
    """Return the number of bytes of a memory size; raise a ValueError below `MIN_MEMORY_BYTES`.

    >>> parse_memory_size("1.5 GB"), parse_memory_size(64_000_000)
    (1500000000, 64000000)
    """
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", str(memory).lower())
    try:
        size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    except ValueError:
        size = 0
    if size < MIN_MEMORY_BYTES:
        raise ValueError(f"memory={memory!r}: give a size of at least 1 MB, such as '2GB' or '500MB'")
    return size
