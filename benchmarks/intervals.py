"""Whether intervals hold what they promise: how often the truth lies within 95 % intervals of probabilities and means.

python benchmarks/intervals.py [world ...]

Tables are drawn from worlds whose probabilities are known; a model learns each table, and its intervals are held against the
truth for new rows. Of a tree the truth is the mean over the rows that reach the same leaf. Writes INTERVALS.md.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import baytree as bt
from advice import TABLES, table
from baytree.base.model import softmax

HERE = Path(__file__).parent
SIZES = (50, 200, 1000)
N_TABLES = 100  # of each world and size
N_NEW = 200  # rows that are asked for
LEVEL = 0.95
Rows = pd.DataFrame
Probabilities = Callable[[Rows], np.ndarray]


class World(NamedTuple):
    """Where rows come from: n of them with their answers, and the truth of any row."""

    draw: Callable[[int], tuple[Rows, np.ndarray]]
    truth: Probabilities  # [n_rows, n_outputs]


def normal_classes(random: np.random.Generator, n_classes: int, p: int, covariance: str) -> World:
    """Normal classes: independent columns, one covariance, or one each."""
    mean = random.normal(size=(n_classes, p)) / np.sqrt(p / 2)
    one = _root(random, p)
    roots = {
        "independent": lambda: np.diag(np.exp(0.3 * random.normal(size=p))),
        "one": lambda: one,
        "own": lambda: _root(random, p),
    }
    root = np.array([roots[covariance]() for _ in range(n_classes)])
    prior = random.dirichlet(np.full(n_classes, 5.0))

    def draw(n: int) -> tuple[Rows, np.ndarray]:
        y = random.choice(n_classes, n, p=prior)
        return _frame(mean[y] + np.einsum("nij,nj->ni", root[y], random.normal(size=(n, p)))), y

    def truth(rows: Rows) -> np.ndarray:
        z = [np.linalg.solve(root[k], (rows.to_numpy() - mean[k]).T) for k in range(n_classes)]
        log_det = np.linalg.slogdet(root)[1]
        return softmax(np.log(prior) - log_det - np.stack([np.square(each).sum(axis=0) / 2 for each in z], axis=1))

    return World(draw, truth)


def independent_levels(random: np.random.Generator, n_classes: int, p: int, n_levels: int) -> World:
    """Nominal columns that are independent within classes."""
    share = random.dirichlet(np.full(n_levels, 2.0), size=(n_classes, p))
    prior = random.dirichlet(np.full(n_classes, 5.0))

    def draw(n: int) -> tuple[Rows, np.ndarray]:
        y = random.choice(n_classes, n, p=prior)
        return _levels((random.random((n, p, 1)) > np.cumsum(share[y], axis=2)[:, :, :-1]).sum(axis=2), n_levels), y

    def truth(rows: Rows) -> np.ndarray:
        codes = np.stack([rows[name].cat.codes for name in rows], axis=1)
        each = [np.log(share[k, np.arange(p), codes]).sum(axis=1) for k in range(n_classes)]
        return softmax(np.log(prior) + np.stack(each, axis=1))

    return World(draw, truth)


def counts(random: np.random.Generator, n_classes: int, p: int) -> World:
    """Poisson columns that are independent within classes."""
    rate = random.gamma(4.0, 0.7, size=(n_classes, p))
    prior = random.dirichlet(np.full(n_classes, 5.0))

    def draw(n: int) -> tuple[Rows, np.ndarray]:
        y = random.choice(n_classes, n, p=prior)
        return _frame(random.poisson(rate[y]).astype(np.float64)), y

    def truth(rows: Rows) -> np.ndarray:
        return softmax(np.log(prior) + rows.to_numpy() @ np.log(rate).T - rate.sum(axis=1))

    return World(draw, truth)


def log_linear(random: np.random.Generator, n_classes: int, p: int) -> World:
    """Log-odds that are linear in normal columns."""
    slope, start = 0.8 * random.normal(size=(n_classes, p)), 0.5 * random.normal(size=n_classes)

    def truth(rows: Rows) -> np.ndarray:
        return softmax(start + rows.to_numpy() @ slope.T)

    def draw(n: int) -> tuple[Rows, np.ndarray]:
        rows = _frame(random.normal(size=(n, p)))
        return rows, _drawn(random, truth(rows))

    return World(draw, truth)


def steps(random: np.random.Generator, n_classes: int, p: int) -> World:
    """A tree of three tests decides; the other columns tell nothing."""
    share = random.dirichlet(np.full(n_classes, 1.0), size=4)

    def truth(rows: Rows) -> np.ndarray:
        x = rows.to_numpy()
        return share[np.where(x[:, 0] > 0, 2 + (x[:, 1] > 0.3), (x[:, 2] > -0.3).astype(int))]

    def draw(n: int) -> tuple[Rows, np.ndarray]:
        rows = _frame(random.normal(size=(n, p)))
        return rows, _drawn(random, truth(rows))

    return World(draw, truth)


def any_cells(random: np.random.Generator, n_classes: int, p: int, n_levels: int) -> World:
    """Nominal columns, each combination of levels with a distribution of its own."""
    share = random.dirichlet(np.full(n_classes, 1.0), size=(n_levels,) * p)

    def truth(rows: Rows) -> np.ndarray:
        return share[tuple(rows[name].cat.codes for name in rows)]

    def draw(n: int) -> tuple[Rows, np.ndarray]:
        rows = _levels(random.integers(0, n_levels, (n, p)), n_levels)
        return rows, _drawn(random, truth(rows))

    return World(draw, truth)


def numbers(random: np.random.Generator, p: int, is_stepwise: bool) -> World:
    """A number that is linear in the columns, or steps, and noise."""
    slope, levels = random.normal(size=p), 2 * random.normal(size=4)

    def truth(rows: Rows) -> np.ndarray:
        x = rows.to_numpy()
        stepwise = levels[np.where(x[:, 0] > 0, 2 + (x[:, 1] > 0.3), (x[:, 2] > -0.3).astype(int))]
        return (stepwise if is_stepwise else x @ slope)[:, None]

    def draw(n: int) -> tuple[Rows, np.ndarray]:
        rows = _frame(random.normal(size=(n, p)))
        return rows, truth(rows)[:, 0] + random.normal(size=n)

    return World(draw, truth)


class Trial(NamedTuple):
    """A model in a world; `by_leaf`: the truth is the mean over the rows of a leaf."""

    world: Callable[[np.random.Generator], World]
    make: Callable[[], object]
    by_leaf: bool = False
    halves: bool = False  # grown from one half of the rows, counted in the other


def _tree_trials() -> dict[str, Trial]:
    models = {
        "C4.5": bt.C45Classifier,
        "CART at cp 0.01": bt.CARTClassifier,
        "CART by 1 SE": lambda: bt.CARTClassifier(cp=0.0, pruning="1se"),
        "CHAID": bt.CHAIDClassifier,
        "C5.0": bt.C50Classifier,
        "tree, not pruned, 5 rows a leaf": lambda: bt.DecisionTreeClassifier(min_leaf=5),
    }
    by_leaf = {f"{name}: its leaves": Trial(lambda r: steps(r, 2, 6), make, True) for name, make in models.items()}
    by_leaf |= {
        f"{name}: its leaves, counted in the other half": Trial(lambda r: steps(r, 2, 6), models[name], True, True)
        for name in ("C4.5", "CART at cp 0.01", "CHAID")
    }
    averaged = lambda: bt.DecisionTreeClassifier(criterion="entropy", min_leaf=5, averaging="prunings")  # noqa: E731
    return by_leaf | {
        "average of all prunings: its leaves": Trial(lambda r: steps(r, 2, 6), averaged, True),
        "average of all prunings": Trial(lambda r: steps(r, 2, 6), averaged),
        "average of all prunings, 3 classes": Trial(lambda r: steps(r, 3, 6), averaged),
    }


NB = bt.NaiveBayesClassifier
TRIALS = {
    "naive Bayes, numbers": Trial(lambda r: normal_classes(r, 2, 4, "independent"), NB),
    "naive Bayes, numbers, 3 classes": Trial(lambda r: normal_classes(r, 3, 4, "independent"), NB),
    "naive Bayes by mle, numbers": Trial(lambda r: normal_classes(r, 2, 4, "independent"), lambda: NB(estimate="mle")),
    "naive Bayes, levels": Trial(lambda r: independent_levels(r, 2, 5, 4), NB),
    "naive Bayes, levels, 4 classes": Trial(lambda r: independent_levels(r, 4, 5, 3), NB),
    "naive Bayes, Poisson": Trial(lambda r: counts(r, 2, 4), lambda: NB(events={f"x{j}": "poisson" for j in range(4)})),
    "joint table": Trial(lambda r: any_cells(r, 2, 2, 3), bt.JointDistribution),
    "linear discriminant": Trial(lambda r: normal_classes(r, 2, 4, "one"), bt.LinearDiscriminantAnalysis),
    "linear discriminant, 3 classes, 8 columns": Trial(
        lambda r: normal_classes(r, 3, 8, "one"), bt.LinearDiscriminantAnalysis
    ),
    "quadratic discriminant": Trial(lambda r: normal_classes(r, 2, 3, "own"), bt.QuadraticDiscriminantAnalysis),
    "quadratic discriminant, 3 classes": Trial(lambda r: normal_classes(r, 3, 3, "own"), bt.QuadraticDiscriminantAnalysis),
    "logistic regression": Trial(lambda r: log_linear(r, 2, 3), lambda: bt.LogisticRegression(penalty=None)),
    "logistic regression, 3 classes": Trial(lambda r: log_linear(r, 3, 3), lambda: bt.LogisticRegression(penalty=None)),
    **_tree_trials(),
    "linear regression": Trial(lambda r: numbers(r, 4, False), bt.LinearRegression),
    "CART of numbers: its leaves": Trial(lambda r: numbers(r, 6, True), bt.CARTRegressor, True),
    "CART of numbers: its leaves, counted in the other half": Trial(
        lambda r: numbers(r, 6, True), bt.CARTRegressor, True, True
    ),
}


def coverage(trial: Trial, size: int) -> tuple[float, float]:
    """The share of intervals that hold the truth, and how wide they are, by the median; nan where the model refuses."""
    random, held, width = np.random.default_rng(size), [], []
    for _ in range(N_TABLES):
        world = trial.world(random)
        rows, answers = world.draw(size)
        new, _ = world.draw(20 * N_NEW if trial.by_leaf else N_NEW)
        try:
            bounds, model = interval(trial, rows, answers, new)
        except ValueError:
            continue
        truth = world.truth(new)
        bounds = bounds.reshape(len(new), -1, 2)
        if bounds.shape[1] != truth.shape[1]:  # a class was never drawn
            continue
        if trial.by_leaf:
            truth = leaf_means(model.apply(new), truth)
        held.append(((bounds[..., 0] <= truth + 1e-12) & (truth - 1e-12 <= bounds[..., 1])).mean())
        width.append(np.median(bounds[..., 1] - bounds[..., 0]))
    return (float(np.mean(held)), float(np.mean(width))) if len(held) > N_TABLES / 2 else (np.nan, np.nan)


def interval(trial: Trial, rows: Rows, answers: np.ndarray, new: Rows) -> tuple[np.ndarray, object]:
    """The intervals of new rows by the model of these rows, and the model."""
    if not trial.halves:
        model = trial.make().fit(rows, answers)
        return model.predict_interval(new, level=LEVEL), model
    rows = rows.assign(y=answers)
    model = trial.make().fit(rows[::2], "y")
    return model.predict_interval(new, level=LEVEL, held_out=rows[1::2]), model


def leaf_means(leaf: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The mean truth of the rows that reach the same leaf."""
    sums = np.stack([np.bincount(leaf, truth[:, k]) for k in range(truth.shape[1])], axis=1)
    return (sums / np.maximum(np.bincount(leaf), 1)[:, None])[leaf]


