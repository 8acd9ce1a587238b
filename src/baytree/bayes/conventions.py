"""The conventions of other programs by name: which events they use, and how they smooth.

`e1071` (R): standard deviations with divisor n − 1, Laplace's α for levels only, class shares as they are, and 0.001 for
whatever comes out as 0. `weka`: numbers rounded to the column's precision, probabilities of intervals, Laplace's rule for
levels and classes. `sklearn`: variances raised by 1e-9 of the largest one, α of at least 1e-10, class shares as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Convention(msgspec.Struct, frozen=True):
    """How a program differs: the events it has in place of ours, and its pseudo-counts."""

    events: Mapping[str, str] = {}
    class_alpha: float | None = None  # None: as for the columns
    least_alpha: float = 0.0


_PLUGGED_IN = {"multinomial": "plugin multinomial"}
CONVENTIONS = {
    "e1071": Convention({"gaussian": "e1071 gaussian", "categorical": "e1071 categorical", **_PLUGGED_IN}, 0.0),
    "weka": Convention({"gaussian": "weka gaussian", "kernel": "weka kernel", **_PLUGGED_IN}, 1.0),
    "sklearn": Convention({"gaussian": "sklearn gaussian", **_PLUGGED_IN}, 0.0, 1e-10),
}
