"""Page of an audit, and its section on the page of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from baytree.base import provenance
from baytree.rendering.page.comparison_views import FindingsView, FindingView
from baytree.rendering.page.html_page import Page


def audit_page(audit: ReportedAudit) -> Page:
    """Page with all findings of an audit."""
    return Page(f"Audit for {audit.target}", f"Audit of a table for {audit.target}.", (findings_view(audit),))


def findings_view(audit: ReportedAudit) -> FindingsView:
    """All findings as a section."""
    n = len(audit.findings)
    found = f"{n} finding{'s' * (n != 1)}" if n else "nothing found"
    return FindingsView(
        head=f"{audit.n_rows:,} rows with a {audit.target}: {found}.",
        findings=tuple(_view(finding) for finding in audit.findings),
        left_out=tuple(audit.left_out),
    )


def _view(finding: ReportedFinding) -> FindingView:
    figures = ", ".join(f"{name.replace('_', ' ')} {value:.6g}" for name, value in finding.figure.items())
    return FindingView(finding.kind.replace("_", " "), tuple(finding.columns), finding.message, finding.remedy, figures)


class ReportedFinding(provenance.FindingLike, Protocol):
    """Finding of an audit, with its figures."""

    @property
    def figure(self) -> Mapping[str, float]: ...


class ReportedAudit(Protocol):
    """Findings about a table."""

    @property
    def target(self) -> str: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def findings(self) -> Sequence[ReportedFinding]: ...
    @property
    def left_out(self) -> Sequence[str]: ...
