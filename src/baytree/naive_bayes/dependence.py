"""Is it naive? Conditional dependence of pairs of columns, which naive Bayes takes to be zero.

For each pair, the conditional mutual information I(A; B | class) in bits (Cover and Thomas 2006, section 2.5) is computed
from counts: the number of bits by which one column tells about the other when the class is known. Numeric columns are cut
into `N_BINS` intervals of similar weight. Under independence, 2 n ln 2 · I follows a chi-squared distribution (the G test);
the p-values are corrected for the number of pairs (Benjamini and Hochberg 1995).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.display.results import TextResult, frame_of, table
from baytree.display.terminal import in_columns, ruled
from baytree.statistics.binning import bin_codes, chi_square_tail, entropy, false_discovery_rate, quantile_cuts

N_BINS = 5  # of a numeric column; more would need many rows for each pair of bins and class

MAX_COLUMNS = 400  # 80,000 pairs

N_SHOWN = 10


class DependentPair(msgspec.Struct, frozen=True):
    """Two columns and how much one tells about the other within the classes.

    Attributes
    ----------
    columns : tuple of str
        Names of the two columns.
    bits : float
        Conditional mutual information given the class.
    share : float
        `bits` as a proportion of the smaller conditional entropy of the two: 1 if one column determines the other.
    p : float
        p-value of conditional independence, by the G test.
    fdr : float
        The same, corrected for the number of pairs.
    """

    columns: tuple[str, str]
    bits: float
    share: float
    p: float
    fdr: float


class Dependence(TextResult, msgspec.Struct, frozen=True):
    """Pairs of columns by their dependence given the class, the most dependent first. Prints as a table.

    Attributes
    ----------
    pairs : tuple of DependentPair
        All pairs, by decreasing `bits`.
    class_bits : float
        Entropy of the class in bits, for comparison.
    left_out : tuple of str
        Text columns, which are not compared.
    """

    pairs: tuple[DependentPair, ...]
    class_bits: float
    left_out: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """All pairs as a frame."""
        return frame_of(
            {
                "a": [pair.columns[0] for pair in self.pairs],
                "b": [pair.columns[1] for pair in self.pairs],
                "bits": [pair.bits for pair in self.pairs],
                "share": [pair.share for pair in self.pairs],
                "p": [pair.p for pair in self.pairs],
                "fdr": [pair.fdr for pair in self.pairs],
            }
        )

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [f"{pair.columns[0]}, {pair.columns[1]}", f"{pair.bits:.4f}", f"{pair.share:.1%}", f"{pair.fdr:.2g}"]
            for pair in self.pairs[:N_SHOWN]
        ]
        return ["columns", "bits", "share", "p (fdr)"], rows

    def _notes(self) -> list[str]:
        total = sum(pair.bits for pair in self.pairs)
        ignored = f"Naive Bayes ignores {total:.4f} bits, summed over all {len(self.pairs):,} pairs"
        notes = [f"{ignored}. The class has {self.class_bits:.4f} bits."]
        if self.left_out:
            notes.append(f"Not compared: text columns {', '.join(self.left_out)}.")
        return notes

    def __str__(self) -> str:
        header, rows = self._cells()
        if not rows:
            return "there are fewer than two columns to compare"
        return "\n".join([*ruled(in_columns([header, *rows], "<>")).splitlines(), "", *self._notes()])

    def _repr_html_(self) -> str:
        return table("Dependence of columns given the class", *self._cells(), notes=self._notes())


def dependence_of(rows: Table, columns: Sequence[int] | None = None) -> Dependence:
    """Conditional mutual information of each pair of these columns (by default all) of labelled rows."""
    columns = range(len(rows.schema)) if columns is None else columns
    left_out = tuple(rows.schema.names[j] for j in columns if rows.schema.columns[j].kind is Kind.TEXT)
    chosen = [j for j in columns if rows.schema.columns[j].kind is not Kind.TEXT]
    if len(chosen) > MAX_COLUMNS:
        raise ValueError(
            f"{len(chosen):,} columns have {len(chosen) * (len(chosen) - 1) // 2:,} pairs; give at most {MAX_COLUMNS} "
            "columns, such as the best ones of rank_features"
        )
    codes = {j: _codes(rows, j) for j in chosen}
    weight = np.asarray(rows.weight, np.float64)
    n_classes = len(rows.schema.classes)
    found = []
    for a, b in combinations(chosen, 2):
        bits, proportion, p = _compare(codes[a], codes[b], rows.label, weight, n_classes)
        found.append(((rows.schema.names[a], rows.schema.names[b]), bits, proportion, p))
    found.sort(key=lambda pair: -pair[1])
    corrected = false_discovery_rate(np.array([p for *_, p in found]))
    pairs = tuple(DependentPair(*pair, fdr) for pair, fdr in zip(found, corrected.tolist(), strict=True))
    return Dependence(pairs, float(entropy(np.bincount(rows.label, weight, n_classes))), left_out)


def _codes(rows: Table, j: int) -> np.ndarray:
    values = np.asarray(rows.values[j])
    if rows.schema.columns[j].kind is not Kind.NUMERIC:
        return values
    return bin_codes(values, quantile_cuts(values, np.asarray(rows.weight), N_BINS))


def _compare(
    a: np.ndarray, b: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int
) -> tuple[float, float, float]:
    """I(A; B | class) in bits, as a proportion of the smaller conditional entropy, and the p-value of independence."""
    is_known = (a >= 0) & (b >= 0)
    if not is_known.any():
        return 0.0, 0.0, 1.0
    n_a, n_b = int(a[is_known].max()) + 1, int(b[is_known].max()) + 1
    cell = (label[is_known].astype(np.int64) * n_a + a[is_known]) * n_b + b[is_known]
    counts = np.bincount(cell, weight[is_known], n_classes * n_a * n_b).reshape(n_classes, n_a, n_b)
    total, of_a, of_b = counts.sum(), counts.sum(axis=2), counts.sum(axis=1)
    proportion = counts.sum(axis=(1, 2)) / total
    entropy_a = float(sum(p * entropy(n) for p, n in zip(proportion, of_a, strict=True)))
    entropy_b = float(sum(p * entropy(n) for p, n in zip(proportion, of_b, strict=True)))
    entropy_both = float(sum(p * entropy(n.ravel()) for p, n in zip(proportion, counts, strict=True)))
    bits = max(entropy_a + entropy_b - entropy_both, 0.0)
    smaller = min(entropy_a, entropy_b)
    degrees = int(((np.count_nonzero(of_a, axis=1) - 1) * (np.count_nonzero(of_b, axis=1) - 1))[proportion > 0].sum())
    p = chi_square_tail(2 * float(total) * np.log(2) * bits, degrees) if degrees else 1.0
    return bits, bits / smaller if smaller > 0 else 0.0, p
