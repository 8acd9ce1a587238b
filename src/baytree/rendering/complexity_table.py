"""Table of cost-complexity pruning, in the format of rpart's `printcp`."""

from __future__ import annotations

import msgspec

from baytree.display.terminal import in_columns, number


class ComplexityTable(msgspec.Struct, frozen=True):
    """The nested trees, the smallest first; errors are relative to the root's, None without cross-validation."""

    cp: tuple[float, ...]
    splits: tuple[int, ...]
    risk: tuple[float, ...]
    error: tuple[float, ...] | None
    deviation: tuple[float, ...] | None
    root: float  # risk of the tree without splits
    weight: float  # of all rows


def complexity_lines(table: ComplexityTable) -> list[str]:
    """Error of the root, a line per tree, and which tree to choose."""
    root, *notes = complexity_notes(table)
    return [root, *in_columns(complexity_rows(table), ">"), *notes]


def complexity_notes(table: ComplexityTable) -> list[str]:
    """Baseline of the relative errors, and the trees that cross-validation favours."""
    return [_root_error(table), *_advice(table)]


def complexity_rows(table: ComplexityTable) -> list[list[str]]:
    """Header, and a row per tree."""
    head = ["", "cp", "splits", "rel error"]
    cells = [[f"{cp:.6g}", str(n), f"{risk:.5g}"] for cp, n, risk in zip(table.cp, table.splits, table.risk, strict=True)]
    if table.error is not None and table.deviation is not None:
        head += ["cv error", "cv std"]
        more = zip(table.error, table.deviation, strict=True)
        cells = [[*row, f"{error:.5g}", f"{std:.5g}"] for row, (error, std) in zip(cells, more, strict=True)]
    return [head, *([str(i), *row] for i, row in enumerate(cells, 1))]


def least_and_1se(table: ComplexityTable) -> tuple[int, int] | None:
    """Index of the tree with the minimum cross-validated error, and of the smallest one within a standard error of it."""
    if table.error is None or table.deviation is None:
        return None
    best = min(range(len(table.error)), key=lambda i: table.error[i])
    bound = table.error[best] + table.deviation[best]
    return best, next(i for i, error in enumerate(table.error) if error <= bound)


def _root_error(table: ComplexityTable) -> str:
    relative = table.root / table.weight if table.weight else 0.0
    return f"root error: {number(table.root)} / {number(table.weight)} = {relative:.5g}; other errors are relative to it"


def _advice(table: ComplexityTable) -> list[str]:
    if len(table.splits) == 1:
        return ["the tree is a single leaf, so there is nothing to prune"]
    choices = least_and_1se(table)
    if choices is None:
        return ["no cross-validated errors; cost_complexity_path(X, y) computes them"]
    best, smallest = choices
    advice = (
        f"minimum cv error: {table.splits[best]} splits; "
        f"smallest tree within one standard error: {table.splits[smallest]} splits"
    )
    return [f"{advice} (cp={table.cp[smallest]:.6g})"]
