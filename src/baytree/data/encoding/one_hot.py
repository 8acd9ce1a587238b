"""One-hot features and bags of words as frames to look at: `one_hot` and `bag_of_words`.

Estimators encode tables by themselves; these functions show what they see. The features have the names and values of the
linear models: one 0/1 column per level (`colour=red`), ranks for ordinal columns, an indicator for missing values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from baytree._typing import FrameLike
from baytree.data.encoding.bag_of_words import DocumentFrequency, count, inverse_frequency, within_limits
from baytree.data.encoding.bags import recode, row_of_entries, weighed
from baytree.data.encoding.encode import fit_encode
from baytree.data.encoding.sample import schema_of
from baytree.data.encoding.table import Tokens, is_missing
from baytree.data.frames import read
from baytree.data.schema.column import Column, Kind, Text
from baytree.data.schema.schema import Schema
from baytree.display.results import frame_of

MAX_DENSE_CELLS = 10_000_000  # of a pandas frame; above it, 0/1 and count columns are sparse


def one_hot(
    frame: FrameLike,
    columns: Sequence[str] | None = None,
    *,
    drop_first: bool = False,
    schema: Mapping[str, Any] | Schema | None = None,
) -> Any:
    """Encode nominal columns as 0/1 columns, one per level; numeric columns keep their values.

    Ordinal columns, such as ``schema={"state": ["bad", "fair", "good"]}``, become ranks 0, 1, 2. A column with missing
    values gets one more column that marks them.

    Parameters
    ----------
    frame : data frame, dict of columns or array
        Table without its target column.
    columns : list of str, optional
        Columns to encode, numeric ones too; the others stay as they are. By default all nominal columns.
    drop_first : bool, default=False
        Leave out the first level of each column, the reference level. The columns are then those of the linear models.
    schema : dict or Schema, optional
        Kinds of columns that should not be inferred, as in every estimator; ordinal levels are declared here.

    Returns
    -------
    frame
        Of the library of `frame`. A pandas frame of more than ten million cells has sparse columns.

    Examples
    --------
    >>> import baytree as bt
    >>> import pandas as pd
    >>> bt.one_hot(pd.DataFrame({"colour": ["red", "green", "blue"], "size": [1.5, 2.0, 3.0]}))
       colour=blue  colour=green  colour=red  size
    0            0             0           1   1.5
    1            0             1           0   2.0
    2            1             0           0   3.0
    """
    if isinstance(columns, str):
        raise ValueError(f"columns={columns!r}: give a list of names, [{columns!r}]")
    raw = read(frame)
    if not raw.n_rows:
        raise ValueError("the table has no rows, so its levels are not known; give a table with at least one row")
    unknown = [name for name in columns or () if name not in raw.columns]
    if unknown:
        raise ValueError(f"no column {unknown[0]!r}; the columns are {', '.join(map(repr, raw.columns))}")
    kinds = schema if isinstance(schema, Schema) else {**dict.fromkeys(columns or (), "nominal"), **(schema or {})}
    declared = {column.source for column in kinds.columns} if isinstance(kinds, Schema) else set(kinds)
    fitted, values = fit_encode(raw, schema_of(raw, kinds, leaves_out_identifiers=False), accepts_infinite=True)
    features: dict[str, np.ndarray] = {}
    for column, codes in zip(fitted.columns, values, strict=True):
        is_selected = columns is None or column.source in columns or column.source in declared
        if isinstance(codes, Tokens):
            raise ValueError(f"column {column.name!r} is text: give it to bag_of_words, and leave it out here")
        if not is_selected:
            features[column.name] = _unchanged(column, codes)
        elif column.kind is Kind.NOMINAL:
            features.update(_indicators(column, codes, drop_first))
        else:
            features.update(_values(column, codes))
    return frame_of(features, like=frame, is_sparse=raw.n_rows * len(features) > MAX_DENSE_CELLS)


def bag_of_words(
    texts: Any,
    ngrams: tuple[int, int] = (1, 1),
    tfidf: bool = False,
    *,
    min_df: int | float = 1,
    max_df: int | float = 1.0,
    stop_words: tuple[str, ...] | Literal["english"] | None = None,
    norm: Literal["l2"] | None = "l2",
    lowercase: bool = True,
) -> Any:
    """Count the words of documents, one column per word; with `tfidf`, weigh them by how rare they are.

    Tokens and options are those of `bt.Text`, and of scikit-learn's `CountVectorizer` and `TfidfVectorizer`.

    Parameters
    ----------
    texts : array-like of str
        Documents: a list, an array or a column of a frame.
    ngrams : tuple of two int, default=(1, 1)
        Smallest and largest number of consecutive words that form a token.
    tfidf : bool, default=False
        Multiply counts by log((1 + n) / (1 + documents with the word)) + 1, and scale each document by `norm`.
    min_df : int or float, default=1
        Minimum document frequency of a token: a number of documents (int) or a proportion (float).
    max_df : int or float, default=1.0
        Maximum document frequency of a token: a number of documents (int) or a proportion (float).
    stop_words : tuple of str, 'english' or None, default=None
        Words to ignore.
    norm : {'l2', None}, default='l2'
        Whether each document is scaled to Euclidean length 1 under `tfidf`.
    lowercase : bool, default=True
        Whether documents are lower-cased first.

    Returns
    -------
    frame
        Of the library of `texts`. A pandas frame of more than ten million cells has sparse columns.

    Examples
    --------
    >>> import baytree as bt
    >>> import pandas as pd
    >>> bt.bag_of_words(pd.Series(["good food", "bad food, bad service"]))
       bad  food  good  service
    0    0     1     1        0
    1    2     1     0        1
    """
    if isinstance(texts, (str, bytes)):
        raise ValueError("give the documents as a list of strings, such as ['good food', 'bad service']")
    documents = list(texts)
    is_other = [each for each in documents if not isinstance(each, str) and each is not None and each == each]
    if is_other:
        raise ValueError(f"{is_other[0]!r} is not a text: give strings, and None for a missing document")
    options = Text(ngrams=tuple(ngrams), min_df=min_df, max_df=max_df, stop_words=stop_words, norm=norm, lowercase=lowercase)
    vocabulary, tokens = count([each if isinstance(each, str) else None for each in documents], options)
    frequency = DocumentFrequency.of(vocabulary, tokens)
    is_used = within_limits(frequency, options)
    if not is_used.any():
        raise ValueError("no word is left: the documents are empty, or min_df, max_df and stop_words exclude every word")
    tokens = recode(tokens, np.where(is_used, np.cumsum(is_used) - 1, -1))
    words = [word for word, used in zip(vocabulary, is_used.tolist(), strict=True) if used]
    idf = inverse_frequency(frequency)[is_used]
    weight = weighed(tokens, idf, norm == "l2") if tfidf else tokens.count.astype(np.int64)
    features = dict(zip(words, _by_word(tokens, weight, len(words)), strict=True))
    return frame_of(features, like=texts, is_sparse=len(documents) * len(words) > MAX_DENSE_CELLS)


def _indicators(column: Column, codes: np.ndarray, drop_first: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Name and 0/1 values of each level that occurs, and of the indicator of missing values if there are any."""
    used = np.unique(codes[codes >= 0]).tolist() if drop_first or not column.declared else range(len(column.levels))
    for level in list(used)[1 if drop_first else 0 :]:
        yield f"{column.name}={column.show(level)}", (codes == level).astype(np.uint8)
    yield from _missing_indicator(column, is_missing(codes))


