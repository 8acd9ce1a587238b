"""What users hand in: frames of any library, labels, weights. Their types are those of their libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike

FrameLike: TypeAlias = Any  # a data frame of any library, a dense or sparse matrix, a dict of columns

TargetLike: TypeAlias = "ArrayLike | str | None"  # labels, or the name of their column

WeightsLike: TypeAlias = "ArrayLike | str | None"  # a weight for each row, or the name of their column

PriorsLike: TypeAlias = "ArrayLike | Mapping[Any, float] | None"  # of classes: in their order, or by label

RandomLike: TypeAlias = "int | np.random.Generator | np.random.RandomState | None"  # what numbers are drawn by, or its seed

CostsLike: TypeAlias = (
    "ArrayLike | Mapping[Any, Mapping[Any, float]] | None"  # of mistakes: in the order of classes, or by label
)

RejectLike: TypeAlias = Any  # when to say nothing: a least probability, a dict of rules, or prediction sets

EstimatorLike: TypeAlias = Any  # an estimator of this library or of scikit-learn's kind
