"""The tables that the benchmarks work on: made, seeded, of the shapes that users have."""

from __future__ import annotations

import numpy as np
import pandas as pd


def numbers(n_rows: int, n_columns: int, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Informative and redundant normal columns; five labels in a hundred are wrong."""
    from sklearn.datasets import make_classification

    informative = max(4, n_columns // 2)
    return make_classification(
        n_rows, n_columns, n_informative=informative, n_redundant=2, n_classes=n_classes, random_state=seed, flip_y=0.05
    )


def measured(n_rows: int, n_columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, and a number that is a sum over half of them and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, ::2] @ rng.normal(size=-(-n_columns // 2)) + rng.normal(size=n_rows)


def mixed(n_rows: int = 1_000_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Ten columns of numbers, one of them with missing values, and ten categoricals of 2 to 1,000 levels."""
    rng = np.random.default_rng(seed)
    columns: dict = {f"num{i}": rng.normal(size=n_rows) for i in range(10)}
    for i, n_levels in enumerate((2, 3, 5, 8, 12, 20, 50, 100, 300, 1000)):
        codes = rng.integers(0, n_levels, n_rows)
        columns[f"cat{i}"] = pd.Categorical.from_codes(codes, [f"v{j}" for j in range(n_levels)])
    frame = pd.DataFrame(columns)
    groups = frame.cat3.cat.codes % 3 - 1.2 * (frame.cat8.cat.codes % 7 < 3)
    score = frame.num0 + groups + frame.num1 * frame.cat0.cat.codes
    labels = np.where(score + rng.normal(size=n_rows) > 0.4, "yes", "no")
    frame.loc[rng.random(n_rows) < 0.05, "num2"] = np.nan
    return frame, labels


def documents(n: int = 50_000, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Documents of 30 to 200 words with Zipf's frequencies; each class prefers words of its own."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, rng.integers(2, 11))) for _ in range(40_000)])
    share = 1 / np.arange(1, len(words) + 1)
    share /= share.sum()
    labels = rng.integers(0, 4, n)
    favourites = [rng.permutation(len(words)) for _ in range(4)]
    texts = []
    for label in labels:
        length = int(rng.integers(30, 200))
        chosen = rng.choice(len(words), length, p=share)
        chosen[: length // 3] = favourites[label][chosen[: length // 3]]
        texts.append(" ".join(words[chosen]))
    return texts, labels
