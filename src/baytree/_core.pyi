"""Kernels of baytree: rows in, statistics out."""

from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def simd_level() -> str:
    """
    The instruction set of the vector loops: the best one, or what BAYTREE_SIMD names.
    """

def simd_levels() -> list[str]:
    """The instruction sets that this machine has, the least one first."""

def moments(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, threads: int) -> tuple:
    """
    Exact weight, sum and sum of squares of each column in each class, as limbs and their lowest one; an empty weight means 1.
    """

def moments_of_columns(columns: list, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, threads: int) -> tuple:
    """The same of columns that lie apart."""

def carried(limbs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: int, threads: int) -> tuple:
    """
    Limbs of any size below 2^62 as digits in their smallest common window, the last one signed, and its lowest limb.
    """

def exact_means(weight: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], total: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], exponent: int, threads: int) -> NDArray[numpy.float64]:
    """
    total / weight * 2^exponent of each cell, the sum of its layers, correctly rounded; NaN where that is no normal double.
    """

def exact_deviations(weight: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], total: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], square: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], total_zeros: int, square_zeros: int, exponent: int, threads: int) -> NDArray[numpy.float64]:
    """
    The standard deviation of each cell, the sum of its layers, rounded before its root; NaN where that is no normal double.
    """

def add_repeatedly(sum: float, term: float, times: int) -> float:
    """The sum with a term added many times, each time rounded."""

def count(code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_levels: int, n_classes: int) -> NDArray[numpy.int64]:
    """
    Rows per level and class, missing (-1) first: int64 [n_levels + 1, n_classes].
    """

def count_weighted(code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_levels: int, n_classes: int) -> tuple:
    """
    Weights per level and class as limbs and their lowest limb, not yet carried.
    """

def add_at_places(totals: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], place: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
    """Adds each row of limbs to the row of the totals at its place."""

def bucketed(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> tuple:
    """
    The exponent and edges of the narrowest buckets of which at most so many hold a number, and the bucket of each, -1 for NaN.
    """

def bucket_columns(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, most: int, threads: int) -> list:
    """
    For each column the exponent and edges of such buckets, and the rows of each class in them, missing ones first.
    """

def united_buckets(left: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], exponent: int, most: int) -> tuple:
    """
    The buckets of two together, at least 2^exponent wide: their exponent and edges, and where those of either have gone.
    """

def factorise(items: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int) -> tuple:
    """
    Codes in order of first appearance and where each distinct item appears first; items are rows of bytes.
    """

