"""What users of linear regression can choose, checked."""

from __future__ import annotations

import msgspec


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The choices: λ is `lambda_`, or 1 / (n · C) where that is None."""

    l1_share: float = 0.0
    is_penalised: bool = False
    C: float = 1.0
    lambda_: float | None = None
    standardize: bool = True
    ordinal: str = "rank"
    missing: str = "mean+indicator"
    conventions: str | None = None  # "glmnet": the ridge's λ is one in units of the target, as a lasso's is

    def strength(self, weight: float) -> float:
        """The strength λ for rows of this weight in all."""
        return self.lambda_ if self.lambda_ is not None else 1 / weight / self.C
