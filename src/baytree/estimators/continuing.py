"""Estimators that go on learning: how a further batch comes in, and what is told of all batches together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree.engine.parts import InMemory
from baytree.estimators.base import SETTLING, Entered, Estimator
from baytree.given import FrameLike, TargetLike, WeightsLike
from baytree.learner import Learnt
from baytree.show.names import listed
from baytree.statistics.profile import Profile
from baytree.table import encode, label_reading, labels
from baytree.table.infer import Census
from baytree.table.sample import batch_census, with_notes
from baytree.table.schema import Schema
from baytree.table.shape import check_columns
from baytree.table.table import Table


class ContinuingEstimator(Estimator):
    """An estimator that can go on learning.

    Where a model costs as much as all rows so far, it is made when somebody asks for it, not after every batch.
    """

    _census: Census | None = None  # of all batches of partial_fit so far; None where some came in another way
    _later: Mapping[str, Callable[[], Any]] = {}  # attributes that nobody has asked for yet, and how they are made

    def merge(self, other: Self) -> Self:
        """A new estimator that knows what both have learnt."""
        raise NotImplementedError(f"{type(self).__name__} must say how it merges")

    def _census_of(self, entered: Entered) -> Census | None:
        """What the columns of a batch hold, beside what they are taken for."""
        has_own_kinds = type(self)._schema_of is not Estimator._schema_of or not self._leaves_out_identifiers
        return None if entered.frame is None or has_own_kinds else batch_census(entered.frame, self.schema)

    def _told(self, whole: Census | None, batch: Census | None) -> Self:
        """The estimator, its notes those of all rows so far, or where these were not all counted also of the last batch."""
        self._census = whole
        if whole is not None:
            self.schema_ = with_notes(self.schema_, whole.notes())
        elif batch is not None:
            self.schema_ = with_notes(self.schema_, (*self.schema_.notes, *batch.notes()))
        return self

    def _settle(self, schema: Schema, learnt: Learnt, has_text_names: bool) -> None:
        super()._settle(schema, learnt, has_text_names)
        self._census, self._later = None, {}

    def _settle_later(
        self, schema: Schema, profile: Profile | None, has_text_names: bool, later: Mapping[str, Callable[[], Any]]
    ) -> None:
        """Puts in place what is known of the rows, and how attributes are made of them once they are asked for."""
        self._settle_rows(schema, profile, has_text_names)
        self._census, self._later = None, later
        for name in later:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there: makes what was left for later."""
        if name not in self._later:
            return object.__getattribute__(self, name)  # raises once more: a property may have said why
        with SETTLING:
            if name not in vars(self):  # else another thread was faster
                setattr(self, name, self._later[name]())
            return vars(self)[name]

    def _is_known(self, name: str) -> bool:
        """Whether there is such an attribute, made or left for later."""
        return name in vars(self) or name in self._later

    def __getstate__(self) -> Any:
        for name in self._later:
            getattr(self, name)
        self._later = {}
        return super().__getstate__()

    def _enter_more(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, known: Schema) -> Entered:
        """A further batch under the kinds of those before it; its levels and classes may be new."""
        sample = self._sample(X, y, sample_weight)
        check_columns(sample.frame, known, type(self).__name__)
        schema, values = encode.more(sample.frame, known, sample.label.target, self._accepts_infinite)
        label = labels.recode(sample.label, schema.target)
        table = Table(schema, values, sample.weight, label, sample.is_unweighted)
        return Entered(InMemory(table, self.n_jobs), sample.frame.has_text_names, sample.kept, sample.frame)


def with_classes(table: Table, classes: ArrayLike | None) -> Table:
    """The table under a target that also knows these classes."""
    if classes is None:
        return table
    declared = label_reading.read_classes(np.asarray(classes) if not isinstance(classes, np.ndarray) else classes).target
    target = table.schema.target.union(declared)
    label = labels.recode(labels.Labels(table.label, table.schema.target), target)
    schema = msgspec.structs.replace(table.schema, target=target)
    return msgspec.structs.replace(table, schema=schema, label=label)


def refuse_strangers(one: Schema, other: Schema) -> None:
    """Raises an error where two models of classes know none in common: they answer different questions."""
    if one.target.classes is None or other.target.classes is None or set(one.classes) & set(other.classes):
        return
    raise ValueError(
        f"these models have no class in common: one knows {listed(one.classes, 6)}, the other {listed(other.classes, 6)}; "
        "only models of one target can be merged"
    )
