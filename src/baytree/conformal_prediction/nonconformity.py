"""Conformal scores: how many observed rows conform no better than a new row would, by three methods.

- `FullConformal` fits a model to all rows plus the new row, once per candidate class, and scores every row by that model
  (Vovk, Gammerman and Shafer, 2005).
- `JackknifePlus` scores each row by the model of all other rows (jackknife+; Barber and others, 2021).
- `CrossConformal` scores each row by the model of the rows outside its fold (cross-conformal, CV+; a single fold is split
  conformal).

Mergeable learners need no refit: adding or removing a row changes a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import numpy as np

from baytree.base.learner import MergeableLearner, Statistic
from baytree.conformal_prediction.fold_models import FoldModel, NewRows
from baytree.data.encoding.table import Table
from baytree.uncertainty.intervals import TIE_TOLERANCE, weight_up_to


class ConformalScores(Protocol):
    """Interface of the observed rows with which new rows are compared."""

    def of_classes(self, new_rows: NewRows, by_class: bool) -> np.ndarray:
        """Return the weight of the observed rows that conform no better than each new row with each class.

        Shape [n_new, n_classes]. With `by_class`, only rows of that class count.
        """
        ...

    def of_numbers(self, new_rows: NewRows) -> tuple[np.ndarray, np.ndarray]:
        """Return each observed row's prediction for each new row, and the absolute error on its own target.

        Shapes [n_seen, n_new] and [n_seen].
        """
        ...


@dataclass(frozen=True)
class FullConformal:
    """Full conformal scores of a mergeable classifier: its statistic over all rows, and the rows."""

    learner: MergeableLearner
    seen: Statistic
    table: Table

    def of_classes(self, new_rows: NewRows, by_class: bool) -> np.ndarray:
        """Score by the models of all rows plus the new one."""
        table, new = self.table, new_rows.table
        n_new, n_classes = len(new), table.n_classes
        expanded = new.take(np.repeat(np.arange(n_new), n_classes))
        label = np.tile(np.arange(n_classes, dtype=np.int32), n_new)
        changes = msgspec.structs.replace(expanded, schema=table.schema, label=label)
        weight, at = np.empty(len(label)), np.arange(len(table))
        for after in self.learner.predict_after(self.seen, changes, 1, table):
            given = label[after.changes]
            own = after.own[np.arange(len(given)), given]
            conforms_less = after.others[:, at, table.label] <= own[:, None] * (1 + TIE_TOLERANCE)
            counts = conforms_less & (table.label == given[:, None]) if by_class else conforms_less
            weight[after.changes] = counts @ table.weight
        return weight.reshape(n_new, n_classes)

    def of_numbers(self, new_rows: NewRows) -> tuple[np.ndarray, np.ndarray]:
        """Raise ValueError: numbers cannot be enumerated."""
        raise ValueError(
            "method='full' needs classes, but the target is a number; use method='cross', with cv='loo' for the jackknife+"
        )


@dataclass(frozen=True)
class JackknifePlus:
    """Jackknife+ scores of a mergeable learner: its statistic over all rows, and the rows."""

    learner: MergeableLearner
    seen: Statistic
    table: Table

    def of_classes(self, new_rows: NewRows, by_class: bool) -> np.ndarray:
        """Score each row by the model of all other rows."""
        table = self.table
        weight = np.zeros((len(new_rows.table), table.n_classes))
        for after in self.learner.predict_after(self.seen, table, -1, new_rows.table):
            label, amount = table.label[after.changes], table.weight[after.changes]
            own = after.own[np.arange(len(label)), label]
            conforms_less = own[:, None, None] <= after.others * (1 + TIE_TOLERANCE)
            if by_class:
                conforms_less &= (label[:, None] == np.arange(table.n_classes))[:, None]
            weight += np.einsum("c,cnk->nk", amount, conforms_less)
        return weight

    def of_numbers(self, new_rows: NewRows) -> tuple[np.ndarray, np.ndarray]:
        """Predict by the models of all rows but one."""
        results = list(self.learner.predict_after(self.seen, self.table, -1, new_rows.table))
        own, new = np.concatenate([after.own[:, 0] for after in results]), [after.others[:, :, 0] for after in results]
        return np.concatenate(new), np.abs(self.table.label - own)


@dataclass(frozen=True)
class CalibrationFold:
    """Held-out rows of a fold: their labels, weights, and the predictions of the model that was trained without them."""

    model: FoldModel
    label: np.ndarray  # [n_rows]
    weight: np.ndarray  # [n_rows]
    answers: np.ndarray  # [n_rows, n_outputs]

    def conformity(self) -> np.ndarray:
        """Return the predicted probability of each row's own class, float64 [n_rows]."""
        return self.answers[np.arange(len(self.label)), self.label]


@dataclass(frozen=True)
class CrossConformal:
    """Cross-conformal scores: each row is compared by the model of the rows outside its fold."""

    parts: Sequence[CalibrationFold]

    def of_classes(self, new_rows: NewRows, by_class: bool) -> np.ndarray:
        """Score by the models of the folds."""
        weight: Any = 0.0
        for part in self.parts:
            new, conformity = part.model.answers(new_rows), part.conformity()
            masks = [part.label == k if by_class else slice(None) for k in range(new.shape[1])]
            weights = [weight_up_to(conformity[rows], part.weight[rows], new[:, k]) for k, rows in enumerate(masks)]
            weight = weight + np.stack(weights, axis=1)
        return weight

    def of_numbers(self, new_rows: NewRows) -> tuple[np.ndarray, np.ndarray]:
        """Predict by the models of the folds."""
        new = [np.repeat(part.model.answers(new_rows).T, len(part.label), axis=0) for part in self.parts]
        return np.concatenate(new), np.concatenate([np.abs(part.label - part.answers[:, 0]) for part in self.parts])
