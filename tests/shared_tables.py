"""Tables that several test modules learn."""

import numpy as np
import pandas as pd


def bands(n: int = 120, seed: int = 0) -> pd.DataFrame:
    """Two classes that one number tells apart, with gaps, beside a number that tells nothing."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["low", "high"], n)
    frame = pd.DataFrame({"x": rng.normal(size=n) + 2 * (label == "high"), "noise": rng.normal(size=n), "label": label})
    frame.loc[::7, "x"] = np.nan
    return frame


def kinds_of_columns(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A number and levels with gaps, ranks, and two classes that the first two columns tell."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(1)),
            "c": pd.Series(rng.choice(list("uvwx"), n)).mask(rng.random(n) < 0.1),
            "s": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
        }
    )
    return frame, np.where(frame.a.fillna(0) + frame.c.isin(["u", "v"]) + rng.normal(size=n) / 2 > 0.7, "yes", "no")
