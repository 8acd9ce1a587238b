"""The design matrix: features of a table about their mean, in units of their spread, with a reference level left out.

A design is learnt once and kept with the model, so that coefficients and explanations speak of the original columns.
Features of numbers, levels and gaps come first and are dense; words of text columns come after them and are sparse.

The words of a text column as features.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from baytree.data.encoding.bags import weighed
from baytree.data.encoding.table import SparseColumns, Table, Tokens, refuse_infinite
from baytree.data.frames.raw import FEW
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import VALUE, WIDE, FeatureLayout, check_floats, check_integers
from baytree.linear.design.sparse import SparseMatrix, entries, side_by_side, stacked

_HUGE = 1e300

FAR = 1e100  # standard units; beyond it a product could leave the range of doubles


class Design(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="design"):
    """Features of a table in standard units: (feature − centre) / scale. Words are scaled but not centred.

    `reference` is the level left out of each nominal column, the first that occurs (-1: the column has none).
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
            raise ValueError("design: a centre and a positive scale are needed for each feature")
        if len(self.reference) != self.layout.n_columns:
            raise ValueError("design: a reference level is needed for each column")
        if any(not 0 <= text.column < self.layout.n_columns for text in self.words):
            raise ValueError("design: words belong to a column that does not exist")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the features fit the columns of a schema."""
        self.layout.check(schema)
        for j, column in enumerate(schema.columns):
            if not -1 <= self.reference[j] < max(len(column.levels), 1):
                raise ValueError(f"design: column {column.name!r} has no such reference level")
        for text in self.words:
            column = schema.columns[text.column]
            if column.kind is not Kind.TEXT or len(text.idf) < len(column.levels):
                raise ValueError(f"design: column {column.name!r} has other words")

    def __len__(self) -> int:
        return self.n_dense + sum(len(text.idf) for text in self.words)

    @property
    def n_dense(self) -> int:
        """The number of features that are not words."""
        return len(self.layout)

    @property
    def source(self) -> np.ndarray:
        """The column of each feature. [n_features]"""
        return np.concatenate([self.layout.source, *(np.full(len(t.idf), t.column, np.int32) for t in self.words)])

    def names(self, columns: tuple[Column, ...]) -> list[str]:
        """What each feature is called: `age`, `colour=red`, `age is missing`, `review: word`."""
        words = [f"{columns[t.column].name}: {word}" for t in self.words for word in columns[t.column].levels]
        return self.layout.names(columns) + words

    def features(self, table: Table, rows: slice = slice(None)) -> np.ndarray:
        """The dense features of these rows in standard units. [n_rows, n_dense]"""
        x = self._raw(table, rows)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(x.sum()):
                refuse_infinite(table.schema, table.values)
            small = self.divisor
            if small is not None:  # the distance between two doubles may be none
                x /= small
            x -= self.centre if small is None else self.centre / small
            x /= self.scale[: self.n_dense] if small is None else self.scale[: self.n_dense] / small
        return np.clip(x, -FAR, FAR, out=x)

    @property
    def divisor(self) -> np.ndarray | None:
        """4 for each feature whose distances could leave the range of doubles, else 1; None where all are 1."""
        huge = (np.abs(self.centre) > _HUGE) | (self.scale[: self.n_dense] > _HUGE)
        return np.where(huge, 4.0, 1.0) if huge.any() else None

    def blocks(self, table: Table) -> Iterator[tuple[slice, np.ndarray]]:
        """The dense features in standard units, a cache-sized block of rows at a time."""
        step = max(1, min(2048, 4_000_000 // max(1, self.n_dense)))
        for first in range(0, len(table), step):
            rows = slice(first, min(first + step, len(table)))
            yield rows, self.features(table, rows)

    def text(self, table: Table) -> Iterator[tuple[slice, SparseMatrix]]:
        """The words of each text column in standard units, and which features they are."""
        first = self.n_dense
        for words in self.words:
            own = slice(first, first + len(words.idf))
            tokens = table.values[words.column]
            value = words.weigh(tokens) / self.scale[own][tokens.code]
            yield own, SparseMatrix(tokens.start, tokens.code, value, len(words.idf))
            first = own.stop

    def scores(self, table: Table, weight: np.ndarray) -> np.ndarray:
        """features @ weight, never with the features of all rows at once. weight [n_features, k] → [n_rows, k]"""
        if (stored := self.stored(table)) is not None:
            return stored.product(weight / self.scale[:, None]) - (self.centre / self.scale) @ weight
        if self.n_dense > WIDE and (self.layout.level != VALUE).any():
            x, above = self.compressed(table)
            return x.product(weight) - above @ weight
        out = np.zeros((len(table), weight.shape[1]))
        for rows, x in self.blocks(table):
            out[rows] = product(x, weight[: self.n_dense])
        for own, words in self.text(table):
            out += words.product(weight[own])
        return out

    def effects(self, table: Table, weight: np.ndarray) -> np.ndarray:
        """What each column adds to each score. weight [n_features, k] → [n_rows, n_columns, k]"""
        effect = np.zeros((len(table), self.layout.n_columns, weight.shape[1]))
        for rows, x in self.blocks(table):
            for j in np.unique(self.layout.source):
                own = self.layout.of_column(int(j))
                effect[rows, j] = x[:, own] @ weight[: self.n_dense][own]
        for text, (own, words) in zip(self.words, self.text(table), strict=True):
            effect[:, text.column] += words.product(weight[own])
        return effect

    def compressed(self, table: Table) -> tuple[SparseMatrix, np.ndarray]:
        """All features of all rows without their zeros, and how far each lies above its centred form."""
        stored = self.stored(table)
        above = self.above(is_stored=stored is not None)
        if stored is not None:
            return msgspec.structs.replace(stored, value=stored.value / self.scale[stored.code]), above
        parts = self._dense_parts(table, above[: self.n_dense])
        parts += [SparseMatrix(x.start, x.code + np.int32(own.start), x.value, len(self)) for own, x in self.text(table)]
        return side_by_side(parts, len(self)), above

    def above(self, *, is_stored: bool) -> np.ndarray:
        """How far each feature of compressed rows lies above its centred form. [n_features]

        Only numbers are centred: marks, words and the columns of a sparse matrix as it is stored would lose their zeros.
        """
        if is_stored:
            return self.centre / self.scale
        above = np.zeros(len(self))
        marks = self.layout.level != VALUE
        above[: self.n_dense] = np.where(marks, self.centre / self.scale[: self.n_dense], 0.0)
        return above

    def _dense_parts(self, table: Table, above: np.ndarray) -> list[SparseMatrix]:
        """Numbers and marks without their zeros, as runs of features side by side."""
        if self.n_dense <= WIDE:
            return [stacked([entries(x + above) for _, x in self.blocks(table)])] if self.n_dense else []
        numbers = np.flatnonzero(self.layout.level == VALUE)
        few = Design(self.layout.take(numbers), self.centre[numbers], self.scale[numbers], self.reference)
        dense = stacked([entries(x) for _, x in few.blocks(table)])
        parts = [SparseMatrix(dense.start, numbers.astype(np.int32)[dense.code], dense.value, len(self))]
        for rows, feature in self.layout.one_hot_entries(table):
            start = np.searchsorted(rows, np.arange(len(table) + 1)).astype(np.int64)
            parts.append(SparseMatrix(start, feature.astype(np.int32), 1 / self.scale[feature], len(self)))
        return parts

    def stored(self, table: Table) -> SparseMatrix | None:
        """The entries of a sparse matrix as they are, neither centred nor scaled; None where the table is not one.

        A gap, or a design that is more than the matrix's columns, needs dense rows.
        """
        plain = isinstance(table.values, SparseColumns) and len(self) == self.layout.n_columns
        if not plain or (self.layout.level != VALUE).any() or np.isnan(table.values.matrix.data).any():
            return None
        matrix = table.values.matrix
        return SparseMatrix(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, len(self))

    def _raw(self, table: Table, rows: slice) -> np.ndarray:
        whole = self.layout.view(table)
        if whole is None:
            return self.layout.matrix(table, rows)
        x = np.array(whole[rows])
        gap = np.isnan(x)
        if gap.any():
            x[gap] = np.broadcast_to(self.layout.fill, x.shape)[gap]
        return x


def product(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """x @ weight; of at most `FEW` rows one after the other, since BLAS may round a row otherwise beside others.

    x [n_rows, n_features], weight [n_features, k] → [n_rows, k]
    """
    return np.matmul(x[:, None], weight)[:, 0] if len(x) <= FEW else x @ weight


class TfidfWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="words"):
    """The weights of a text column's words: a row's features are count · idf, divided by the length of that vector."""

    column: int
    idf: np.ndarray  # float64 [n_words]; 0 for a word outside the limits on documents
    is_unit: bool = True  # otherwise not divided

    def __post_init__(self) -> None:
        check_floats("words", idf=self.idf)

    def weigh(self, tokens: Tokens) -> np.ndarray:
        """The tf-idf weight of each entry. [n_entries]"""
        return weighed(tokens, self.idf, self.is_unit)
