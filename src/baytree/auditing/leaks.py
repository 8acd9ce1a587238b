"""Leaks: columns that decide the target alone, are computed from it, or have levels that occur in one class only.

A strong column is not a leak by itself. A finding needs that all other columns together are far from what the column alone
achieves: a fact of the subject usually shows in several columns, a fact that was recorded afterwards in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from baytree import _warnings
from baytree.auditing.counts import N_FOLDS, AuditCounts, fold_of_rows, r_squared, skill_of_classes
from baytree.auditing.result import Finding
from baytree.base.model import predict_with_codes
from baytree.data.encoding.table import Table, Tokens, is_missing
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Target
from baytree.engine.partitions import LocalPartitions
from baytree.estimators.base import Estimator
from baytree.estimators.learner_access import learner_of
from baytree.estimators.linear.regression import LinearRegression
from baytree.estimators.naive_bayes.naive_bayes import NaiveBayesClassifier
from baytree.estimators.tree.cart import CARTClassifier, CARTRegressor
from baytree.model_selection.trials import codes_among, held_out_table, training_table
from baytree.statistics import binning

MIN_SKILL = 0.95  # proportion of the baseline's error that a leaking column alone removes

MAX_ERROR_RATIO = 0.25  # of the column alone to that of all other columns, at most

MIN_RANK_CORRELATION = 0.995  # of a numeric target with a column that is a monotone transform of it

MIN_ROWS = 20

MAX_ALIKE = 2  # more columns of the same relation to the classes are the nature of the table, not records of the outcome

MIN_LEVEL_ROWS, MIN_LEVEL_PROPORTION = 15, 0.3  # rows of a level that occurs in one class only; their part of that class

MAX_LEVEL_CHANCE = 1e-4  # p-value, adjusted for the number of levels, of a level in one class only

MAX_LEVEL_ACCURACY = 0.8  # of all other columns on the rows of such a level

_AFTERWARDS = "if it is known only afterwards, leave it out: declare schema={{{0!r}: 'drop'}}"


class LeakChecks(NamedTuple):
    """Target name, sample and counts of a table."""

    target: str
    sample: Table
    counts: AuditCounts

    def findings(self) -> list[Finding]:
        """All leaks, the columns with the best score first."""
        if self.counts.n_rows < MIN_ROWS:
            return []
        return _of_classes(self) if self.sample.n_classes else _of_numbers(self)

    @property
    def names(self) -> list[str]:
        """Names of the columns that were counted."""
        return [column.name for column in self.sample.schema.columns[: len(self.counts.columns)]]

    def others(self, excluded: Sequence[int]) -> OtherColumns:
        """All columns that are not excluded."""
        return OtherColumns(self.sample, [j for j in range(len(self.counts.columns)) if j not in set(excluded)])


class OtherColumns:
    """What some columns of the sample predict together, cross-validated: the better one of a tree and a simple model."""

    def __init__(self, sample: Table, columns: Sequence[int]):
        self.sample = sample
        self.columns = [j for j in columns if not isinstance(sample.values[j], Tokens)]

    @cached_property
    def is_right(self) -> np.ndarray:
        """Whether each row of the sample is predicted correctly: bool [n_rows]."""
        found = [self._predictions(kind) == self.sample.label for kind in (CARTClassifier(), NaiveBayesClassifier())]
        return max(found, key=lambda right: right.mean())

    def accuracy_of(self, codes: np.ndarray) -> float:
        """Cross-validated accuracy of a tree for another column, whose codes begin at 0."""
        classes = tuple(range(int(codes.max()) + 1))
        target = Target("", classes)
        schema = msgspec.structs.replace(self.sample.schema, target=target)
        sample = msgspec.structs.replace(self.sample, schema=schema, label=codes.astype(np.int32))
        return float((OtherColumns(sample, self.columns)._predictions(CARTClassifier()) == codes).mean())

    @cached_property
    def r_squared(self) -> float:
        """Cross-validated R²."""
        y = self.sample.label
        spread = float(((y - y.mean()) ** 2).sum())
        errors = [float(((self._predictions(kind) - y) ** 2).sum()) for kind in (CARTRegressor(), LinearRegression())]
        return 1.0 - min(errors) / spread if spread > 0 else 0.0

    def _predictions(self, estimator: Estimator) -> np.ndarray:
        part, n = self.sample.select(self.columns), len(self.sample)
        is_classes = bool(self.sample.n_classes)
        predicted = np.zeros(n, np.int64 if is_classes else np.float64)
        fold = fold_of_rows(0, n)
        for k in range(N_FOLDS):
            is_test = fold == k
            predicted[is_test] = self._fold(estimator, part, is_test)
        return predicted

    def _fold(self, estimator: Estimator, part: Table, is_test: np.ndarray) -> np.ndarray:
        label = self.sample.label[~is_test]
        constant = np.bincount(label).argmax() if self.sample.n_classes else label.mean()
        if not self.columns or len(np.unique(label)) < 2:
            return np.full(int(is_test.sum()), constant)
        train = training_table(part, np.flatnonzero(~is_test))
        with _warnings.capture():
            model = learner_of(estimator, train.schema, train).learn(LocalPartitions(train, 1)).model
            output, codes = predict_with_codes(model, held_out_table(part, np.flatnonzero(is_test), train.schema))
        return output[:, 0] if codes is None else codes_among(train.schema.classes, part.schema.classes)[codes]


# --- classes ------------------------------------------------------------------------------------------------------------


def _of_classes(checks: LeakChecks) -> list[Finding]:
    per_class = next((sums.sum(axis=(0, 1)) for sums in checks.counts.columns if sums.size), None)
    if per_class is None or np.count_nonzero(per_class) < 2:
        return []
    base = float(per_class.max() / per_class.sum())
    alone = np.array([skill_of_classes(sums) if sums.size else 0.0 for sums in checks.counts.columns])
    missing = np.array([_missing_score(sums) for sums in checks.counts.columns])
    alone = np.maximum(alone, missing)
    limit = base + MIN_SKILL * (1 - base)
    candidates = [int(j) for j in np.argsort(-alone, kind="stable") if alone[j] >= limit]
    found: list[Finding] = []
    if candidates:
        others = checks.others(candidates).is_right.mean()
        found = [
            _alone(checks, j, alone[j], missing[j], float(others), base)
            for j in candidates
            if 1 - alone[j] <= MAX_ERROR_RATIO * (1 - others)
        ]
    found += _computed_from_classes(checks, candidates)
    named = {name for finding in found for name in finding.columns}
    return found + _single_class_levels(checks, per_class, candidates, named)


def _computed_from_classes(checks: LeakChecks, excluded: Sequence[int]) -> list[Finding]:
    """Columns of few levels, or with missing values, that the class determines although other columns do not."""
    found: list[Finding] = []
    n_determined = 0
    for j, sums in enumerate(checks.counts.columns):
        if j in excluded or not sums.size or sums.shape[2] < 3 or n_determined > MAX_ALIKE:
            continue
        counts = sums.sum(axis=0)  # [1 + n_codes, n_classes]
        parts = {"whether {!r} is missing": np.stack([counts[0], counts[1:].sum(axis=0)])}
        if checks.sample.schema.columns[j].kind is Kind.NOMINAL and np.count_nonzero(counts.sum(axis=1)) < sums.shape[2]:
            parts["{!r}"] = counts
        name = checks.names[j]
        for what, own in parts.items():
            by_class = _determined_by_class(own)
            if by_class is None:
                continue
            n_determined += 1
            values = checks.sample.values[j]
            target = is_missing(values).astype(np.int32) if own is not counts else np.asarray(values) + 1
            others = checks.others([j, *excluded]).accuracy_of(target)
            if 1 - by_class > MAX_ERROR_RATIO * (1 - others) or others > MAX_OTHERS:
                continue
            message = (
                f"{what.format(name)} follows from {checks.target!r} in {by_class:.1%} of the rows, as if it had been "
                f"recorded afterwards; all other columns together predict it in {others:.1%}"
            )
            figure = {"alone": by_class, "others": others}
            found.append(Finding("leak", (name,), message, _AFTERWARDS.format(name), figure))
            break
    return found if n_determined <= MAX_ALIKE else []


def _determined_by_class(counts: np.ndarray) -> float | None:
    """Proportion of rows with the most frequent code of their class, if it is nearly 1 and the codes are not."""
    n, largest = counts.sum(), counts.sum(axis=1).max()
    right = counts.max(axis=0).sum()
    if n - largest < MIN_LEVEL_OF_TARGET * n or right - largest < MIN_COMPUTED_SKILL * (n - largest):
        return None
    return float(right / n)


MAX_OTHERS = 0.98  # accuracy of all other columns for a column that is computed from the class

MIN_COMPUTED_SKILL = 0.98  # proportion of the baseline's error that the class removes, for a column computed from it


def _missing_score(sums: np.ndarray) -> float:
    """Cross-validated accuracy of whether the value is missing."""
    if not sums.size:
        return 0.0
    return skill_of_classes(np.stack([sums[:, 0], sums[:, 1:].sum(axis=1)], axis=1))


def _alone(checks: LeakChecks, j: int, alone: float, missing: float, others: float, base: float) -> Finding:
    name = checks.names[j]
    is_missing_enough = missing >= base + MIN_SKILL * (1 - base)
    what = f"whether {name!r} is missing" if is_missing_enough else f"{name!r}"
    message = (
        f"{what} alone predicts {checks.target!r} with accuracy {alone:.3f} in cross-validation, "
        f"all other columns together with {others:.3f}"
    )
    figure = {"alone": alone, "others": others, "always_the_same": base}
    return Finding("leak", (name,), message, _AFTERWARDS.format(name), figure)


def _single_class_levels(
    checks: LeakChecks, per_class: np.ndarray, excluded: Sequence[int], named: set[str]
) -> list[Finding]:
    """Levels, or missing values, that occur in one class only, where all other columns cannot tell that class."""
    found: list[Finding] = []
    n_single = 0
    proportion = per_class / per_class.sum()
    for j, sums in enumerate(checks.counts.columns):
        column = checks.sample.schema.columns[j]
        if not sums.size or column.name in named or j in excluded:
            continue
        counts = sums.sum(axis=0)  # [1 + n_codes, n_classes]
        level = _single_class_level(counts if column.kind is not Kind.NUMERIC else counts[:1], per_class, proportion)
        if level is None or n_single > MAX_ALIKE:
            continue
        n_single += 1
        code, target_class = level
        values = checks.sample.values[j]
        is_level = is_missing(values) if code == 0 else checks.sample.values[j] == code - 1
        if not is_level.any():
            continue
        others = float(checks.others([j, *excluded]).is_right[is_level].mean())
        if others > MAX_LEVEL_ACCURACY and _tells_more(counts, code):
            continue
        label = checks.sample.schema.classes[target_class]
        n = int(counts[code].sum())
        what = f"{column.name!r} is missing" if code == 0 else f"{column.name!r} is {column.levels[code - 1]!r}"
        message = (
            f"{what} in {n:,} rows, and all of them are {label!r} ({n / per_class[target_class]:.0%} of that class); all "
            f"other columns together predict {others:.0%} of these rows"
        )
        figure = {"rows": n, "of_class": float(n / per_class[target_class]), "others": others}
        found.append(Finding("leak", (column.name,), message, _AFTERWARDS.format(column.name), figure))
    return found if n_single <= MAX_ALIKE else []


def _tells_more(counts: np.ndarray, code: int) -> bool:
    """Whether the other values depend on the class as well, as in an ordinary column, or there is only one other."""
    rest = np.delete(counts, code, axis=0)
    if np.count_nonzero(rest.sum(axis=1)) < 2:
        return True
    return binning.chi_square_tail(*binning.chi_square(rest)) < MAX_LEVEL_CHANCE


def _single_class_level(counts: np.ndarray, per_class: np.ndarray, proportion: np.ndarray) -> tuple[int, int] | None:
    """Code with most rows among those that occur in one class only, and that class; never the largest class."""
    rows = counts.sum(axis=1)
    is_pure = (counts > 0).sum(axis=1) == 1
    owner = counts.argmax(axis=1)
    is_pure &= (owner != per_class.argmax()) & (rows >= MIN_LEVEL_ROWS) & (rows >= MIN_LEVEL_PROPORTION * per_class[owner])
    is_pure &= len(rows) * proportion[owner] ** rows <= MAX_LEVEL_CHANCE
    if not is_pure.any():
        return None
    code = int(np.where(is_pure, rows, -1).argmax())
    return code, int(owner[code])


# --- numbers ------------------------------------------------------------------------------------------------------------


def _of_numbers(checks: LeakChecks) -> list[Finding]:
    y = checks.sample.label
    if len(np.unique(y)) < 3:
        return []
    scores = np.array([r_squared(sums) if sums.size else 0.0 for sums in checks.counts.columns])
    reasons = [_relation(checks, j, y, scores[j]) for j in range(len(scores))]
    candidates = [j for j, reason in enumerate(reasons) if reason]
    found = []
    others = max(checks.others(candidates).r_squared, 0.0) if candidates else 0.0
    for j in candidates:
        if reasons[j] == _STRONG and 1 - scores[j] > MAX_ERROR_RATIO * (1 - others):
            continue
        alone = max(float(scores[j]), _r_squared_by_interpolation(checks.sample.values[j], y), 0.0)
        message = (
            f"{checks.names[j]!r} {reasons[j].format(checks.target)}; alone it has R² {alone:.3f} in cross-validation, all "
            f"other columns together {others:.3f}"
        )
        figure = {"alone": alone, "others": others}
        found.append(Finding("leak", (checks.names[j],), message, _AFTERWARDS.format(checks.names[j]), figure))
    return sorted(found, key=lambda finding: -finding.figure["alone"])


_STRONG = "alone nearly determines {!r}"


def _relation(checks: LeakChecks, j: int, y: np.ndarray, score: float) -> str:
    """How a column depends on a numeric target, as text; "" if it may be an ordinary column."""
    values, kind = checks.sample.values[j], checks.sample.schema.columns[j].kind
    if isinstance(values, Tokens):
        return ""
    known = ~is_missing(values)
    if _is_step_function(known, y):
        return "is missing on one side of {!r} only"
    if known.sum() < MIN_ROWS:
        return ""
    own, target = values[known], y[known]
    if kind is not Kind.NOMINAL and abs(_rank_correlation(own, target)) >= MIN_RANK_CORRELATION:
        return "rises or falls with {!r} as a transform of it would"
    if _is_step_function(own, target):
        return "is determined by {!r}, as if it had been computed from it"
    return _STRONG if score >= 1 - (1 - MIN_SKILL) / 2 else ""


def _r_squared_by_interpolation(values: np.ndarray, y: np.ndarray) -> float:
    """Cross-validated R² of linear interpolation between the training rows; 0 for columns that are not ordered."""
    if values.dtype != np.float64:
        return 0.0
    known = ~np.isnan(values)
    x, y, predicted = values[known], y[known], np.zeros(int(known.sum()))
    spread = float(((y - y.mean()) ** 2).sum())
    fold = fold_of_rows(0, len(x))
    for k in range(N_FOLDS):
        is_test = fold == k
        points, inverse, counts = np.unique(x[~is_test], return_inverse=True, return_counts=True)
        predicted[is_test] = np.interp(x[is_test], points, np.bincount(inverse, y[~is_test]) / counts)
    return 1.0 - float(((predicted - y) ** 2).sum()) / spread if spread > 0 else 0.0


def _rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman correlation; 0 if one of them is constant."""
    ranks = [_mean_ranks(values) for values in (x, y)]
    centred = [rank - rank.mean() for rank in ranks]
    size = np.sqrt((centred[0] @ centred[0]) * (centred[1] @ centred[1]))
    return float(centred[0] @ centred[1] / size) if size > 0 else 0.0


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


MIN_LEVEL_OF_TARGET = 0.05  # proportion of rows outside the largest level of a column that is computed from the target

MAX_RUNS_PROPORTION = 0.02  # of the runs that a column has along the sorted target by chance


def _is_step_function(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether a column of few values changes, along the sorted target, hardly more often than it has values."""
    _, codes, counts = np.unique(x, return_inverse=True, return_counts=True)
    n, k = len(codes), len(counts)
    proportion = counts / n
    if k < 2 or k > n / 5 or 1 - proportion.max() < MIN_LEVEL_OF_TARGET:
        return False
    along = codes[np.lexsort((codes, y))]
    runs = 1 + int(np.count_nonzero(np.diff(along)))
    by_chance = n * (1 - (proportion**2).sum())
    return runs - k <= MAX_RUNS_PROPORTION * max(by_chance - k, 0) and by_chance > 2 * k
