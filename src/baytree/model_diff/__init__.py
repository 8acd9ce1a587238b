"""Comparison of two fitted models: `diff` reports differences of schemas, summaries and predictions.

`changes` compares schemas and facts, `facts` extracts facts from summaries, `model_changes` compares summaries and trees,
`flips` finds the rows with different predictions, `difference` is the result. The package reads models of any kind and
changes none. It is called `model_diff`, so that `bt.diff` stays a function.
"""

from __future__ import annotations

from functools import partial

from baytree._typing import FrameLike
from baytree.base.predictor import FittedEstimator, Predictor
from baytree.engine.dispatch import remote_source
from baytree.model_diff.changes import Change, schema_changes
from baytree.model_diff.difference import Difference
from baytree.model_diff.flips import Flip, Flips
from baytree.model_diff.model_changes import are_equal_records, model_changes

__all__ = ["Change", "Difference", "Flip", "Flips", "diff"]


def diff(old: FittedEstimator | Predictor, new: FittedEstimator | Predictor, frame: FrameLike = None) -> Difference:
    """Compare two models: their schemas, their summaries, and their predictions for given rows.

    The models may be of any kind, also of different kinds; then only schemas and predictions are compared. Trees are
    compared node by node from the root, as long as both test the same column.

    Parameters
    ----------
    old : fitted estimator
        The model before.
    new : fitted estimator
        The model after.
    frame : data frame, dict of columns, array, `baytree.scan`, Dask or Spark frame, optional
        Rows whose predictions are compared; they need no target. For a row with different predictions, the result names the
        column whose contribution to the new prediction against the old one has changed most.

    Returns
    -------
    Difference
        It prints as tables; `schema`, `model` and `rows` have the changes, `to_dict()` returns all of them as plain values.

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
    changes = model_changes(before, after)
    rows = None if frame is None else _flips(before, after, frame)
    is_untold = not changes and not are_equal_records(before.model, after.model)
    return Difference(names, target, schema_changes(before.schema, after.schema), changes, is_untold, rows)


def _flips(old: Predictor, new: Predictor, frame: FrameLike) -> Flips:
    remote = remote_source(frame)
    return Flips.of(old, new, frame) if remote is None else remote.map_reduce(partial(Flips.of, old, new))
