"""What is new in rows beside what a model was trained on.

Reads the profile that a model keeps, and what new rows look like, a statistic that adds up: a month is the sum of its days.
The room is called `drifts`, so that `bt.drift` stays a function.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

from baytree._typing import FrameLike
from baytree.base.predictor import Predictor
from baytree.data.frames import read
from baytree.drift_detection.batch import Batch
from baytree.drift_detection.drift import Drift
from baytree.engine.dispatch import remote_source

__all__ = ["Batch", "Drift", "drift"]


class FittedEstimator(Protocol):
    """A fitted estimator."""

    @property
    def _predictor(self) -> Predictor: ...


def drift(model: FittedEstimator | Predictor, frame: FrameLike) -> Drift:
    """What is new in rows beside what a model was trained on: levels, missing values, distributions, and what it matters.

    Drifts of the same model add up, exactly: the drift of a month is the sum of those of its days.

    Parameters
    ----------
    model : fitted estimator
        A model that keeps a profile of the rows that it has learnt from.
    frame : data frame
        New rows; they need no target, and a column that is not there counts as missing. Rows on disk (`bt.scan`), on Dask or
        on Spark are counted where they are, in one round.

    Returns
    -------
    Drift
        It prints as a table. `alarms` names the columns whose distribution has changed by more than chance allows.

    Examples
    --------
    >>> import baytree as bt
    >>> penguins = bt.datasets.load("penguins")
    >>> model = bt.CARTClassifier().fit(penguins, "species")
    >>> bt.drift(model, penguins).alarms
    []
    >>> bt.drift(model, penguins.assign(bill_length_mm=penguins.bill_length_mm / 10)).alarms
    ['bill_length_mm']
    """
    predictor = model if isinstance(model, Predictor) else model._predictor
    far = remote_source(frame)
    batch = _seen(predictor, frame) if far is None else far.map_reduce(partial(_seen, predictor))
    return Drift(predictor, batch)


def _seen(predictor: Predictor, frame: FrameLike) -> Batch:
    return Batch.of(predictor, read(frame))
