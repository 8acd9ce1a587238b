"""Formulas as JSON: the closed records of the formula itself, for programs that read rules rather than run them."""

from __future__ import annotations

import json

from baytree.formula import Formula, to_json

FORMAT = "baytree-formula"


def document(formula: Formula) -> str:
    """The formula with its format's name and version; `docs/guide/exports.md` describes every record."""
    return json.dumps({"format": FORMAT, "version": 1, **json.loads(to_json(formula))}, indent=1) + "\n"
