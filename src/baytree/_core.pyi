"""Kernels of baytree: rows in, statistics out."""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def moments(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> list:
    """
    Exact weight, sum and sum of squares of each column in each class; an empty weight means 1.
    """

def count(code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_levels: int, n_classes: int) -> NDArray[numpy.int64]:
    """
    Rows per level and class, missing (-1) first: int64 [n_levels + 1, n_classes].
    """

def count_weighted(code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_levels: int, n_classes: int) -> tuple:
    """
    Weights per level and class as limbs and their lowest limb, not yet carried.
    """

def factorise(items: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Codes in order of first appearance and where each distinct item appears first; items are rows of bytes.
    """

class Growth:
    def arrays(self) -> dict: ...

    def compact(self) -> Growth: ...

class FractionalRules:
    def __init__(self) -> None: ...

    @property
    def measure(self) -> int: ...

    @measure.setter
    def measure(self, arg: int, /) -> None: ...

    @property
    def missing(self) -> int: ...

    @missing.setter
    def missing(self, arg: int, /) -> None: ...

    @property
    def by_ratio(self) -> bool: ...

    @by_ratio.setter
    def by_ratio(self, arg: bool, /) -> None: ...

    @property
    def binary(self) -> bool: ...

    @binary.setter
    def binary(self, arg: bool, /) -> None: ...

    @property
    def grouped(self) -> bool: ...

    @grouped.setter
    def grouped(self, arg: bool, /) -> None: ...

    @property
    def mdl(self) -> bool: ...

    @mdl.setter
    def mdl(self, arg: bool, /) -> None: ...

    @property
    def midpoint(self) -> bool: ...

    @midpoint.setter
    def midpoint(self, arg: bool, /) -> None: ...

    @property
    def quinlan_sides(self) -> bool: ...

    @quinlan_sides.setter
    def quinlan_sides(self, arg: bool, /) -> None: ...

    @property
    def zero_ratio_wins(self) -> bool: ...

    @zero_ratio_wins.setter
    def zero_ratio_wins(self, arg: bool, /) -> None: ...

    @property
    def min_side(self) -> float: ...

    @min_side.setter
    def min_side(self, arg: float, /) -> None: ...

    @property
    def tolerance(self) -> float: ...

    @tolerance.setter
    def tolerance(self, arg: float, /) -> None: ...

    @property
    def min_info(self) -> float: ...

    @min_info.setter
    def min_info(self, arg: float, /) -> None: ...

    @property
    def zero_gain(self) -> float: ...

    @zero_gain.setter
    def zero_gain(self, arg: float, /) -> None: ...

    @property
    def min_gain(self) -> float: ...

    @min_gain.setter
    def min_gain(self, arg: float, /) -> None: ...

    @property
    def min_split(self) -> float: ...

    @min_split.setter
    def min_split(self, arg: float, /) -> None: ...

    @property
    def min_impurity(self) -> float: ...

    @min_impurity.setter
    def min_impurity(self, arg: float, /) -> None: ...

    @property
    def total(self) -> float: ...

    @total.setter
    def total(self, arg: float, /) -> None: ...

    @property
    def gated(self) -> bool: ...

    @gated.setter
    def gated(self, arg: bool, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def max_leaves(self) -> int: ...

    @max_leaves.setter
    def max_leaves(self, arg: int, /) -> None: ...

def fractional_grow(columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, rules: FractionalRules, single: bool, threads: int, traces: bool) -> tuple: ...

def drop_excluded_levels(tree: Growth) -> None: ...

def collapse(tree: Growth, single: bool) -> None: ...

def growth_of(column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cut: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branch_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prediction: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Growth: ...

def extra_errors(n: float, errors: float, confidence: float, z: float, top_share: float) -> float: ...

def error_prune(tree: Growth, confidence: float, z: float, top_share: float, single: bool) -> None: ...

def error_prune_raising(tree: Growth, columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], confidence: float, z: float, top_share: float, tolerance: float, single: bool) -> None: ...

def reduce_errors(tree: Growth, columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], tolerance: float) -> None: ...

def grow(columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: dict, threads: int) -> dict:
    """A tree grown from columns, as a dict of arrays over its nodes."""

def complexities(first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mirrored: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], risk: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], alpha: float, is_bounded: bool) -> tuple:
    """The penalty at which each split goes, and the splits worth keeping."""

def kept_nodes(first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mirrored: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], risk: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], is_split: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.uint8]:
    """The nodes that remain when only some splits are kept."""

class Router:
    """Rows to nodes of a tree given as arrays."""

    def __init__(self, tree: dict, surrogates: dict, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def may_spread(self) -> bool: ...

    def leaves(self, columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int, threads: int) -> NDArray[numpy.int32]: ...

    def class_losses(self, arg0: list, arg1: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arg2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg3: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg4: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg5: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arg6: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)], /) -> tuple: ...

    def number_losses(self, arg0: list, arg1: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arg2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg3: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg4: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg5: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg6: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> tuple: ...

    def mixtures(self, columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int, value: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)], threads: int) -> NDArray[numpy.float64]: ...

class Words:
    """Words and their codes, for fast lookup."""

    def __init__(self, words: list, key: tuple[int, int]) -> None: ...

    def __len__(self) -> int: ...

class Vocabulary:
    """The distinct tokens of some documents, sorted."""

    def __len__(self) -> int: ...

class Reading:
    """What a token is: word characters, stop words, lengths of n-grams."""

    def __init__(self, letters: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], stops: Words, shortest: int, longest: int, lowercase: bool, key: tuple[int, int]) -> None: ...

def count_tokens(documents: list, reading: Reading) -> tuple:
    """
    The sorted vocabulary of the documents, and (start, code, count) of each row's bag.
    """

def unite(parts: list) -> tuple:
    """
    The words of all vocabularies, sorted, and the new codes of the words of each.
    """

def recode(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mapping: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], to: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Writes mapping[codes] to `to`."""

def encode_tokens(documents: list, reading: Reading, known: Words) -> tuple:
    """
    (start, code, count) of each row's bag in the codes of known words; other words are dropped.
    """

def hash_tokens(documents: list, reading: Reading, buckets: int) -> tuple:
    """
    (start, code, count) of each row's bag with a token's MurmurHash3 as its code.
    """

def add_density_scores(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], degrees: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], constant: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Adds the log-densities of normal (infinite degrees) or Student-t columns to scores [n_rows, n_classes].
    """

def add_level_scores(code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Adds table[code] to the scores of each row; a missing code adds nothing.
    """

def centre_classes(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pivot: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Means of each class about the pivot, and the rows about them, one block of rows at a time.
    """

def sparse_product(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Adds compressed rows times a dense matrix to `out`."""

def check_sparse(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], features: int) -> None:
    """Refuses compressed rows that do not hold together."""

def sparse_slope(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, last: int, share: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> float:
    """
    Loss of some compressed rows; adds their gradient, writes their shares.
    """

def gram_descent(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ridge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lasso: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], most: int, tolerance: float) -> tuple:
    """
    Coordinate descent on a quadratic given by its matrix; (sweeps, last change).
    """

def sparse_descent(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ridge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lasso: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], score: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], mix: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], coordinates: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """
    One sweep of coordinate descent on a quadratic given by compressed columns; the largest change.
    """
