"""C: the same rows give the same model file, whatever the run, the threads and the parts."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.base import clone, is_classifier

from baytree import storage
from figure import Figure, Scope, each
from metamorphic import SUBJECTS, Rows, numbers

THREADS = (1, 2, 3, 8, 16)
PARTS = (1, 2, 3, 7, 64)
ROUNDED = 1e-10  # of sums of products in doubles, which a class with fewer rows than features divides by its floor of 1e-6


def fits(scope: Scope) -> Iterator[Figure]:
    """C1: a hundred fits, one file."""
    n = scope.cases(100)
    for name, digests in zip(SUBJECTS, each(_digests_of_fits, [(name, n) for name in SUBJECTS]), strict=True):
        yield _one_file("C1", name, "the same fit again and again", n, digests)


def threads(scope: Scope) -> Iterator[Figure]:
    """C2: any number of threads, one file."""
    n = scope.cases(50)
    for name, subject in SUBJECTS.items():
        if "n_jobs" in subject.estimator.get_params():
            digests = {_digest(name, _large(name), n_jobs=k) for k in THREADS for _ in range(n)}
            yield _one_file("C2", name, f"{', '.join(map(str, THREADS))} threads", n * len(THREADS), digests)


def parts(scope: Scope) -> Iterator[Figure]:
    """C3: any parts in any order, one model; not of models that learn rows in their order."""
    for name, subject in SUBJECTS.items():
        if hasattr(subject.estimator, "partial_fit") and "order" not in subject.exempt:
            worst = max(each(_worst_of_parts, [(name, seed) for seed in scope.seeds(50)]))
            found = "the same bits" if worst == 0 else f"largest difference {worst:.1e}"
            cases, limit = scope.cases(50) * len(PARTS), 0.0 if subject.is_bitwise else ROUNDED
            promise = f"1, 2, 3, 7 and 64 parts in any order, and merge: {f'within {limit:g}' if limit else 'bit for bit'}"
            yield Figure("C3", name, promise, cases, found, worst <= limit)


def _one_file(code: str, name: str, promise: str, cases: int, digests: set[str]) -> Figure:
    return Figure(
        code, name, promise, cases, f"{len(digests)} distinct model file{'s' * (len(digests) > 1)}", len(digests) == 1
    )


def _digests_of_fits(task: tuple[str, int]) -> set[str]:
    name, n = task
    rows = SUBJECTS[name].rows(0)
    return {_digest(name, rows) for _ in range(n)}


def _digest(name: str, rows: Rows, **parameters: object) -> str:
    warnings.simplefilter("ignore")
    estimator = clone(SUBJECTS[name].estimator).set_params(**parameters)
    model = estimator.fit(rows.X, rows.y if is_classifier(estimator) else rows.number)
    if parameters:
        model.set_params(n_jobs=None)  # a parameter is part of the file; what was learnt with it must not differ
    return hashlib.sha256(storage.dumps(model)).hexdigest()


def _large(name: str) -> Rows:
    """Enough rows for every thread to get some, of several tables."""
    subject = SUBJECTS[name]
    rows = subject.rows(0)
    random = np.random.default_rng(0)
    large = rows.take(random.integers(0, len(rows.y), 40_000))
    X = large.X.copy()
    if numbers in subject.tables:
        X.iloc[:, 0] += random.normal(size=len(X))
    return Rows(X, large.y, large.number, random)


def _worst_of_parts(task: tuple[str, int]) -> float:
    warnings.simplefilter("ignore")
    name, seed = task
    subject = SUBJECTS[name]
    rows = subject.rows(seed)
    whole = subject.answers(rows, rows.X)
    return max(float(np.abs(_in_parts(name, rows, k) - whole).max()) for k in PARTS)


def _in_parts(name: str, rows: Rows, k: int) -> np.ndarray:
    """Half of the parts taught to one model, half to another, then both merged."""
    pieces = [piece for piece in np.array_split(rows.random.permutation(len(rows.y)), k) if len(piece)]
    models = [clone(SUBJECTS[name].estimator), clone(SUBJECTS[name].estimator)]
    for i, piece in enumerate(pieces):
        _teach(models[i % 2], rows.take(piece), np.unique(rows.y))
    whole = models[0].merge(models[1]) if len(pieces) > 1 else models[0]
    return whole.predict_proba(rows.X) if is_classifier(whole) else whole.predict(rows.X)


def _teach(model: object, part: Rows, classes: np.ndarray) -> None:
    if is_classifier(model):
        model.partial_fit(part.X, part.y, classes=classes)
    else:
        model.partial_fit(part.X, part.number)


CHECKS = {"C1": fits, "C2": threads, "C3": parts}
