"""Result of an audit: findings, most serious first, as text, dict, HTML table and page."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import msgspec
import numpy as np

from baytree.display.results import TextResult, table
from baytree.display.terminal import TERMINAL_WIDTH, escaped

KINDS = (  # from the most to the least serious
    "leak", "time", "groups", "duplicates", "imbalance", "rare_class", "numeric_target", "many_levels", "missing_code",
    "outlier", "identifier", "nearly_empty", "constant",
)  # fmt: skip


class Finding(msgspec.Struct, frozen=True):
    """One finding of an audit.

    Attributes
    ----------
    kind : str
        One of "leak", "time", "groups", "duplicates", "imbalance", "rare_class", "numeric_target", "many_levels",
        "missing_code", "outlier", "identifier", "nearly_empty" and "constant".
    columns : tuple of str
        Names of the columns concerned.
    message : str
        What was found, in one sentence.
    remedy : str
        What to do about it.
    figure : dict
        The numbers behind the message.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = bt.datasets.load("iris").assign(country="US")
    >>> bt.audit(rows, "species").findings[0].columns
    ('country',)
    """

    kind: str
    columns: tuple[str, ...]
    message: str
    remedy: str
    figure: dict[str, float]

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}"


@dataclass(frozen=True, repr=False)
class Audit(TextResult):
    """What may mislead a model on a table. Prints as a list, most serious first.

    Attributes
    ----------
    target : str
        Name of the target.
    n_rows : int
        Number of rows with a label.
    findings : list of Finding
        The findings, most serious first.
    left_out : tuple of str
        Checks that were not made, and why.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.audit(bt.datasets.load("iris").assign(country="US"), "species"))
    Audit of 150 rows for species: 1 finding
    - constant: 'country' has the same value in all rows; leave it out: declare
      schema={'country': 'drop'}
    """

    target: str
    n_rows: int
    findings: list[Finding]
    left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All findings as plain values."""
        findings = [msgspec.to_builtins(finding) for finding in self.findings]
        return {"target": self.target, "rows": self.n_rows, "findings": findings, "left_out": list(self.left_out)}

    def report(self, path: str | os.PathLike = "audit.html") -> Path:
        """Write one self-contained HTML page with all findings."""
        from baytree.file_io.atomic import write_file
        from baytree.rendering.page.html_page import to_html
        from baytree.reporting.audit_page import audit_page

        write_file(path, to_html(audit_page(self)).encode("utf-8", "backslashreplace"))
        return Path(path)

    def __str__(self) -> str:
        lines = [self._head(), *(_paragraph(f"{each.kind.replace('_', ' ')}: {each}") for each in self.findings)]
        return escaped("\n".join([*lines, *(_paragraph(f"not checked: {each}") for each in self.left_out)]), keep="\n")

    def _repr_html_(self) -> str:
        rows = [[each.kind.replace("_", " "), ", ".join(each.columns), each.message, each.remedy] for each in self.findings]
        notes = [f"not checked: {each}" for each in self.left_out]
        return table(self._head(), ["kind", "columns", "found", "remedy"], rows, notes)

    def _head(self) -> str:
        n = len(self.findings)
        found = f"{n} finding{'s' * (n != 1)}" if n else "nothing found"
        return f"Audit of {self.n_rows:,} rows for {self.target}: {found}"


def most_serious_first(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order of `KINDS`, with plain numbers as figures; within a kind the order stays."""
    plain = [
        msgspec.structs.replace(each, figure={name: np.asarray(value).item() for name, value in each.figure.items()})
        for each in findings
    ]
    return sorted(plain, key=lambda finding: KINDS.index(finding.kind))


def listed(names: Iterable[object], maximum: int = 3) -> str:
    """The first names, quoted, and how many more there are.

    >>> listed(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    texts = [repr(str(name)) for name in names]
    more = f" and {len(texts) - maximum} more" if len(texts) > maximum else ""
    return ", ".join(texts[:maximum]) + more


def _paragraph(text: str) -> str:
    return fill(f"- {text}", TERMINAL_WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
