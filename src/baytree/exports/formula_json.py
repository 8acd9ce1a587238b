"""Formulas as JSON: the closed records of the formula itself, for programs that read rules rather than run them."""

from __future__ import annotations

import msgspec

from baytree.formula import Formula, to_json

FORMAT = "baytree-formula"


def document(formula: Formula) -> str:
    """The formula with its format's name and version; `docs/guide/exports.md` describes every record."""
    head = msgspec.json.encode({"format": FORMAT, "version": 1})
    return msgspec.json.format(head[:-1] + b"," + to_json(formula)[1:], indent=1).decode() + "\n"