def _unchanged(column: Column, values: np.ndarray) -> np.ndarray:
    """Values of a column as they were given: numbers, or levels with None where they are missing."""
    if not column.levels:
        return values
    levels = np.empty(len(column.levels) + 1, object)  # code −1 takes the last one
    levels[:-1], levels[-1] = column.levels, None
    return levels[values]


def _missing_indicator(column: Column, missing: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    if missing.any():
        yield f"{column.name} is missing", missing.astype(np.uint8)


def _values(column: Column, values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Numbers or ranks of a column, and the indicator of missing values if there are any."""
    missing = is_missing(values)
    is_code = values.dtype.kind == "i"
    yield column.name, np.where(missing, np.nan, values) if is_code and missing.any() else np.asarray(values)
    yield from _missing_indicator(column, missing)


def _by_word(tokens: Tokens, weight: np.ndarray, n_words: int) -> Iterator[np.ndarray]:
    """Values of each word in all documents. [n_rows] each"""
    order = np.argsort(tokens.code, kind="stable")
    ends = np.searchsorted(tokens.code[order], np.arange(n_words + 1))
    row = row_of_entries(tokens)[order]
    for word in range(n_words):
        values = np.zeros(len(tokens), weight.dtype)
        entries = slice(ends[word], ends[word + 1])
        values[row[entries]] = weight[order[entries]]
        yield values
