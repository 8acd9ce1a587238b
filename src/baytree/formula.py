"""A model as an expression of raw columns: category names, numbers, missing values. Every export is a printer of it."""

from __future__ import annotations

import msgspec


class Formula(msgspec.Struct, frozen=True):
    """An expression for each output, of the columns by name."""
