"""The largest of numbers: that of the whole is the largest of the parts'."""

from __future__ import annotations

import msgspec
import numpy as np


class Largest(msgspec.Struct, frozen=True):
    """The largest number of each kind. It adds up, but nothing can be taken away again."""

    value: np.ndarray  # float64

    def __add__(self, other: Largest) -> Largest:
        return Largest(np.maximum(self.value, other.value))
