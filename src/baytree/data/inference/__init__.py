"""Inference of the schema: what each column holds, from mergeable profiles of its values.

`evidence` counts what strings look like and `number_checks` summarizes numbers; `column_profile` holds both for one column,
`infer` for a table. `decide` chooses the string format; `identifiers` finds columns that only identify rows;
`level_matching` compares levels of new rows with those of training.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Imported on first access: prediction needs `level_matching` alone.
_MODULES = {"StringEvidence": "evidence", "TableProfile": "infer", "schema_of_array": "infer"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"baytree.data.inference.{_MODULES[name]}"), name)
