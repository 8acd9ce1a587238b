"""Estimators with folds of their own, which choose a penalty or prune: `fit` takes the groups and times of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree.data.encoding import labels
from baytree.data.frames import read, without
from baytree.engine.dispatch import remote_source
from baytree.estimators.base import _STATE_LOCK, Estimator, PreparedRows
from baytree.folds.row_structure import NO_STRUCTURE, GapLike, GroupsLike, RowStructure, TimeLike, read_structure
from baytree.folds.splitters import CV, names_rows, read_cv
from baytree.folds.structured_folds import as_array, read_folds


class InnerFolds(Estimator):
    """Base of estimators with folds of their own: these respect the groups and times that `fit` is given."""

    def fit(
        self,
        X: FrameLike,
        y: TargetLike = None,
        sample_weight: WeightsLike = None,
        *,
        groups: GroupsLike = None,
        time: TimeLike = None,
        gap: GapLike = None,
    ) -> Self:
        """Fit the model to a table.

        Parameters
        ----------
        groups : str or array, optional
            Column of groups, or the group of each row: the folds inside the fit keep the rows of one group together. A
            column that is named here is no feature.
        time : str or array, optional
            Column of dates or numbers, or the time of each row: the folds inside the fit are tested on rows after their
            training rows. A column that is named here is no feature.
        gap : float or timedelta, optional
            Time between training and test rows of these folds: in days for dates, else in the unit of the column.
        """
        if groups is None and time is None and gap is None:
            return self._fit(X, y, sample_weight)
        if remote_source(X) is not None:
            raise ValueError("groups= and time= need rows in memory; read the table, or omit them")
        structure = read_structure(read(X), groups, time, gap, declared=self.schema)
        for name in structure.columns:
            X = without(X, name)
        estimator = self
        if isinstance(self.schema, Mapping) and set(structure.columns) & set(self.schema):
            estimator = clone(self).set_params(schema=structure.without_columns(self.schema))
        prepared = estimator._prepare_rows(X, y, sample_weight)
        if isinstance(y, str):
            labels.refuse_one_class(prepared.rows.schema.target)
        result = estimator._learn(prepared, structure=structure)
        with _STATE_LOCK:
            self._set_fitted_state(prepared.rows.schema, result, prepared.has_text_names)
        return self


def structure_arguments(estimator: Any, structure: RowStructure) -> dict[str, RowStructure]:
    """Argument of an estimator's row-dependent settings; nothing without a structure or without folds of its own."""
    return {"structure": structure} if structure is not NO_STRUCTURE and isinstance(estimator, InnerFolds) else {}


def fit_arguments(estimator: Any, structure: RowStructure, rows: np.ndarray) -> dict[str, Any]:
    """Arguments of `fit` that hand the groups and times of these rows to an estimator with folds of its own."""
    if structure is NO_STRUCTURE or not isinstance(estimator, InnerFolds):
        return {}
    own = structure.part(rows)
    gap = {"gap": own.gap * own.ticks} if own.gap else {}
    return {"groups": own.groups, "time": own.time, **gap}


def inner_folds(
    cv: CV, entered: PreparedRows, is_classification: bool, structure: RowStructure | None, seed: int = 0
) -> np.ndarray | None:
    """Folds of the training rows as an array (see `as_array`), if they depend on the rows of the table as it was given.

    None if `cv` is a number or a splitter and the rows have no structure: the learner then assigns the folds.
    """
    mask = entered.row_mask
    if structure is None:
        if not names_rows(cv):
            return None
        n_given = len(entered.table) if mask is None else len(mask)
        fold = as_array(read_cv(cv, n_given, np.zeros(n_given, int), is_classification=False), n_given)
        return fold if mask is None else fold[mask]
    own = structure if mask is None else structure.take(mask)
    label = entered.table.label
    return as_array(read_folds(cv, label, is_classification, own, seed), len(label))
