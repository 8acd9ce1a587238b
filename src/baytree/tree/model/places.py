"""What a negative number means where a node's column or a row's branch is expected."""

from __future__ import annotations

STOP = -1  # a row without a known branch rests at the node itself
SPREAD = -2  # a row without a known branch goes down every branch, in the shares of the training rows
LEAF = -1  # the column of a node that is not split
