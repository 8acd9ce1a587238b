"""A table of cost-complexity pruning as rpart's `printcp` prints it."""

from __future__ import annotations

import msgspec

from baytree.display.terminal import in_columns, number


class ComplexityTable(msgspec.Struct, frozen=True):
    """The nested trees, the smallest first; errors are shares of the root's, None where there was no cross-validation."""

    cp: tuple[float, ...]
    splits: tuple[int, ...]
    risk: tuple[float, ...]
    error: tuple[float, ...] | None
    deviation: tuple[float, ...] | None
    root: float  # the risk of a tree without a test
    weight: float  # of all rows


def complexity_lines(table: ComplexityTable) -> list[str]:
    """The error of the root, a line for each tree, and which of them to take."""
    root, *notes = complexity_notes(table)
    return [root, *in_columns(complexity_rows(table), ">"), *notes]


def complexity_notes(table: ComplexityTable) -> list[str]:
    """What errors are shares of, and which trees cross-validation speaks for."""
    return [_root_error(table), *_advice(table)]


def complexity_rows(table: ComplexityTable) -> list[list[str]]:
    """The header, and a row for each tree."""
    head = ["", "cp", "splits", "rel error"]
    cells = [[f"{cp:.6g}", str(n), f"{risk:.5g}"] for cp, n, risk in zip(table.cp, table.splits, table.risk, strict=True)]
    if table.error is not None and table.deviation is not None:
        head += ["cv error", "cv std"]
        more = zip(table.error, table.deviation, strict=True)
        cells = [[*row, f"{error:.5g}", f"{std:.5g}"] for row, (error, std) in zip(cells, more, strict=True)]
    return [head, *([str(i), *row] for i, row in enumerate(cells, 1))]


def least_and_1se(table: ComplexityTable) -> tuple[int, int] | None:
    """The tree of least cross-validated error, and the smallest one within a standard error of it."""
    if table.error is None or table.deviation is None:
        return None
    least = min(range(len(table.error)), key=lambda i: table.error[i])
    bound = table.error[least] + table.deviation[least]
    return least, next(i for i, error in enumerate(table.error) if error <= bound)


def _root_error(table: ComplexityTable) -> str:
    share = table.root / table.weight if table.weight else 0.0
    return f"root error: {number(table.root)} / {number(table.weight)} = {share:.5g}; other errors are shares of it"


def _advice(table: ComplexityTable) -> list[str]:
    if len(table.splits) == 1:
        return ["the tree is a single leaf, so there is nothing to prune"]
    found = least_and_1se(table)
    if found is None:
        return ["without cross-validated errors: CARTClassifier and CARTRegressor compute them, cost_complexity_path(X, y)"]
    least, small = found
    told = f"least cv error: {table.splits[least]} splits; smallest within one std of it: {table.splits[small]} splits"
    return [f"{told} (cp={table.cp[small]:.6g})"]
