"""Which version of the library this is."""

from __future__ import annotations

__version__ = "0.2.0"
