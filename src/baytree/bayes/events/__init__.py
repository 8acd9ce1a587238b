"""The event models by name: a class of its own and a line here are all that one needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from baytree.bayes.estimation import Group
from baytree.bayes.events.amount_events import Bernoulli, Complement, Multinomial, Poisson, PredictiveMultinomial
from baytree.bayes.events.categorical import Categorical
from baytree.bayes.events.conventions.e1071 import E1071Categorical, E1071Gaussian
from baytree.bayes.events.conventions.weka import WekaGaussian, WekaKernel
from baytree.bayes.events.discretized import Discretized
from baytree.bayes.events.event import Event
from baytree.bayes.events.gaussian import Gaussian, SklearnGaussian, SmoothedGaussian
from baytree.bayes.events.kernel import Kernel
from baytree.bayes.events.text.document_events import (
    DocumentBernoulli,
    DocumentComplement,
    DocumentMultinomial,
    PredictiveDocuments,
)
from baytree.table.schema import Column, Kind

OFFERED: tuple[type[Event], ...] = (  # what a user may name
    Gaussian,
    Kernel,
    Discretized,
    Categorical,
    Bernoulli,
    Poisson,
    PredictiveMultinomial,
    Complement,
)
VARIANTS: tuple[type[Event], ...] = (  # their stand-ins for text, and those of other programs
    Multinomial,
    PredictiveDocuments,
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
EVENTS: dict[str, Event[Any]] = {event.name: event() for event in (*OFFERED, *VARIANTS)}
KINDS = {event.name: (*event.kinds, *event.stand_ins) for event in OFFERED}  # the kinds of column each is offered for
NUMERIC = tuple(event.name for event in OFFERED if event.is_density)  # what `numeric` may say

if TYPE_CHECKING:
    from baytree.bayes.events.event import EventStatistic as Statistic
    from baytree.bayes.events.likelihood import Likelihood
else:  # files are read by the types that the events keep and give
    Statistic = reduce(or_, (kind for event in EVENTS.values() for kind in event.statistics))
    Likelihood = reduce(or_, (kind for event in EVENTS.values() for kind in event.likelihoods))


def default_event(column: Column, numeric: str) -> str:
    """The event of a column that names none."""
    return numeric if column.kind is Kind.NUMERIC else "multinomial" if column.kind is Kind.TEXT else "categorical"


def grouped(events: Sequence[str]) -> tuple[Group, ...]:
    """The columns by the event of each, in order; the columns of some events are looked at together."""
    if len(set(events)) == 1 and EVENTS[events[0]].is_joint:
        return (Group(events[0], tuple(range(len(events)))),)
    together: dict[str, list[int]] = {}
    alone = []
    for j, event in enumerate(events):
        if EVENTS[event].is_joint:
            together.setdefault(event, []).append(j)
        else:
            alone.append(Group(event, (j,)))
    return (*(Group(event, tuple(columns)) for event, columns in together.items()), *alone)


def event_of(column: Column, name: str, conventions: Mapping[str, str]) -> str:
    """The event model by its full name: as a user calls it, for a column of this kind, under another program's rules."""
    if name not in KINDS:
        raise ValueError(f"column {column.name!r}: no event {name!r}; the events are {', '.join(KINDS)}")
    if column.kind not in KINDS[name]:
        kinds = " or ".join(KINDS[name])
        raise ValueError(f"column {column.name!r} is {column.kind}, but the event {name!r} takes {kinds} columns")
    event = EVENTS[conventions.get(name, name)]
    event.refuse(column)
    if column.kind in event.kinds:
        return event.name
    return conventions.get(event.stand_ins[column.kind], event.stand_ins[column.kind])
