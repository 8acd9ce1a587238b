"""`Design`: the standardised feature matrix of a table, learnt once and stored with the model.

Dense features (numbers, one-hot levels, missing indicators; see `feature_layout.py`) are centred and scaled to unit standard
deviation, with a reference level dropped. They come first; the tf-idf features of text columns (`TfidfWords`) follow and are
sparse. The methods compute features, scores (features @ weight) and effects per column, dense in blocks or sparse, so that
coefficients and explanations refer to the original columns. `learn.py` learns a design.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from baytree.data.encoding.bags import weighed
from baytree.data.encoding.table import SparseColumns, Table, Tokens, refuse_infinite
from baytree.data.frames.raw import MAX_FEW_ROWS
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import MAX_DENSE_FEATURES, VALUE, FeatureLayout, check_floats, check_integers
from baytree.linear.design.sparse import SparseMatrix, entries, side_by_side, stacked

_MAX_SAFE = 1e300  # centres and scales above it may overflow when a value is standardised

MAX_STANDARDIZED = 1e100  # standard units; values are clipped to ±FAR so that products do not overflow


class Design(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="design"):
    """Features of a table in standard units: (feature − centre) / scale. Words are scaled but not centred.

    `reference` is the dropped level of each nominal column: the first level that occurs, or -1 if the column has none.
    """

    layout: FeatureLayout
    centre: np.ndarray  # float64 [n_dense]
    scale: np.ndarray  # float64 [n_features], > 0
    reference: np.ndarray  # int32 [n_columns]
    words: tuple[TfidfWords, ...] = ()

    def __post_init__(self) -> None:
        check_floats("design", centre=self.centre, scale=self.scale)
        check_integers("design", reference=self.reference)
        if self.centre.shape != (self.n_dense,) or self.scale.shape != (len(self),) or not (self.scale > 0).all():
            raise ValueError("design: every feature needs a centre and a positive scale")
        if len(self.reference) != self.layout.n_columns:
            raise ValueError("design: every column needs a reference level")
        if any(not 0 <= text.column < self.layout.n_columns for text in self.words):
            raise ValueError("design: words belong to a column that does not exist")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the features fit the columns of the schema."""
        self.layout.check(schema)
        for j, column in enumerate(schema.columns):
            if not -1 <= self.reference[j] < max(len(column.levels), 1):
                raise ValueError(f"design: column {column.name!r} has no such reference level")
        for text in self.words:
            column = schema.columns[text.column]
            if column.kind is not Kind.TEXT or len(text.idf) < len(column.levels):
                raise ValueError(f"design: the vocabulary of column {column.name!r} differs from the schema")

    def __len__(self) -> int:
        return self.n_dense + sum(len(text.idf) for text in self.words)

    @property
    def n_dense(self) -> int:
        """Number of features that are not words."""
        return len(self.layout)

    @property
    def source(self) -> np.ndarray:
        """Column index of each feature. int32 [n_features]"""
        return np.concatenate([self.layout.source, *(np.full(len(t.idf), t.column, np.int32) for t in self.words)])

    def names(self, columns: tuple[Column, ...]) -> list[str]:
        """Names of the features, such as `age`, `colour=red`, `age is missing`, `review: word`."""
        words = [f"{columns[t.column].name}: {word}" for t in self.words for word in columns[t.column].levels]
        return self.layout.names(columns) + words

    def features(self, table: Table, rows: slice = slice(None)) -> np.ndarray:
        """Dense features of some rows in standard units. float64 [n_rows, n_dense]"""
        x = self._raw(table, rows)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(x.sum()):
                refuse_infinite(table.schema, table.values)
            divisor = self.divisor
            if divisor is not None:  # the difference of two doubles may overflow
                x /= divisor
            x -= self.centre if divisor is None else self.centre / divisor
            x /= self.scale[: self.n_dense] if divisor is None else self.scale[: self.n_dense] / divisor
        return np.clip(x, -MAX_STANDARDIZED, MAX_STANDARDIZED, out=x)

    @property
    def divisor(self) -> np.ndarray | None:
        """4 for each feature whose differences could overflow, else 1; None if all are 1. float64 [n_dense]"""
        huge = (np.abs(self.centre) > _MAX_SAFE) | (self.scale[: self.n_dense] > _MAX_SAFE)
        return np.where(huge, 4.0, 1.0) if huge.any() else None

    def blocks(self, table: Table) -> Iterator[tuple[slice, np.ndarray]]:
        """Iterate over cache-sized blocks of rows: their slice and their dense features in standard units."""
        step = max(1, min(2048, 4_000_000 // max(1, self.n_dense)))
        for first in range(0, len(table), step):
            rows = slice(first, min(first + step, len(table)))
            yield rows, self.features(table, rows)

    def text(self, table: Table) -> Iterator[tuple[slice, SparseMatrix]]:
        """Iterate over text columns: the slice of their features and the word weights in standard units."""
        first = self.n_dense
        for words in self.words:
            feature_slice = slice(first, first + len(words.idf))
            tokens = table.values[words.column]
            value = words.weigh(tokens) / self.scale[feature_slice][tokens.code]
            yield feature_slice, SparseMatrix(tokens.start, tokens.code, value, len(words.idf))
            first = feature_slice.stop

    def scores(self, table: Table, weight: np.ndarray) -> np.ndarray:
        """features @ weight, without holding the features of all rows at a time. weight [n_features, k] → [n_rows, k]"""
        if (stored := self.stored(table)) is not None:
            return stored.product(weight / self.scale[:, None]) - (self.centre / self.scale) @ weight
        if self.n_dense > MAX_DENSE_FEATURES and (self.layout.level != VALUE).any():
            x, above = self.compressed(table)
            return x.product(weight) - above @ weight
        out = np.zeros((len(table), weight.shape[1]))
        for rows, x in self.blocks(table):
            out[rows] = product(x, weight[: self.n_dense])
        for feature_slice, words in self.text(table):
            out += words.product(weight[feature_slice])
        return out

    def effects(self, table: Table, weight: np.ndarray) -> np.ndarray:
        """Contribution of each column to each score. weight [n_features, k] → [n_rows, n_columns, k]"""
        effect = np.zeros((len(table), self.layout.n_columns, weight.shape[1]))
        for rows, x in self.blocks(table):
            for j in np.unique(self.layout.source):
                feature_slice = self.layout.of_column(int(j))
                effect[rows, j] = x[:, feature_slice] @ weight[: self.n_dense][feature_slice]
        for text, (feature_slice, words) in zip(self.words, self.text(table), strict=True):
            effect[:, text.column] += words.product(weight[feature_slice])
        return effect

    def compressed(self, table: Table) -> tuple[SparseMatrix, np.ndarray]:
        """Features of all rows as a sparse matrix, and by how much each feature exceeds its centred form. float64
        [n_features]
        """
        stored = self.stored(table)
        above = self.above(is_stored=stored is not None)
        if stored is not None:
            return msgspec.structs.replace(stored, value=stored.value / self.scale[stored.code]), above
        pieces = self._dense_parts(table, above[: self.n_dense])
        pieces += [
            SparseMatrix(x.start, x.code + np.int32(feature_slice.start), x.value, len(self))
            for feature_slice, x in self.text(table)
        ]
        return side_by_side(pieces, len(self)), above

    def above(self, *, is_stored: bool) -> np.ndarray:
        """By how much each feature of sparse rows exceeds its centred form. float64 [n_features]

        Only numbers are centred in sparse rows: centring one-hot features, words or the columns of a stored sparse matrix
        would destroy their zeros.
        """
        if is_stored:
            return self.centre / self.scale
        above = np.zeros(len(self))
        is_indicator = self.layout.level != VALUE
        above[: self.n_dense] = np.where(is_indicator, self.centre / self.scale[: self.n_dense], 0.0)
        return above

    def _dense_parts(self, table: Table, above: np.ndarray) -> list[SparseMatrix]:
        """Numbers, one-hot features and missing indicators as sparse matrices, to be joined by columns."""
        if self.n_dense <= MAX_DENSE_FEATURES:
            return [stacked([entries(x + above) for _, x in self.blocks(table)])] if self.n_dense else []
        numbers = np.flatnonzero(self.layout.level == VALUE)
        numeric_design = Design(self.layout.take(numbers), self.centre[numbers], self.scale[numbers], self.reference)
        dense = stacked([entries(x) for _, x in numeric_design.blocks(table)])
        pieces = [SparseMatrix(dense.start, numbers.astype(np.int32)[dense.code], dense.value, len(self))]
        for rows, feature in self.layout.one_hot_entries(table):
            start = np.searchsorted(rows, np.arange(len(table) + 1)).astype(np.int64)
            pieces.append(SparseMatrix(start, feature.astype(np.int32), 1 / self.scale[feature], len(self)))
        return pieces

    def stored(self, table: Table) -> SparseMatrix | None:
        """Entries of a sparse input matrix, neither centred nor scaled; None if the table is no sparse matrix.

        Also None if values are missing or the design has other features than the columns of the matrix: these need dense
        rows.
        """
        is_sparse_input = isinstance(table.values, SparseColumns) and len(self) == self.layout.n_columns
        if not is_sparse_input or (self.layout.level != VALUE).any() or np.isnan(table.values.matrix.data).any():
            return None
        matrix = table.values.matrix
        return SparseMatrix(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, len(self))

    def _raw(self, table: Table, rows: slice) -> np.ndarray:
        view = self.layout.view(table)
        if view is None:
            return self.layout.matrix(table, rows)
        x = np.array(view[rows])
        is_nan = np.isnan(x)
        if is_nan.any():
            x[is_nan] = np.broadcast_to(self.layout.fill, x.shape)[is_nan]
        return x


def product(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """x @ weight, row by row for at most `MAX_FEW_ROWS` rows: BLAS may round a row differently depending on the batch size.

    x [n_rows, n_features], weight [n_features, k] → [n_rows, k]
    """
    return np.matmul(x[:, None], weight)[:, 0] if len(x) <= MAX_FEW_ROWS else x @ weight


class TfidfWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="words"):
    """Tf-idf weights of a text column: the features of a row are count · idf, optionally divided by their Euclidean norm."""

    column: int
    idf: np.ndarray  # float64 [n_words]; 0 for a word outside the document-frequency limits
    is_unit: bool = True  # whether rows are divided by their Euclidean norm

    def __post_init__(self) -> None:
        check_floats("words", idf=self.idf)

    def weigh(self, tokens: Tokens) -> np.ndarray:
        """Tf-idf weight of each entry. float64 [n_entries]"""
        return weighed(tokens, self.idf, self.is_unit)
