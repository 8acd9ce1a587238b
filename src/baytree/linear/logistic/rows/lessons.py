"""What rows say about several problems of two classes at once. It adds up over rows."""

from __future__ import annotations

import msgspec
import numpy as np


class Lessons(msgspec.Struct, frozen=True):
    """The loss of the rows that teach each problem, of those that it holds out, and the gradient of the first."""

    train: np.ndarray  # [m]
    held: np.ndarray  # [m]
    gradient: np.ndarray  # [m, q]

    def __add__(self, other: Lessons) -> Lessons:
        return Lessons(self.train + other.train, self.held + other.held, self.gradient + other.gradient)
