"""What users of logistic regression can choose, checked."""

from __future__ import annotations

import msgspec

SOLVERS = ("auto", "newton", "lbfgs", "cd", "gradient_descent")


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The choices: λ is `lambda_`, or 1 / (n · C) where that is None."""

    l1_share: float = 0.0
    is_penalised: bool = True
    C: float = 1.0
    lambda_: float | None = None
    multi_class: str = "multinomial"
    standardize: bool = True
    ordinal: str = "rank"
    missing: str = "mean+indicator"
    solver: str = "auto"
    tol: float = 1e-8
    max_iter: int = 1000
    learning_rate: float | None = None
    monotone: tuple[tuple[str, int], ...] = ()  # columns with which the second class may not fall (1), or not rise (−1)
    constant: float = 0.0  # what the penalty counts the constant for, 0 where it is free; infinity: there is none
