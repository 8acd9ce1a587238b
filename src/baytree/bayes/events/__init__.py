"""The event models by name, what their columns may be, and the union of what they keep and give."""

from __future__ import annotations

from collections.abc import Mapping

from baytree.bayes.estimation import EventModel
from baytree.bayes.events.amounts import AmountLikelihood, Bernoulli, Complement, Multinomial, Poisson
from baytree.bayes.events.categorical import Categorical, E1071Categorical, LevelLikelihood
from baytree.bayes.events.discretized import BinLikelihood, Discretized
from baytree.bayes.events.document_events import (
    DocumentBernoulli,
    DocumentComplement,
    DocumentLikelihood,
    DocumentMultinomial,
    DocumentUrns,
    PredictiveDocuments,
)
from baytree.bayes.events.gaussian import (
    E1071Gaussian,
    E1071Likelihood,
    Gaussian,
    NormalLikelihood,
    SklearnGaussian,
    SmoothedGaussian,
)
from baytree.bayes.events.kernel import Kernel, KernelLikelihood
from baytree.bayes.events.urns import PredictiveMultinomial, UrnLikelihood
from baytree.bayes.events.weka import WekaGaussian, WekaKernel, WekaKernelLikelihood, WekaNormalLikelihood
from baytree.statistics.corpora import Corpus
from baytree.statistics.counts import Counts
from baytree.statistics.distinct import Distinct
from baytree.statistics.moments import Moments
from baytree.statistics.tokens import Words
from baytree.statistics.totals import Totals
from baytree.table.schema import Column, Kind

Statistic = Moments | Counts | Distinct | Totals | Words | Corpus
Likelihood = (
    NormalLikelihood | LevelLikelihood | E1071Likelihood | WekaNormalLikelihood | WekaKernelLikelihood | KernelLikelihood
    | BinLikelihood | AmountLikelihood | UrnLikelihood | DocumentLikelihood | DocumentUrns
)  # fmt: skip

EVENTS: dict[str, EventModel] = {
    "gaussian": Gaussian(),
    "categorical": Categorical(),
    "kernel": Kernel(),
    "discretized": Discretized(),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "multinomial": PredictiveMultinomial(),
    "plugin multinomial": Multinomial(),
    "complement": Complement(),
    "text multinomial": PredictiveDocuments(),
    "text plugin multinomial": DocumentMultinomial(),
    "text complement": DocumentComplement(),
    "text bernoulli": DocumentBernoulli(),
    "smoothed gaussian": SmoothedGaussian(),
    "sklearn gaussian": SklearnGaussian(),
    "e1071 gaussian": E1071Gaussian(),
    "e1071 categorical": E1071Categorical(),
    "weka gaussian": WekaGaussian(),
    "weka kernel": WekaKernel(),
}
# The names that a user may give, and the kinds of column that each can look at.
KINDS: dict[str, tuple[Kind, ...]] = {
    "gaussian": (Kind.NUMERIC,),
    "kernel": (Kind.NUMERIC,),
    "discretized": (Kind.NUMERIC,),
    "categorical": (Kind.NOMINAL, Kind.ORDINAL),
    "bernoulli": (Kind.NUMERIC, Kind.NOMINAL, Kind.ORDINAL, Kind.TEXT),
    "poisson": (Kind.NUMERIC,),
    "multinomial": (Kind.NUMERIC, Kind.TEXT),
    "complement": (Kind.NUMERIC, Kind.TEXT),
}
TOGETHER = frozenset(  # events whose columns are observed in one pass
    (
        *("gaussian", "smoothed gaussian", "sklearn gaussian", "e1071 gaussian"),
        *("bernoulli", "poisson", "multinomial", "plugin multinomial", "complement"),
    )
)
NUMERIC = ("gaussian", "kernel", "discretized")  # what `numeric` may say


def default_event(column: Column, numeric: str) -> str:
    """The event of a column that names none."""
    return numeric if column.kind is Kind.NUMERIC else "multinomial" if column.kind is Kind.TEXT else "categorical"


def event_of(column: Column, event: str, conventions: Mapping[str, str]) -> str:
    """The event model by its full name: as a user calls it, for a column of this kind, under another program's rules."""
    if event not in KINDS:
        raise ValueError(f"column {column.name!r}: no event {event!r}; the events are {', '.join(KINDS)}")
    if column.kind not in KINDS[event]:
        kinds = " or ".join(KINDS[event])
        raise ValueError(f"column {column.name!r} is {column.kind}, but the event {event!r} takes {kinds} columns")
    if event == "bernoulli" and column.kind in (Kind.NOMINAL, Kind.ORDINAL):
        if len(column.levels) > 2:
            raise ValueError(f"column {column.name!r} has {len(column.levels)} levels, not yes and no: use 'categorical'")
        event = "categorical"
    event = conventions.get(event, event)
    return f"text {event}" if column.kind is Kind.TEXT else event