def held_out(name: str, make: Callable[[], object]) -> float:
    """Of the leaves that hold at least 5 rows of the other half, the share in which the commonest class is as frequent there
    as the interval and the chance of so many rows allow."""
    frame, target, kinds = table(name)
    frame = frame[frame[target].notna()].sample(frac=1.0, random_state=0).iloc[:3000]
    seen, unseen = frame.iloc[::2], frame.iloc[1::2]
    model = make().set_params(schema=kinds).fit(seen, target)
    bounds = model.predict_interval(unseen, level=LEVEL)
    best = model.predict_proba(unseen).argmax(axis=1)
    own = bounds[np.arange(len(best)), best]
    is_right = np.asarray(unseen[target].astype(str)) == model.classes_.astype(str)[best]
    _, place = np.unique(np.column_stack([best, own]), axis=0, return_inverse=True)
    n, found = np.bincount(place.ravel()), []
    for leaf in np.flatnonzero(n >= 5):
        rows = place.ravel() == leaf
        low, high = own[rows][0]
        middle, reach = (low + high) / 2, (high - low) / 2
        chance = 1.96**2 * max(middle * (1 - middle), 1e-4) / n[leaf]
        found.append(abs(is_right[rows].mean() - middle) <= np.sqrt(reach**2 + chance))
    return float(np.mean(found)) if found else np.nan


