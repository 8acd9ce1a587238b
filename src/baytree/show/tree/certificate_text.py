"""What an exact search has proved of a tree, as a sentence."""

from __future__ import annotations

from baytree.show.names import counted, number
from baytree.summary.tree import CertificateSummary


def proved(told: CertificateSummary) -> str:
    """Whether another tree could be better, and by how much.

    >>> proved(CertificateSummary(0.12, 0.12, 0.01, 3, 27))
    'cost 0.12: none of the trees of 27 tests down to depth 3 costs less'
    >>> proved(CertificateSummary(0.12, 0.1, 0.01, 3, 27))
    'cost 0.12, not proved least: trees of 27 tests down to depth 3 cost 0.1 or more'
    """
    trees = f"trees of {counted(told.n_tests, 'test')} down to depth {told.max_depth}"
    if told.bound >= told.objective:
        return f"cost {number(told.objective)}: none of the {trees} costs less"
    return f"cost {number(told.objective)}, not proved least: {trees} cost {number(told.bound)} or more"
