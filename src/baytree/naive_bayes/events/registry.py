"""The event models by name: a class of its own and a line here are all that one needs.

The conventions of other programs by name: which events they use, and how they smooth.

`e1071` (R): standard deviations with divisor n − 1, Laplace's α for levels only, class shares as they are, and 0.001 for
whatever comes out as 0. `weka`: numbers rounded to the column's precision, probabilities of intervals, Laplace's rule for
levels and classes. `sklearn`: variances raised by 1e-9 of the largest one, α of at least 1e-10, class shares as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import msgspec

from baytree.data.schema.column import Column, Kind
from baytree.naive_bayes.events.base import EventModel
from baytree.naive_bayes.events.binned import Discretized
from baytree.naive_bayes.events.categorical import Categorical
from baytree.naive_bayes.events.counts import BernoulliEvent, Complement, Multinomial, Poisson, PredictiveMultinomial
from baytree.naive_bayes.events.e1071 import E1071Categorical, E1071Gaussian
from baytree.naive_bayes.events.estimation import ColumnGroup
from baytree.naive_bayes.events.gaussian import Gaussian, SklearnGaussian, SmoothedGaussian
from baytree.naive_bayes.events.kernel import Kernel
from baytree.naive_bayes.events.text import (
    DirichletMultinomialDocuments,
    DocumentBernoulli,
    DocumentComplement,
    DocumentMultinomial,
)
from baytree.naive_bayes.events.weka import WekaGaussian, WekaKernel

OFFERED: tuple[type[EventModel], ...] = (  # what a user may name
    Gaussian,
    Kernel,
    Discretized,
    Categorical,
    BernoulliEvent,
    Poisson,
    PredictiveMultinomial,
    Complement,
)

VARIANTS: tuple[type[EventModel], ...] = (  # their stand-ins for text, and those of other programs
    Multinomial,
    DirichletMultinomialDocuments,
    DocumentMultinomial,
    DocumentComplement,
    DocumentBernoulli,
    SmoothedGaussian,
    SklearnGaussian,
    E1071Gaussian,
    E1071Categorical,
    WekaGaussian,
    WekaKernel,
)

EVENTS: dict[str, EventModel[Any]] = {event.name: event() for event in (*OFFERED, *VARIANTS)}

KINDS = {
    event.name: (*event.kinds, *event.substitute_events) for event in OFFERED
}  # the kinds of column each is offered for

NUMERIC = tuple(event.name for event in OFFERED if event.is_density)  # what `numeric` may say

if TYPE_CHECKING:
    from baytree.naive_bayes.events.base import EventStatistic as Statistic
    from baytree.naive_bayes.events.base import Likelihood
else:  # files are read by the types that the events keep and give
    Statistic = reduce(or_, (kind for event in EVENTS.values() for kind in event.statistics))
    Likelihood = reduce(or_, (kind for event in EVENTS.values() for kind in event.likelihoods))


def default_event(column: Column, numeric: str) -> str:
    """The event of a column that names none."""
    return numeric if column.kind is Kind.NUMERIC else "multinomial" if column.kind is Kind.TEXT else "categorical"


def grouped(events: Sequence[str]) -> tuple[ColumnGroup, ...]:
    """The columns by the event of each, in order; the columns of some events are looked at together."""
    if len(set(events)) == 1 and EVENTS[events[0]].is_joint:
        return (ColumnGroup(events[0], tuple(range(len(events)))),)
    together: dict[str, list[int]] = {}
    alone = []
    for j, event in enumerate(events):
        if EVENTS[event].is_joint:
            together.setdefault(event, []).append(j)
        else:
            alone.append(ColumnGroup(event, (j,)))
    return (*(ColumnGroup(event, tuple(columns)) for event, columns in together.items()), *alone)


def event_of(column: Column, name: str, conventions: Mapping[str, str]) -> str:
    """The event model by its full name: as a user calls it, for a column of this kind, under another program's rules."""
    if name not in KINDS:
        raise ValueError(f"column {column.name!r}: no event {name!r}; the events are {', '.join(KINDS)}")
    if column.kind not in KINDS[name]:
        kinds = " or ".join(KINDS[name])
        raise ValueError(f"column {column.name!r} is {column.kind}, but the event {name!r} takes {kinds} columns")
    event = EVENTS[conventions.get(name, name)]
    event.check_column(column)
    if column.kind in event.kinds:
        return event.name
    return conventions.get(event.substitute_events[column.kind], event.substitute_events[column.kind])


class ProgramConvention(msgspec.Struct, frozen=True):
    """How a program differs: the events it has in place of ours, and its pseudo-counts."""

    events: Mapping[str, str] = {}
    class_alpha: float | None = None  # None: as for the columns
    least_alpha: float = 0.0


_PLUGGED_IN = {"multinomial": "plugin multinomial"}

CONVENTIONS = {
    "e1071": ProgramConvention({"gaussian": "e1071 gaussian", "categorical": "e1071 categorical", **_PLUGGED_IN}, 0.0),
    "weka": ProgramConvention({"gaussian": "weka gaussian", "kernel": "weka kernel", **_PLUGGED_IN}, 1.0),
    "sklearn": ProgramConvention({"gaussian": "sklearn gaussian", **_PLUGGED_IN}, 0.0, 1e-10),
}
