"""The event models by name, what their columns may be, and the union of what they keep and give."""

from __future__ import annotations

from ..statistics import Counts, Moments
from ..table import Column, Kind
from .bins import BinLikelihood, Discretized
from .distinct import Distinct
from .estimation import EventModel
from .gaussian import E1071Gaussian, E1071Likelihood, Gaussian, NormalLikelihood, SklearnGaussian, SmoothedGaussian
from .kernel import Kernel, KernelLikelihood
from .levels import Categorical, E1071Categorical, LevelLikelihood
from .weka import WekaGaussian, WekaKernel, WekaKernelLikelihood, WekaNormalLikelihood

Statistic = Moments | Counts | Distinct
Likelihood = (
    NormalLikelihood | LevelLikelihood | E1071Likelihood | WekaNormalLikelihood | WekaKernelLikelihood | KernelLikelihood
    | BinLikelihood
)  # fmt: skip

EVENTS: dict[str, EventModel] = {
    "gaussian": Gaussian(),
    "categorical": Categorical(),
    "kernel": Kernel(),
    "discretized": Discretized(),
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
}
TOGETHER = frozenset(name for name in EVENTS if name.endswith("gaussian") and name != "weka gaussian")  # in one pass
NUMERIC = ("gaussian", "kernel", "discretized")  # what `numeric` may say


def default_event(column: Column, numeric: str) -> str:
    """The event of a column that names none."""
    return numeric if column.kind is Kind.NUMERIC else "categorical"
