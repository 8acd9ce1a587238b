"""Policies of the classic tree algorithms: ID3, C4.5, J48, C5.0, CART and CHAID.

Each is a `Policy` value with the defaults of its reference program; estimators replace what their parameters set.
"""

from __future__ import annotations

from baytree.tree.policy.policy import (
    Branching,
    Collapse,
    Criterion,
    ErrorBased,
    MergeSettings,
    Missing,
    OneStandardError,
    Policy,
    ReferenceProgram,
    SplitSelection,
    Stopping,
    ThresholdSettings,
)

# ID3 (Quinlan 1986): largest information gain, one branch per level, no stopping and no pruning; ties as in Weka's Id3.
ID3 = Policy(
    criterion=Criterion.ENTROPY,
    branching=Branching.MULTIWAY,
    missing=Missing.FRACTIONAL,
    arithmetic=ReferenceProgram.ID3,
    stopping=Stopping(min_split=0, min_leaf=0),
)

# C4.5 release 8 (Quinlan 1993, 1996), which compares gains in float32.
C45 = Policy(
    criterion=Criterion.GAIN_RATIO,
    branching=Branching.MULTIWAY,
    missing=Missing.FRACTIONAL,
    choose=SplitSelection.AVERAGE_GAIN,
    arithmetic=ReferenceProgram.C45,
    stopping=Stopping(min_split=0, min_leaf=2),
    cuts=ThresholdSettings(is_midpoint=False, mdl=True),
    pruning=(Collapse(), ErrorBased()),
)

# Weka's J48: the same policy as C4.5 with the arithmetic of Weka.
J48 = Policy(
    criterion=Criterion.GAIN_RATIO,
    branching=Branching.MULTIWAY,
    missing=Missing.FRACTIONAL,
    choose=SplitSelection.AVERAGE_GAIN,
    arithmetic=ReferenceProgram.J48,
    stopping=Stopping(min_split=0, min_leaf=2),
    cuts=ThresholdSettings(is_midpoint=False, mdl=True),
    pruning=(Collapse(), ErrorBased()),
)

# Quinlan's C5.0, release 2.07: levels in groups, and a second pruning of the whole tree.
C50 = Policy(
    criterion=Criterion.GAIN_RATIO,
    branching=Branching.GROUPED,
    missing=Missing.FRACTIONAL,
    choose=SplitSelection.AVERAGE_GAIN,
    arithmetic=ReferenceProgram.C50,
    stopping=Stopping(min_split=0, min_leaf=2),
    cuts=ThresholdSettings(is_midpoint=False, mdl=True),
    pruning=(ErrorBased(), OneStandardError()),
)

# CART (Breiman et al. 1984), as implemented in rpart.
CART = Policy(
    criterion=Criterion.GINI,
    branching=Branching.BINARY,
    missing=Missing.SURROGATE,
    arithmetic=ReferenceProgram.RPART,
    stopping=Stopping(max_depth=30, min_split=20, min_leaf=7, cp=0.01),
)

# CHAID (Kass 1980).
CHAID = Policy(
    criterion=Criterion.CHI2,
    branching=Branching.MERGE,
    missing=Missing.CATEGORY,
    choose=SplitSelection.ADJUSTED_P,
    stopping=Stopping(min_split=20, min_leaf=7, alpha=0.05),
    merging=MergeSettings(alpha=0.05, min_prob=0.01),
)

POLICIES = {"ID3": ID3, "C4.5": C45, "J48": J48, "C5.0": C50, "CART": CART, "CHAID": CHAID}
