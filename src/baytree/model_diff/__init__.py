"""What sets two models apart: schemas, what their summaries tell, and the answers for rows.

A pure reader of models, whatever they are. The room is called `diffs`, so that `bt.diff` stays a function.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

from baytree._typing import FrameLike
from baytree.base.predictor import Predictor
from baytree.engine.dispatch import remote_source
from baytree.model_diff.changes import Change, schema_changes
from baytree.model_diff.difference import Difference
from baytree.model_diff.flips import Flip, Flips
from baytree.model_diff.model_changes import are_equal_records, model_changes

__all__ = ["Change", "Difference", "Flip", "Flips", "diff"]


class FittedEstimator(Protocol):
    """A fitted estimator."""

    @property
    def _predictor(self) -> Predictor: ...


def diff(old: FittedEstimator | Predictor, new: FittedEstimator | Predictor, frame: FrameLike = None) -> Difference:
    """What has changed from one model to another: the schema, what the models tell of themselves, and answers for rows.

    The models may be of any kind, also of different kinds; then only schemas and answers are compared. Trees are compared
    node by node from the root, as long as both ask for the same column.

    Parameters
    ----------
    old : fitted estimator
        The model before.
    new : fitted estimator
        The model after.
    frame : data frame, dict of columns, array, `baytree.scan`, Dask or Spark frame, optional
        Rows whose answers are compared; they need no target. Of a row that is answered otherwise, the ledgers of both models
        say through which column: the one whose effect, for the new answer against the old, has changed most.

    Returns
    -------
    Difference
        It prints as tables; `schema`, `model` and `rows` have the changes, `to_dict()` all of it as plain values.

    Examples
    --------
    >>> import baytree as bt
    >>> iris = bt.datasets.load("iris")
    >>> tree = bt.CARTClassifier().fit(iris, "species")
    >>> smaller = tree.snip(2)
    >>> found = bt.diff(tree, smaller, iris)
    >>> found.rows.n_flipped, found.rows.flipped[0].column
    (46, 'petal_width')
    >>> bt.diff(tree, tree, iris).is_empty
    True
    """
    before, after = (model if isinstance(model, Predictor) else model._predictor for model in (old, new))
    names, target = (before.name, after.name), (before.schema.target.name, after.schema.target.name)
    told = model_changes(before, after)
    rows = None if frame is None else _flips(before, after, frame)
    is_untold = not told and not are_equal_records(before.model, after.model)
    return Difference(names, target, schema_changes(before.schema, after.schema), told, is_untold, rows)


def _flips(old: Predictor, new: Predictor, frame: FrameLike) -> Flips:
    far = remote_source(frame)
    return Flips.of(old, new, frame) if far is None else far.map_reduce(partial(Flips.of, old, new))
