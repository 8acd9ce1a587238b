"""How cost grows with the table: processor time and peak memory of every estimator, for 1, 2, 4 and 8 times as many rows,
columns, classes and levels.

`python benchmarks/growth.py [ESTIMATOR ...]` writes `GROWTH.md`; with names, only the rows of these estimators are
measured and replaced. The exponent e of cost ~ size^e is the slope of the logarithms by least squares. `EXPECTED` holds
what the algorithm costs, as the estimator documents it; a row whose measured exponent exceeds it by more than `TOLERANCE`
is marked.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import baytree as bt
from harness import peak, processor

PAGE = Path(__file__).parent / "GROWTH.md"
FACTORS = (1, 2, 4, 8)
TOLERANCE = 0.3
SHORTEST = 0.01  # seconds; a largest table that takes less shows fixed costs, not growth
RUNS = 3


@dataclass(frozen=True)
class Size:
    """Shape of a table: rows, numeric columns, nominal columns, classes (0: a numeric target) and levels."""

    rows: int = 4_000
    numeric: int = 6
    nominal: int = 6
    classes: int = 3
    levels: int = 6

    def times(self, axis: str, factor: int) -> Size:
        """This shape with one thing multiplied. Columns are numeric and nominal together."""
        axes = ("numeric", "nominal") if axis == "columns" else (axis,)
        return Size(**{**vars(self), **{name: factor * getattr(self, name) for name in axes}})

    def table(self) -> pd.DataFrame:
        """Columns of which a third carries signal; a tenth of the labels is random."""
        rng = np.random.default_rng(0)
        numeric = rng.normal(size=(self.rows, self.numeric))
        codes = rng.integers(self.levels, size=(self.rows, self.nominal))
        n_informative = max(1, self.numeric // 3)
        score = numeric[:, :n_informative].sum(axis=1) / np.sqrt(n_informative)
        if self.nominal:
            score = score + (codes[:, : max(1, self.nominal // 3)] % 3 - 1).mean(axis=1)
        frame = pd.DataFrame({f"x{j}": numeric[:, j] for j in range(self.numeric)})
        for j in range(self.nominal):
            frame[f"g{j}"] = pd.Categorical.from_codes(codes[:, j], [f"v{k}" for k in range(self.levels)])
        if not self.classes:
            frame["y"] = score + rng.normal(size=self.rows)
            return frame
        label = np.searchsorted(np.quantile(score, np.arange(1, self.classes) / self.classes), score)
        is_random = rng.random(self.rows) < 0.1
        label[is_random] = rng.integers(self.classes, size=is_random.sum())
        frame["y"] = np.array([f"c{k}" for k in range(self.classes)])[label]
        return frame


@dataclass(frozen=True)
class Subject:
    """An estimator, its smallest table, and the exponents of its fit by axis (1 unless given)."""

    name: str
    make: Callable[[], object]
    size: Size
    expected: dict[str, float]


def subjects() -> list[Subject]:
    """Every learning estimator of the public API. Sorting adds a logarithm, which stays within the tolerance."""
    both, levels = Size(), Size(numeric=0, nominal=12)
    large, dense = Size(rows=30_000), Size(rows=20_000, numeric=12, nominal=0)
    few, few_targets = Size(rows=500, numeric=4, nominal=2), Size(rows=500, numeric=4, nominal=2, classes=0)
    target = Size(classes=0)
    sums = {"columns": 2.0}  # one X'X
    searched = {"rows": 2.0, "columns": 2.0, "levels": 2.0}  # a sweep of each column for every test
    newton = {"columns": 3.0, "classes": 2.0, "levels": 3.0}  # Hessian and its factor
    return [
        Subject("NaiveBayesClassifier", bt.NaiveBayesClassifier, large, {}),
        Subject("GaussianNB", bt.GaussianNB, Size(rows=60_000, numeric=12, nominal=0), {}),
        Subject("CategoricalNB", bt.CategoricalNB, Size(rows=30_000, numeric=0, nominal=12), {}),
        Subject("JointDistribution", bt.JointDistribution, Size(numeric=0, nominal=3, levels=4), {}),
        Subject("DecisionTreeClassifier", bt.DecisionTreeClassifier, both, {}),
        Subject("DecisionTreeClassifier(max_depth=5)", lambda: bt.DecisionTreeClassifier(max_depth=5), large, {}),
        Subject("DecisionTreeRegressor", bt.DecisionTreeRegressor, target, {}),
        Subject("CARTClassifier", bt.CARTClassifier, both, {"levels": 2.0}),
        Subject("CARTRegressor", bt.CARTRegressor, target, {}),
        Subject("ID3Classifier", bt.ID3Classifier, levels, {}),
        Subject("C45Classifier", bt.C45Classifier, both, {}),
        Subject("C50Classifier", bt.C50Classifier, both, {}),
        Subject("C50Classifier(rules=True)", lambda: bt.C50Classifier(rules=True), Size(rows=500), {"rows": 2.0}),
        Subject("CHAIDClassifier", bt.CHAIDClassifier, both, {"levels": 2.0}),
        Subject("CHAIDRegressor", bt.CHAIDRegressor, target, {"levels": 2.0}),
        Subject("NBTreeClassifier", bt.NBTreeClassifier, Size(rows=1_000), {"columns": 2.0}),
        Subject("StreamingTreeClassifier", bt.StreamingTreeClassifier, both, {}),
        Subject("LinearDiscriminantAnalysis", bt.LinearDiscriminantAnalysis, dense, sums),
        Subject("QuadraticDiscriminantAnalysis", bt.QuadraticDiscriminantAnalysis, dense, sums),
        Subject("LogisticRegression", bt.LogisticRegression, both, newton),
        Subject("LogisticRegression(penalty='l1')", lambda: bt.LogisticRegression(penalty="l1", C=0.1), both, newton),
        Subject("LogisticRegressionCV", bt.LogisticRegressionCV, Size(rows=1_000), newton),
        Subject("LinearRegression", bt.LinearRegression, Size(rows=20_000, classes=0), {"columns": 2.0, "levels": 2.0}),
        Subject("LinearRegressionCV", bt.LinearRegressionCV, target, {"columns": 2.0, "levels": 2.0}),
        Subject("MARSClassifier", bt.MARSClassifier, few, {"columns": 2.0, "levels": 2.0}),
        Subject("AdditiveClassifier", bt.AdditiveClassifier, Size(500, 3, 3), {"columns": 2.0}),
        Subject("AdditiveRegressor", bt.AdditiveRegressor, Size(500, 3, 3, classes=0), {"columns": 2.0}),
        Subject("OptimalTreeClassifier(max_depth=2)", optimal_tree, Size(250, 3, 3), searched),
        Subject("MARSRegressor", bt.MARSRegressor, few_targets, {"columns": 2.0, "levels": 2.0}),
    ]  # fmt: skip


def optimal_tree() -> bt.OptimalTreeClassifier:
    """A search to the end over all thresholds."""
    return bt.OptimalTreeClassifier(max_depth=2, time_limit=None)


def axes(subject: Subject) -> list[str]:
    """The things that can grow in the subject's table."""
    return [
        "rows",
        "columns",
        *(["classes"] if subject.size.classes else []),
        *(["levels"] if subject.size.nominal else []),
    ]


