"""Provenance of a model: how it was validated and what an audit found in its table, as plain records.

`compare` gives it to every model that it fits; it is stored with the model, and the model card prints it. Predictions do not
read it. A later fit, merge or `partial_fit` changes the model, and so removes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

import msgspec

_Interval = tuple[float, float, float]  # estimate, and the ends of its 95 % interval


class RecordedScore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Score of a model on rows that it was not fitted to; None where it is not defined."""

    metric: str
    mean: float | None
    low: float | None  # of its 95 % interval
    high: float | None


class RecordedValidation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cross-validation of a model: the folds, in words, and the scores."""

    folds: str
    rows: int
    scores: tuple[RecordedScore, ...]


class RecordedFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Finding of an audit."""

    kind: str
    columns: tuple[str, ...]
    message: str
    remedy: str


class RecordedAudit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Audit of the table: its findings, and the checks that were not made."""

    rows: int
    findings: tuple[RecordedFinding, ...]
    left_out: tuple[str, ...] = ()


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model was validated, and the audit of its table; None where it is not known."""

    validation: RecordedValidation | None = None
    audit: RecordedAudit | None = None

    @classmethod
    def of(cls, validation: ValidationLike | None, audit: AuditLike | None) -> Self:
        """Provenance from the results of `cross_validate` and `audit`."""
        return cls(
            None if validation is None else _recorded_validation(validation),
            None if audit is None else _recorded_audit(audit),
        )

    def check(self) -> None:
        """Raise ValueError for counts that no table has."""
        if any(part is not None and part.rows < 0 for part in (self.validation, self.audit)):
            raise ValueError("the provenance counts fewer than no rows")


def _recorded_validation(validation: ValidationLike) -> RecordedValidation:
    n_rows = len(set(validation.pooled[0].tolist()))
    scores = tuple(RecordedScore(metric, *validation.summary(metric)) for metric in validation.metrics)
    return RecordedValidation(validation.how, n_rows, scores)


def _recorded_audit(audit: AuditLike) -> RecordedAudit:
    findings = tuple(RecordedFinding(each.kind, tuple(each.columns), each.message, each.remedy) for each in audit.findings)
    return RecordedAudit(audit.n_rows, findings, tuple(audit.left_out))


class ValidationLike(Protocol):
    """Result of `cross_validate`."""

    @property
    def how(self) -> str: ...
    @property
    def metrics(self) -> Sequence[str]: ...
    @property
    def pooled(self) -> tuple: ...
    def summary(self, metric: str) -> _Interval: ...


class FindingLike(Protocol):
    """Finding of an audit."""

    @property
    def kind(self) -> str: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def message(self) -> str: ...
    @property
    def remedy(self) -> str: ...


class AuditLike(Protocol):
    """Result of `audit`."""

    @property
    def n_rows(self) -> int: ...
    @property
    def findings(self) -> Sequence[FindingLike]: ...
    @property
    def left_out(self) -> Sequence[str]: ...
