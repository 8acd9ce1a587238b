"""Growing of decision trees by a policy, in memory or, in `remote`, by map-reduce."""

from __future__ import annotations

from baytree.tree.growing.grow import SearchKind, search_of

__all__ = ["SearchKind", "search_of"]
