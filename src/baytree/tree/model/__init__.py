"""Decision tree model: flat node arrays, branch conditions, routing of rows, predictions, intervals and formula."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from baytree.tree.model.traversal import bounds, depths, parents, preorder
from baytree.tree.model.tree import CandidateTests, Surrogates, Tree

__all__ = ["CandidateTests", "Surrogates", "Tree", "bounds", "depths", "parents", "preorder"]

# Imported on first access: prediction needs neither.
_MODULES = {
    "Condition": "conditions",
    "ValueRange": "conditions",
    "class_names": "summary",
    "export_text": "summary",
    "iter_nodes": "summary",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"baytree.tree.model.{_MODULES[name]}"), name)
