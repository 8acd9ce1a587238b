"""How unlike the rows that were seen a new row would be: three ways to compare it with them.

`FullConformal` learns from the new row too, once with each class it might have, and asks how every row conforms to that model.
`JackknifePlus` compares with every row by the model of all rows but that one (the jackknife+), `CrossConformal` by the model of all rows
outside its fold (cross-conformal, CV+; a single fold is the split). What adds up learns nothing anew: a row more or less is
a sum.
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
from baytree.uncertainty.intervals import TIE, weight_up_to


class ConformalScores(Protocol):
    """Rows that were seen, against which new ones are held."""

    def of_classes(self, asked: NewRows, by_class: bool) -> np.ndarray:
        """For each new row and class the weight of the rows seen that conform no better than it would. [n_new, n_classes]

        `by_class`: among the rows of that class only.
        """
        ...

    def of_numbers(self, asked: NewRows) -> tuple[np.ndarray, np.ndarray]:
        """The number that each row's model gives for each new row, and how far it misses the row's own.

        [n_seen, n_new], [n_seen]
        """
        ...


@dataclass(frozen=True)
class FullConformal:
    """Rows with their labels, and what an additive learner has seen of them."""

    learner: MergeableLearner
    seen: Statistic
    table: Table

    def of_classes(self, asked: NewRows, by_class: bool) -> np.ndarray:
        """By the models of all rows and the new one."""
        table, new = self.table, asked.table
        n_new, n_classes = len(new), table.n_classes
        every = new.take(np.repeat(np.arange(n_new), n_classes))
        label = np.tile(np.arange(n_classes, dtype=np.int32), n_new)
        changes = msgspec.structs.replace(every, schema=table.schema, label=label)
        weight, at = np.empty(len(label)), np.arange(len(table))
        for after in self.learner.predict_after(self.seen, changes, 1, table):
            given = label[after.changes]
            own = after.own[np.arange(len(given)), given]
            conforms_less = after.others[:, at, table.label] <= own[:, None] * (1 + TIE)
            counts = conforms_less & (table.label == given[:, None]) if by_class else conforms_less
            weight[after.changes] = counts @ table.weight
        return weight.reshape(n_new, n_classes)

    def of_numbers(self, asked: NewRows) -> tuple[np.ndarray, np.ndarray]:
        """Refused: there is no end of numbers to try."""
        raise ValueError(
            "method='full' tries every class, and numbers have no end; use method='cross', with cv='loo' the jackknife+"
        )


@dataclass(frozen=True)
class JackknifePlus:
    """The same, compared with each row by the model without it."""

    learner: MergeableLearner
    seen: Statistic
    table: Table

    def of_classes(self, asked: NewRows, by_class: bool) -> np.ndarray:
        """By the models of all rows but one."""
        table = self.table
        weight = np.zeros((len(asked.table), table.n_classes))
        for after in self.learner.predict_after(self.seen, table, -1, asked.table):
            label, amount = table.label[after.changes], table.weight[after.changes]
            own = after.own[np.arange(len(label)), label]
            conforms_less = own[:, None, None] <= after.others * (1 + TIE)
            if by_class:
                conforms_less &= (label[:, None] == np.arange(table.n_classes))[:, None]
            weight += np.einsum("c,cnk->nk", amount, conforms_less)
        return weight

    def of_numbers(self, asked: NewRows) -> tuple[np.ndarray, np.ndarray]:
        """By the models of all rows but one."""
        every = list(self.learner.predict_after(self.seen, self.table, -1, asked.table))
        own, new = np.concatenate([after.own[:, 0] for after in every]), [after.others[:, :, 0] for after in every]
        return np.concatenate(new), np.abs(self.table.label - own)


@dataclass(frozen=True)
class CalibrationFold:
    """Rows of a fold that its model has not learnt from: their labels, weights, and what the model answers for them."""

    model: FoldModel
    label: np.ndarray  # [n_rows]
    weight: np.ndarray  # [n_rows]
    answers: np.ndarray  # [n_rows, n_outputs]

    def conformity(self) -> np.ndarray:
        """The probability of each row's own class. [n_rows]"""
        return self.answers[np.arange(len(self.label)), self.label]


@dataclass(frozen=True)
class CrossConformal:
    """The rows of each fold, each compared with by the model of the rows outside it."""

    parts: Sequence[CalibrationFold]

    def of_classes(self, asked: NewRows, by_class: bool) -> np.ndarray:
        """By the models of the folds."""
        weight: Any = 0.0
        for part in self.parts:
            new, conformity = part.model.answers(asked), part.conformity()
            of_class = [part.label == k if by_class else slice(None) for k in range(new.shape[1])]
            found = [weight_up_to(conformity[rows], part.weight[rows], new[:, k]) for k, rows in enumerate(of_class)]
            weight = weight + np.stack(found, axis=1)
        return weight

    def of_numbers(self, asked: NewRows) -> tuple[np.ndarray, np.ndarray]:
        """By the models of the folds."""
        new = [np.repeat(part.model.answers(asked).T, len(part.label), axis=0) for part in self.parts]
        return np.concatenate(new), np.concatenate([np.abs(part.label - part.answers[:, 0]) for part in self.parts])