def exponent(values: list[float]) -> float:
    """Slope of the logarithms of cost by size."""
    x, y = np.log(FACTORS), np.log(np.maximum(values, 1e-9))
    return float(np.polyfit(x, y, 1)[0])


def measure(subject: Subject, axis: str) -> list[str]:
    """One row of the page."""
    fits, predictions, peaks, numbers = [], [], [], []
    for factor in FACTORS:
        size = subject.size.times(axis, factor)
        frame = size.table()
        X = frame.drop(columns="y")
        model = subject.make().fit(frame, "y")
        fits.append(processor(lambda frame=frame: subject.make().fit(frame, "y"), RUNS))
        predictions.append(processor(lambda model=model, X=X: model.predict(X), RUNS))
        peaks.append(peak(lambda frame=frame: subject.make().fit(frame, "y")) / 1e6)
        numbers.append(
            getattr(size, "rows" if axis == "rows" else axis) if axis != "columns" else size.numeric + size.nominal
        )
    expected = subject.expected.get(axis, 1.0)
    found = exponent(fits)
    verdict = "as stated" if found <= expected + TOLERANCE or fits[-1] < SHORTEST else "**faster than stated**"
    return [
        f"`{subject.name}`",
        axis,
        f"{numbers[0]:,}–{numbers[-1]:,}",
        " · ".join(f"{1e3 * each:,.1f}" for each in fits),
        f"{found:.2f}",
        f"{expected:g}",
        verdict,
        " · ".join(f"{1e3 * each:,.1f}" for each in predictions),
        f"{exponent(predictions):.2f}",
        " · ".join(f"{each:,.0f}" for each in peaks),
    ]


def main(names: list[str]) -> None:
    """Measure and write the page; with names, only the rows of these estimators."""
    warnings.simplefilter("ignore")
    rows = []
    for subject in subjects():
        if names and subject.name.split("(")[0] not in names:
            continue
        for axis in axes(subject):
            rows.append(measure(subject, axis))
            print(" | ".join(rows[-1]), flush=True)
    lines = [line_of(row) for row in rows]
    if names:
        measured = {row[0] for row in rows}
        stored = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
        lines = [line for line in stored if line.split(" | ")[0].removeprefix("| ") not in measured] + lines
    PAGE.write_text(page(lines))


def line_of(cells: list[str]) -> str:
    """One line of a table in Markdown."""
    return "| " + " | ".join(cells) + " |"


def page(rows: list[str]) -> str:
    """The table in Markdown."""
    header = [
        "estimator",
        "what grows",
        "sizes",
        "fit, ms",
        "exponent",
        "stated",
        "",
        "predict, ms",
        "exponent",
        "peak of fit, MB",
    ]
    return "\n".join([INTRODUCTION, line_of(header), line_of(["---"] * len(header)), *rows, ""])


INTRODUCTION = f"""# How cost grows

Written by `python benchmarks/growth.py`: processor time (least of {RUNS}) and peak memory beyond what the process held
before, for 1, 2, 4 and 8 times the smallest table. The exponent is the slope of the logarithms. "Stated" is the cost of the
algorithm: a row is marked if the fit's exponent is more than {TOLERANCE} above it and the largest fit takes
{1e3 * SHORTEST:.0f} ms or more.
"""

if __name__ == "__main__":
    main(sys.argv[1:])
