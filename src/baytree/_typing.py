"""Type aliases of user input: frames of any library, labels, weights, priors, costs.

The aliases are loose because the accepted libraries (pandas, polars, pyarrow, SciPy ...) are optional dependencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike

FrameLike: TypeAlias = Any  # a data frame of any library, a dense or sparse matrix, a dict of columns

TargetLike: TypeAlias = "ArrayLike | str | None"  # labels or the name of the label column

WeightsLike: TypeAlias = "ArrayLike | str | None"  # one weight per row or the name of the weight column

PriorsLike: TypeAlias = "ArrayLike | Mapping[Any, float] | None"  # class priors: in class order or by label

RandomLike: TypeAlias = "int | np.random.Generator | np.random.RandomState | None"  # random generator or its seed

CostsLike: TypeAlias = (
    "ArrayLike | Mapping[Any, Mapping[Any, float]] | None"  # misclassification costs: in class order or by label
)

RejectLike: TypeAlias = Any  # reject option: a minimum probability, a dict of rules, or prediction sets

TextTarget: TypeAlias = Literal["python", "javascript", "c", "sql", "pmml", "json"]  # targets of `export` that are text

EstimatorLike: TypeAlias = Any  # an estimator of baytree or one with scikit-learn's interface