@overload
def code_whole_numbers(numbers: Annotated[NDArray[numpy.int64], dict(shape=(None, None), device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> list: ...

@overload
def code_whole_numbers(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> list:
    """
    Writes the codes [n_columns, n_rows] of each column's numbers, NaN -1; gives its distinct numbers in ascending order, or none where they are not whole or lie too far apart.
    """

def best_entropy_cut(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], of_count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> tuple:
    """
    The cut of a sorted column with the largest information gain: (position, weight times gain, low and high weight).
    """

def mdl_cuts(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], of_count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> NDArray[numpy.int64]:
    """
    The positions of the cuts of a sorted column that Fayyad and Irani accept.
    """

def ends(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[list[tuple[float, int]], list[tuple[float, int]], int]:
    """
    The two least and the two largest different numbers, each with how often it is there, and how many are NaN.
    """

class Growth:
    def arrays(self) -> dict: ...

    def compact(self) -> Growth: ...

class FractionalRules:
    def __init__(self) -> None: ...

    @property
    def measure(self) -> str: ...

    @measure.setter
    def measure(self, arg: str, /) -> None: ...

    @property
    def missing(self) -> str: ...

    @missing.setter
    def missing(self, arg: str, /) -> None: ...

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
    def takes_no_gain(self) -> bool: ...

    @takes_no_gain.setter
    def takes_no_gain(self, arg: bool, /) -> None: ...

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

    @property
    def first_column(self) -> int: ...

    @first_column.setter
    def first_column(self, arg: int, /) -> None: ...

def fractional_grow(columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, rules: FractionalRules, single: bool, threads: int, traces: bool) -> tuple: ...

def drop_excluded_levels(tree: Growth) -> None: ...

def growth_of(column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cut: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branch_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prediction: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Growth: ...

class C50Rows:
    def __init__(self, columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], is_ordered: Sequence, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, multiplier: Sequence, threads: int) -> None: ...

    def set(self, min_cases: float, groups: bool, declared: float, confidence: float, z: float) -> None: ...

    def use(self, in_use: Sequence) -> None: ...

    def used(self) -> list[bool]: ...

    def grow(self, grown_from: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pruned_by: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mean_gate: float, log_gate: float, leaves_per_weight: float, prunes: bool, grows_anew: bool) -> Growth: ...

    def prune_globally(self, tree: Growth, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Growth: ...

    def apply_costs(self, tree: Growth, costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Growth: ...

    def soften(self, tree: Growth, costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Growth: ...

    def classify(self, tree: Growth, costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple: ...

    def cost_of_mistakes(self, tree: Growth, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], masked: int) -> float: ...

    def rules(self, tree: Growth, is_tested: Sequence, tree_errors: float, costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple: ...

    def reads(self, tree: Growth) -> NDArray[numpy.bool_]: ...

    def weights(self) -> NDArray[numpy.float32]: ...

    def weigh(self, weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def tidy(self, tree: Growth, only_empty: bool) -> Growth: ...

class Suits:
    """What a split criterion can be asked for."""

    @property
    def numbers(self) -> bool:
        """The target is a number, not a class."""

    @property
    def binary(self) -> bool:
        """Two branches."""

    @property
    def multiway(self) -> bool:
        """A branch for each level."""

    @property
    def merged(self) -> bool:
        """Groups of levels that do not differ."""

    @property
    def by_ratio(self) -> bool:
        """Over the information of the split itself."""

    @property
    def rpart(self) -> bool:
        """With rpart's arithmetic too."""

    @property
    def impurity(self) -> str:
        """What a node has of it."""

    @property
    def test(self) -> str:
        """The test of CHAID's merging, where the criterion is one itself."""

def criteria() -> list[tuple[str, Suits]]:
    """Every split criterion: its name, and what it suits."""

def grow(columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: dict, threads: int) -> dict:
    """A tree grown from columns, as a dict of arrays over its nodes."""

def losses_outside(columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], settings: dict, inside: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], outside: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], alpha: float, is_bounded: bool, penalty: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Weight times loss, and times its square, of the rows outside at every penalty, by the tree that the rows inside grow.
    """

def tree_fault(column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cut: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branch_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], prediction: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
    """
    Which fault the arrays of a tree have, in the order in which they are looked for; 0 for none.
    """

class Router:
    """Rows to nodes of a tree given as arrays."""

    def __init__(self, tree: dict, surrogates: dict, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], more_cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cut_bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def may_spread(self) -> bool: ...

    def leaves(self, columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int, threads: int) -> NDArray[numpy.int32]: ...

    def class_losses(self, arg0: list, arg1: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arg2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg3: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg4: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg5: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arg6: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)], /) -> tuple: ...

    def number_losses(self, arg0: list, arg1: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arg2: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg3: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg4: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg5: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], arg6: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> tuple: ...

    def mixtures(self, columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: int, value: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)], threads: int, soft: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.float64]: ...

def complexities(first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mirrored: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], risk: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], alpha: float, is_bounded: bool) -> tuple:
    """The penalty at which each split goes, and the splits worth keeping."""

def kept_nodes(first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mirrored: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], risk: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], is_split: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.uint8]:
    """The nodes that remain when only some splits are kept."""

def collapse(tree: Growth, single: bool) -> None: ...

def extra_errors(n: float, errors: float, confidence: float, z: float, top_share: float) -> float: ...

def error_prune(tree: Growth, confidence: float, z: float, top_share: float, single: bool) -> None: ...

def error_prune_raising(tree: Growth, columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], confidence: float, z: float, top_share: float, tolerance: float, single: bool) -> None: ...

def reduce_errors(tree: Growth, columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], tolerance: float) -> None: ...

def interval_codes(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int64]:
    """
    For each value one more than the number of ends (ascending) below it; 0 where it is missing.
    """

def prefix_cells(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prefixes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: int, bits: int) -> NDArray[numpy.int64]:
    """
    For each known value whose bits begin with a prefix: the place of the prefix, then the next bits.
    """

def prefix_counts(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prefixes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: int, bits: int) -> NDArray[numpy.int32]:
    """
    How many known values have each of these cells, of which each prefix has 2^bits.
    """

@overload
def code_intervals(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def code_intervals(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def code_intervals(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Sets codes: for each value one more than the number of ends (ascending) below it; 0 where it is missing.
    """

@overload
def coded_places(codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], place_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]: ...

@overload
def coded_places(codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], place_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]: ...

@overload
def coded_places(codes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], place_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]:
    """
    The place of the node where each row of codes [n_columns, n_rows] comes to rest.
    """

@overload
def coded_counts(codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_places: int, n_classes: int) -> object: ...

@overload
def coded_counts(codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_places: int, n_classes: int) -> object: ...

@overload
def coded_counts(codes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_places: int, n_classes: int) -> object:
    """
    Rows, or their weights, by place, code and class: one column [n_places, n_codes, n_classes] after the other.
    """

def best_cut_worth(counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], criterion: str, min_leaf: float) -> float:
    """
    What the best cut between codes is worth, of counts [n_codes, n_classes]; 0 where there is none.
    """

def are_many(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> bool:
    """Whether more than so many known values differ."""

def chi2_log_tail(statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], degrees: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """log P(χ² >= statistic), element by element."""

def test_groups(tables: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], test: str) -> NDArray[numpy.float64]:
    """
    log p that groups do not differ, for tables [n_tables, n_groups, n_statistics].
    """

def node_spans(keys: list, n_codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    The first and last cell of each node in each column, and whether the first is that of missing values.
    """

class TrialRules:
    """
    When levels merge: log p, the least weight of a group and its least share of a node, and beyond how many levels these first run together.
    """

    def __init__(self, log_alpha: float, min_leaf: float, min_prob: float, is_exhaustive: bool, max_levels: int) -> None: ...

def try_columns(columns: list, where: tuple, runs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], test: str, rules: TrialRules, threads: int) -> tuple:
    """
    For each node and column the number of groups and log p; for each column the group of each of its cells.
    """

class ClassTests:
    """The best tests of nodes of classes, from the counts of their columns."""

    def best(self, keys: list, weights: list, counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], most_branches: int, threads: int, traces: bool) -> tuple:
        """
        The best test of each node as a dict of arrays, and every test that was tried.
        """

def class_tests(values: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, rules: FractionalRules) -> ClassTests:
    """
    Tests of coded columns: values are those of the codes of a column that is cut, levels its number of levels or 0.
    """

def rank_values(columns: list, threads: int) -> list:
    """The rank of each number among the distinct ones, and these."""

def count_classes(columns: list, n_codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, is_open: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int) -> tuple:
    """
    Rows and class weights of the nodes of a level, and (key, weight) of the cells of each column.
    """

def count_codes(columns: list, n_codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, is_open: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int) -> tuple:
    """
    Rows and class weights of the nodes of a level, and (key, weights per class) of the codes of each column.
    """

def add_cells(left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mine: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple:
    """The keys that occur in either, and the sum of their rows in both."""

def step_down(columns: list, node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rank: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]:
    """The node of each row after one more test."""

def grow_multiway(columns: list, levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, settings: dict, threads: int) -> dict:
    """
    A regression tree with a branch for each level, as a dict of arrays over its nodes.
    """

def best_tree(bits: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tests: int, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: int, mistake: int, leaf: int, least: int, max_depth: int, seconds: float, is_given_up: Callable) -> dict:
    """
    The tree of least cost over tests that are bits of rows [tests, ⌈rows / 64⌉]: its nodes, children before parents, what it costs, and what every tree at least costs.
    """

def best_threshold_tree(ranks: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: int, mistake: int, leaf: int, least: int, max_depth: int, seconds: float, known_cost: int, threads: int, is_given_up: Callable) -> dict:
    """
    The same over thresholds of ranks [columns, rows]; tests are numbered column by column, from the lowest threshold. No nodes if no tree costs less than the known one.
    """

class TreeStream:
    """A tree that learns row after row, and what it needs to go on."""

    def __init__(self, settings: dict, kinds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @staticmethod
    def of(settings: dict, kinds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arrays: dict) -> TreeStream:
        """The stream that these arrays hold."""

    @property
    def rows(self) -> int:
        """The number of rows so far."""

    @property
    def revisions(self) -> int:
        """How many splits were taken back."""

    def tree(self) -> dict:
        """Tests and counts of the nodes, level by level."""

    def bayes_leaves(self) -> dict:
        """The nodes that answer with naive Bayes, and what it counts there."""

    def arrays(self) -> dict:
        """All that the stream knows, as arrays by name."""

    def with_codes(self, of_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: int, of_level: list, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> TreeStream:
        """The same under codes of which there are more."""

    def learnt(self, settings: dict, columns: list, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> TreeStream:
        """The stream after these rows."""

    def merged(self, other: TreeStream) -> TreeStream:
        """The stream that has learnt what both have, whose codes are the same."""

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

def string_codes(strings: object, key: tuple[int, int]) -> tuple:
    """
    Codes of the strings of an Arrow stream of views, and the strings in the order of their bytes.
    """

def has_margins(strings: object) -> bool:
    """
    Whether a string of an Arrow stream of views is empty, or begins or ends with a blank.
    """

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

def choose_classes(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], choice: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    The class of the highest score in each row; -1 where another one is as good but for rounding, or all are impossible.
    """

def add_interval_scores(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], precision: float, mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Adds the log of the normal probability of an interval, at least 1e-75."""

def add_kernel_scores(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Adds the log of a Gaussian kernel density."""

def add_interval_kernel_scores(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], precision: float, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Adds the log of the kernels' share of an interval, summed as Weka does, at least 1e-75.
    """

def add_left_out_scores(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], squares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rule: str, alpha: float, floor: float, one: float, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Adds the log-densities of normal columns by the moments of all other rows.
    """

def add_amount_scores(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], zero: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slope: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shape: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], threshold: float, rule: str, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Adds the scores of Bernoulli ('binary'), Poisson, multinomial ('count') or other ('amount') columns.
    """

def add_sparse_amount_scores(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], zero: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slope: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shape: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], threshold: float, rule: str, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """The same for sparse rows: what is not stored is 0."""

def add_urn_scores(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], concentration: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Adds the log-probability of each row's counts under Dirichlet-multinomial urns.
    """

def add_sparse_urn_scores(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], concentration: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """The same for sparse rows."""

def tally_words(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_words: int, n_classes: int) -> object:
    """
    Whole totals and document frequencies of words per class; None where a count is not whole.
    """

def count_right_with(base: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], effect: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], fallback: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """How many rows of each batch base + effect predicts right."""

def centre_classes(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pivot: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Means of each class about the pivot, and the rows about them, one block of rows at a time.
    """

def dense_slope(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coefficient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: float, first: int, last: int, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float:
    """Loss of some rows with two classes; adds their gradient."""

def curvature_rows(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coefficient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: float, first: int, last: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Rows with two classes, times the root of their curvature, the constant last.
    """

def cell_products(cell: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], size: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """
    Writes the weighted counts of pairs of cells of up to four scores: the lower triangles, by terms, of their Hessians.
    """

def sparse_squares(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Adds rows' rows to a symmetric matrix, by the numbers of each row that are not 0.
    """

def column_moments(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pivot: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, last: int, sum: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], square: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Adds weighted sums and squares of each column about a pivot."""

def row_hashes(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    A number made from each row in standard units, whatever the order of its columns.
    """

def sparse_product(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Adds compressed rows times a dense matrix to `out`."""

def check_sparse(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], features: int) -> None:
    """Refuses compressed rows that do not hold together."""

def sparse_slope(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, last: int, share: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> float:
    """
    Loss of some compressed rows; adds their gradient, writes their shares.
    """

def f_log_tail(statistic: float, between: float, within: float) -> float:
    """log P(F >= statistic)."""

def gram_descent(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ridge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lasso: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], most: int, tolerance: float) -> tuple:
    """
    Coordinate descent on a quadratic given by its matrix; (sweeps, last change).
    """

def lasso_step(hessian: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ridge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lasso: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], near: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    Write the step to the minimum of a quadratic with an L1 penalty; False if its matrix is nearly singular.
    """

def sparse_descent(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ridge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lasso: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], score: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], mix: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], coordinates: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """
    One sweep of coordinate descent on a quadratic given by compressed columns; the largest change.
    """

class Preconditioner:
    """Approximate inverse of the Hessian of a logistic regression."""

class LogisticRows:
    """
    Rows of a logistic regression in this process; finds the optimum on them.
    """

    @staticmethod
    def dense(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_scores: int) -> LogisticRows:
        """Copy dense rows; the constant 1 becomes the last feature."""

    @staticmethod
    def compressed(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], q: int, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_scores: int) -> LogisticRows:
        """Rows in compressed form, the constant included."""

    def optimum(self, ridge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lasso: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], tol: float, target: float, max_steps: int, near: Preconditioner | None = None) -> tuple:
        """
        Coefficients [scores, q], violation, steps and objectives, from the best of some starts; empty if the optimum is not found.
        """

    def preconditioner(self, ridge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lasso: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Preconditioner:
        """
        The preconditioner at these coefficients, for `near` of a nearby problem.
        """

    def loss(self, theta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> float:
        """Mean loss at these coefficients."""

class KnotSearch:
    """
    The candidates of MARS's forward pass; what is known of them is kept between steps.
    """

    def __init__(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], most: int, is_centred: bool, memory: int, threads: int) -> None: ...

    def value(self, column: int, rank: int) -> float:
        """The number at a rank of a column."""

    def add(self, term: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Adds a term's column to the basis."""

    def search(self, first: int, last: int, slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], is_tried: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], spans: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rules: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
        """
        Gains of the line and of the best knot, its rank, and whether there is a line, of columns [first, last) beside each parent.
        """

def leading_candidate(gains: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], rank: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], has_line: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], is_tried: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], share: float) -> tuple:
    """
    What each parent gave at best, and the winner of a step: gain, parent, column, rank, and whether it has a mirror.
    """

def backward_subsets(r: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rest: float, tries_prefixes: bool) -> tuple:
    """
    MARS's backward pass: a subset of terms for each number of them, ascending, and its RSS.
    """
