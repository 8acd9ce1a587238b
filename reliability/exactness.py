"""B: moments are exact, probabilities are probabilities, and laws of learning hold."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from sklearn.base import clone

from baytree.statistics.moments import Moments
from figure import Figure, Scope, each
from metamorphic import SUBJECTS, allowed, level_classifiers, own_laws

OWN_CLASS = frozenset(("C5.0, rules", "C5.0, soft", "C5.0, trials of rules"))
"""Who names the class as the program does: of as many votes the default, and of soft trees before shares are smoothed."""


def moments(scope: Scope) -> Iterator[Figure]:
    """B1: sums and means correctly rounded, variances within 1e-15."""
    worst_means, worst_variances = zip(*each(_moment_errors, scope.seeds(10_000)), strict=True)
    cases, wrong, worst = len(worst_means), sum(worst_means), max(worst_variances)
    yield Figure(
        "B1", "means", "correctly rounded, offsets to 1e15, scales 1e-300 to 1e300", cases, f"{wrong} wrong", not wrong
    )
    yield Figure("B1", "variances", "relative error at most 1e-15", cases, f"largest {worst:.1e}", worst <= 1e-15)


def _moment_errors(seed: int) -> tuple[bool, float]:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 40))
    values = random.normal(size=n) * 10.0 ** random.integers(-300, 300)
    if seed % 2:
        values = random.normal(size=n) + 10.0 ** random.integers(0, 16)
    seen = Moments.of(values[:, None], np.zeros(n, np.int32), None, 1)
    exact = [Fraction(v) for v in values.tolist()]
    mean = sum(exact) / n
    variance = sum((v - mean) ** 2 for v in exact) / n
    squared = Fraction(float(seen.deviation()[0, 0])) ** 2
    apart = float(abs(squared - variance) / variance) if variance else float(squared)
    return bool(seen.mean()[0, 0] != float(mean)), apart


def probabilities(scope: Scope) -> Iterator[Figure]:
    """B4: for all finite doubles."""
    for name in level_classifiers():
        faults = [fault for fault in each(_fault_of_probabilities, [(name, seed) for seed in scope.seeds(1_000)]) if fault]
        held = "no NaN, sums within 1e-12 of 1" + ("" if name in OWN_CLASS else ", argmax = predict")
        found = faults[0] if faults else held
        yield Figure(
            "B4",
            name,
            "probabilities are probabilities for all finite doubles",
            1_000 * scope.cases(1_000),
            found,
            not faults,
        )


def _fault_of_probabilities(task: tuple[str, int]) -> str:
    warnings.simplefilter("ignore")
    name, seed = task
    random = np.random.default_rng(seed)
    learnt, asked = _finite(random, (30, 3)), _finite(random, (1_000, 3))
    model = clone(SUBJECTS[name].estimator).fit(learnt, np.arange(30) % random.integers(2, 5))
    proba = model.predict_proba(asked)
    is_right = np.isfinite(proba).all() and (proba >= 0).all() and np.abs(proba.sum(axis=1) - 1).max() <= 1e-12
    is_right &= name in OWN_CLASS or bool((model.predict(asked) == model.classes_[proba.argmax(axis=1)]).all())
    return "" if is_right else f"seed {seed}"


def _finite(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Doubles with any bits, some of them ordinary, in columns that are wild or tame."""
    wild = random.integers(0, 2**64, shape, dtype=np.uint64).view(np.float64)
    tame = random.normal(size=shape) * 10.0 ** random.integers(-20, 20, shape[1])
    share = random.choice([0.0, 0.1, 0.5, 1.0], shape[1])
    return np.where(np.isfinite(wild) & (random.random(shape) < share), wild, tame)


def laws(scope: Scope) -> Iterator[Figure]:
    """B5: what may be done to a table without a change of the answers."""
    chunks = np.array_split(np.array(scope.seeds(500)), 8)
    for name, subject in SUBJECTS.items():
        own = own_laws(subject)
        broken = [breach for found in each(_breaches, [(name, chunk) for chunk in chunks]) for breach in found]
        found = f"{len(broken)} broken, first {broken[0]}" if broken else f"{len(own)} laws hold"
        yield Figure("B5", name, "metamorphic laws", len(own) * scope.cases(500), found, not broken)


def _breaches(task: tuple[str, np.ndarray]) -> list[str]:
    warnings.simplefilter("ignore")
    subject = SUBJECTS[task[0]]
    own = own_laws(subject)
    return [
        f"{law.__name__} (seed {seed})"
        for seed in task[1].tolist()
        for law in own
        if not law(subject, seed) <= allowed(subject, law)
    ]


CHECKS = {"B1": moments, "B4": probabilities, "B5": laws}
