"""ID3: the column with the largest information gain, a branch for each level, no pruning (Quinlan 1986)."""

from __future__ import annotations

from baytree import settings
from baytree.estimators.tree.quinlan import QuinlanClassifier
from baytree.table.schema import Schema
from baytree.tree.grow.policies import ID3
from baytree.tree.learner import TreeLearner


class ID3Classifier(QuinlanClassifier):
    """Decision tree by ID3: information gain, a branch for each level, grown until nothing is gained.

    On nominal tables without missing values the tree is that of Weka's Id3, down to its way of breaking ties. Beyond
    them, where the published algorithm is silent and Weka's gives up:

    - a level that no training row of a node has leads to a leaf with the distribution of the node;
    - a numeric column is cut in two at the threshold of the largest gain, and may be cut again below
      (`C45Classifier` corrects for the choice among many thresholds and prunes; prefer it for numbers);
    - a row without a value goes down every branch with the share of the rows that have one, and the gain of a test
      counts for the known share only, as in C4.5.

    Parameters
    ----------

    Examples
    --------
    >>> import baytree as bt
    >>> days = {"wind": ["weak", "strong", "weak", "strong"], "play": ["yes", "no", "yes", "no"]}
    >>> print(bt.ID3Classifier().fit(days, "play"))
    4 rows: no (no 2, yes 2)
    ├─ wind = strong: no (no 2)
    └─ wind = weak: yes (yes 2)
    """

    def __init__(
        self,
        *,
        averaging: str | None = None,
        trace: bool = False,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.averaging = averaging
        self.trace = trace
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _algorithm(self, schema: Schema) -> TreeLearner:
        return TreeLearner(ID3, traces=settings.flag("trace", self.trace), averages=self._averages())
