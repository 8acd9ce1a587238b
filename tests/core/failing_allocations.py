"""One fit of a subject of the laws after the other, in each of which another allocation of the core fails.

    LD_PRELOAD=failing_new.so python failing_allocations.py SUBJECT MOST

Prints how many fits were tried, and then what was wrong: anything but a MemoryError or the model as it should be.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

import numpy as np
from sklearn.base import clone, is_classifier

from baytree import storage
from metamorphic import SUBJECTS

NEVER = 1 << 40
SHIM = ctypes.CDLL(None)
SHIM.allocations_until_failure.argtypes = [ctypes.c_long]
SHIM.allocations_left.restype = ctypes.c_long


def main(name: str, most: int) -> None:
    warnings.simplefilter("ignore")
    good = model_file(name)
    SHIM.allocations_until_failure(NEVER)
    model_file(name)
    n_allocations = NEVER - SHIM.allocations_left()
    places = range(0, n_allocations, max(1, n_allocations // most))
    faults = [f"allocation {place}: {found}" for place in places if (found := fault(name, place, good))]
    SHIM.allocations_until_failure(-1)
    print(len(places))
    print(*faults, sep="\n", end="")


def fault(name: str, place: int, good: bytes) -> str:
    """What is wrong where this allocation fails; where it can be done without, the model is the same."""
    SHIM.allocations_until_failure(place)
    try:
        return "" if model_file(name) == good else "another model"
    except MemoryError:
        return ""
    except Exception as error:
        return repr(error)


def model_file(name: str) -> bytes:
    """The file of the model of some rows, which also answers for them."""
    X, y = table(name)
    model = clone(SUBJECTS[name].estimator).fit(X, y)
    model.predict(X)
    return storage.dumps(model)


@cache
def table(name: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows as plain arrays: libraries of data frames allocate by C++ too, and are not asked here."""
    rows = SUBJECTS[name].rows(1)
    X = {name: column.to_numpy(object if column.dtype == "category" else float) for name, column in rows.X.items()}
    return X, rows.y if is_classifier(SUBJECTS[name].estimator) else rows.number


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
