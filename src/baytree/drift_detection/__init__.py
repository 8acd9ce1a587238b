"""Drift detection: `drift` compares new rows with the profile of the training rows that a model stores.

`batch` counts the new rows; batches are additive, so a month is the sum of its days. `distribution_tests` tests each column,
`effects` estimates the effect on predictions, `drift` combines them. The package is called `drift_detection`, so that
`bt.drift` stays a function.
"""

from __future__ import annotations

from functools import partial

from baytree._typing import FrameLike
from baytree.base.predictor import FittedEstimator, Predictor
from baytree.data.frames import read
from baytree.drift_detection.batch import Batch
from baytree.drift_detection.drift import Drift
from baytree.engine.dispatch import remote_source

__all__ = ["Batch", "Drift", "drift"]


def drift(model: FittedEstimator | Predictor, frame: FrameLike) -> Drift:
    """Compare new rows with the training rows: new levels, missing values, distributions, and the effect on predictions.

    Drifts of the same model are exactly additive: the drift of a month is the sum of those of its days.

    Parameters
    ----------
    model : fitted estimator
        A model that stores a profile of its training rows.
    frame : data frame
        New rows; they need no target, and an absent column counts as missing. Rows on disk (`bt.scan`), on Dask or on Spark
        are counted by their engine, in one pass.

    Returns
    -------
    Drift
        It prints as a table. `alarms` lists the columns whose distribution has changed significantly.

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
    remote = remote_source(frame)
    batch = _count_rows(predictor, frame) if remote is None else remote.map_reduce(partial(_count_rows, predictor))
    return Drift(predictor, batch)


def _count_rows(predictor: Predictor, frame: FrameLike) -> Batch:
    return Batch.of(predictor, read(frame))
