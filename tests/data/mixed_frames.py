"""One table of every kind of column, in every library's frame."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import baytree as bt

N = 40
RNG = np.random.default_rng(0)
WORDS = RNG.choice(["a", "b", "c"], N)
COLUMNS = {
    "number": RNG.normal(size=N),
    "whole": RNG.integers(0, 5, N),
    "flag": RNG.random(N) > 0.5,
    "word": WORDS,
    "day": np.array("2020-01-01", "M8[D]") + RNG.integers(0, 100, N),
}
LABELS = RNG.choice(["u", "v"], N)
PANDAS = pd.DataFrame(COLUMNS)
FRAMES = {
    "pandas": PANDAS,
    "pandas nullable": PANDAS.convert_dtypes(),
    "pandas Arrow": PANDAS.convert_dtypes(dtype_backend="pyarrow"),
    "pandas object": PANDAS.astype(object),
    "pandas categorical": PANDAS.astype({"word": "category"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars categorical": pl.DataFrame(COLUMNS).with_columns(pl.col("word").cast(pl.Categorical)),
    "polars enum": pl.DataFrame(COLUMNS).with_columns(pl.col("word").cast(pl.Enum(["a", "b", "c"]))),
    "Arrow": pa.table(COLUMNS),
    "Arrow dictionary": pa.table({**COLUMNS, "word": pa.array(WORDS.tolist()).dictionary_encode()}),
    "dict of arrays": COLUMNS,
    "dict of lists": {name: values.tolist() for name, values in COLUMNS.items()},
}


def fitted(frame, labels=LABELS, **parameters):
    return bt.NaiveBayesClassifier(**parameters).fit(frame, labels)