HELD_OUT = {
    "C4.5": bt.C45Classifier,
    "CART by 1 SE": lambda: bt.CARTClassifier(cp=0.0, pruning="1se"),
    "CHAID": bt.CHAIDClassifier,
}


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    found = {}
    for name in names or TRIALS:
        found[name] = [coverage(TRIALS[name], size) for size in SIZES]
        print(name, *(f"{100 * share:.1f}, {width:.3f}" for share, width in found[name]), flush=True)
    if names:
        return
    on_tables = {name: [held_out(name, make) for make in HELD_OUT.values()] for name in TABLES}
    (HERE / "INTERVALS.md").write_text(page(found, on_tables))


def page(found: dict[str, list[tuple[float, float]]], on_tables: dict[str, list[float]]) -> str:
    """A row for each world, its misses marked, and one for each table."""
    lines = [
        "# Intervals beside the truth",
        "",
        "How often the truth lies within `predict_interval(X, level=0.95)`, in per cent, and the median width of intervals:",
        f"{N_TABLES} tables of each world and size, {N_NEW} new rows each. What lies outside 93 to 97 is **bold**; — : the",
        "model refuses most tables of that size. `python benchmarks/intervals.py` makes it anew.",
        "",
        "| model | " + " | ".join(f"{size:,} rows" for size in SIZES) + " |",
        "|---|" + "--:|" * len(SIZES),
        *(f"| {name} | " + " | ".join(map(_cell, row)) + " |" for name, row in found.items()),
        "",
        "Intervals take a tree as it is. Its tests were chosen to tell these very rows apart, so its leaves are surer than",
        "they may be: that is what the bold figures say. Counted in rows that the tree has not learnt from",
        "(`predict_interval(X, held_out=rows)`) they hold. The average of all prunings doubts its splits, but not where",
        "cuts lie: that is not enough. Without `its leaves` an interval is held against the truth of the row itself.",
        "",
        "## Held-out rows",
        "",
        "Of the leaves that at least five rows of the other half of a table reach, the share in which the class that is",
        "predicted is as frequent there as the interval, and the chance of so few rows, allow. In per cent.",
        "",
        "| table | " + " | ".join(HELD_OUT) + " |",
        "|---|" + "--:|" * len(HELD_OUT),
        *(f"| {name} | " + " | ".join(_per_cent(each) for each in row) + " |" for name, row in on_tables.items()),
        "| mean | " + " | ".join(_per_cent(each) for each in np.nanmean(list(on_tables.values()), axis=0)) + " |",
    ]
    return "\n".join([*lines, ""])


def _cell(figure: tuple[float, float]) -> str:
    share, width = figure
    if np.isnan(share):
        return "—"
    told = f"{100 * share:.1f}"
    return f"{told if 0.93 <= share <= 0.97 else f'**{told}**'} ({width:.2f})"


def _per_cent(share: float) -> str:
    return "—" if np.isnan(share) else f"{100 * share:.0f}"


def _root(random: np.random.Generator, p: int) -> np.ndarray:
    return np.linalg.qr(random.normal(size=(p, p)))[0] * random.uniform(0.6, 1.4, size=p)


def _frame(values: np.ndarray) -> Rows:
    return pd.DataFrame({f"x{j}": values[:, j] for j in range(values.shape[1])})


def _levels(codes: np.ndarray, n_levels: int) -> Rows:
    names = [f"l{v}" for v in range(n_levels)]
    return pd.DataFrame({f"x{j}": pd.Categorical.from_codes(codes[:, j], names) for j in range(codes.shape[1])})


def _drawn(random: np.random.Generator, probability: np.ndarray) -> np.ndarray:
    return (random.random((len(probability), 1)) > np.cumsum(probability, axis=1)[:, :-1]).sum(axis=1)


if __name__ == "__main__":
    main(sys.argv[1:])
