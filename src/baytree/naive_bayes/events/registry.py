"""Registry of event models by name, and the conventions of other programs.

A new event needs a class and one entry here.

Conventions: `e1071` (R) uses standard deviations with divisor n − 1, Laplace's α for levels only, unsmoothed class
proportions, and 0.001 in place of 0. `weka` rounds numbers to the column's precision, uses probabilities of intervals and
Laplace's rule for levels and classes. `sklearn` raises variances by 1e-9 of the largest one, uses α of at least 1e-10 and
unsmoothed class proportions.
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

OFFERED: tuple[type[EventModel], ...] = (  # events that a user may name
    Gaussian,
    Kernel,
    Discretized,
    Categorical,
    BernoulliEvent,
    Poisson,
    PredictiveMultinomial,
    Complement,
)

VARIANTS: tuple[type[EventModel], ...] = (  # variants for text and of other programs
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
}  # kinds of column for which each is available

NUMERIC = tuple(event.name for event in OFFERED if event.is_density)  # values of the parameter `numeric`

if TYPE_CHECKING:
    from baytree.naive_bayes.events.base import EventStatistic as Statistic
    from baytree.naive_bayes.events.base import Likelihood
else:  # model files are decoded by the types that the events declare
    Statistic = reduce(or_, (kind for event in EVENTS.values() for kind in event.statistics))
    Likelihood = reduce(or_, (kind for event in EVENTS.values() for kind in event.likelihoods))


def default_event(column: Column, numeric: str) -> str:
    """Default event of a column."""
    return numeric if column.kind is Kind.NUMERIC else "multinomial" if column.kind is Kind.TEXT else "categorical"


def grouped(events: Sequence[str]) -> tuple[ColumnGroup, ...]:
    """Column groups in the order of the columns; joint events get one group for all their columns."""
    if len(set(events)) == 1 and EVENTS[events[0]].is_joint:
        return (ColumnGroup(events[0], tuple(range(len(events)))),)
    joint: dict[str, list[int]] = {}
    single = []
    for j, event in enumerate(events):
        if EVENTS[event].is_joint:
            joint.setdefault(event, []).append(j)
        else:
            single.append(ColumnGroup(event, (j,)))
    return (*(ColumnGroup(event, tuple(columns)) for event, columns in joint.items()), *single)


def event_of(column: Column, name: str, conventions: Mapping[str, str]) -> str:
    """Full name of the event for a user's name, a column's kind, and a convention; raises ValueError if they do not fit."""
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
    """Convention of another program: events that replace the defaults, and its pseudo-counts."""

    events: Mapping[str, str] = {}
    class_alpha: float | None = None  # None: same as for the columns
    least_alpha: float = 0.0


_PLUG_IN = {"multinomial": "plugin multinomial"}

CONVENTIONS = {
    "e1071": ProgramConvention({"gaussian": "e1071 gaussian", "categorical": "e1071 categorical", **_PLUG_IN}, 0.0),
    "weka": ProgramConvention({"gaussian": "weka gaussian", "kernel": "weka kernel", **_PLUG_IN}, 1.0),
    "sklearn": ProgramConvention({"gaussian": "sklearn gaussian", **_PLUG_IN}, 0.0, 1e-10),
}
