"""Limits on the size of exported formulas, and substitutes for infinite numbers, which several exporters share."""

from __future__ import annotations

import sys

MAX_DOUBLE = sys.float_info.max

MINUS_INFINITY = -1e305  # stands for −∞, for which SQL and XML have no common spelling; actual scores are above −1e304

# Larger models make queries and files that databases and readers parse slowly or refuse. They can be exported to a language
# with loops instead.

MAX_TREE_NODES = 20_000  # nodes of a tree in one query, or in nested C statements

MAX_KERNELS = 4_000  # terms of a kernel density, in all classes

MAX_JOINT_CELLS = 4_000  # combinations of levels of a joint table

MAX_FRACTIONAL_NODES = 2_000  # nodes of a tree that splits rows into fractions: all of them are evaluated for every row
