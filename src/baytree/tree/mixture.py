"""A tree that answers with the mixture of the leaves a row reaches: one leaf, or several where a value is missing."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.model import Evidence, Explanation
from baytree.table import Kind, Schema, Table
from baytree.tree.structure import SPREAD, Tree, bounds, parents, preorder


class MixtureTree(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="mixture_tree"):
    """A tree of fractional cases. `smoothed` tells that the node values carry Laplace's pseudo-counts."""

    tree: Tree
    smoothed: bool = False

    def probabilities(self, table: Table) -> np.ndarray:
        """The mixture of leaf distributions of each row: [n_rows, n_classes]."""
        return _mixtures(self.tree, table, self.tree.value)

    def choices(self, table: Table) -> np.ndarray:
        """The class code of each row. Smoothing changes how sure an answer is, never the answer."""
        return np.argmax(_mixtures(self.tree, table, self._plain_values()), axis=1)

    def explain(self, table: Table) -> list[Explanation]:
        """From the root's distribution to the row's, one line per column on the way."""
        classes = table.schema.target.classes if table.schema.target else range(self.tree.n_classes)
        return [self._ledger(table, row, tuple(classes)) for row in range(len(table))]

    def describe(self, schema: Schema) -> str:
        """The tree in words, a line per branch."""
        return "\n".join(_lines(self.tree, schema))

    def check(self, schema: Schema) -> None:
        """Raises an error unless every test reads a column of the schema in the way of its kind."""
        self.tree.check(schema, (Kind.NOMINAL, Kind.ORDINAL))

    def _plain_values(self) -> np.ndarray:
        tree = self.tree
        if not self.smoothed:
            return tree.value
        counts = np.where(tree.weight[:, None] > 0, tree.counts, tree.counts[parents(tree)])
        return counts / counts.sum(axis=1, keepdims=True)

    def _ledger(self, table: Table, row: int, classes: tuple) -> Explanation:
        """Every step adds weight · (child − parent) to the line of its column, so that the lines sum to the answer."""
        tree, effect = self.tree, {}
        open_nodes = [(0, 1.0)]
        while open_nodes:
            node, weight = open_nodes.pop()
            if tree.column[node] < 0:
                continue
            steps = _steps(tree, table, row, node)
            j = int(tree.column[node])
            effect.setdefault(j, np.zeros(tree.n_classes))
            for child, share in steps:
                effect[j] += weight * share * (tree.value[child] - tree.value[node])
            open_nodes += [(child, weight * share) for child, share in reversed(steps)]
        columns = table.schema.columns
        lines = tuple(Evidence(columns[j].name, columns[j].show(table.values[j][row]), e) for j, e in effect.items())
        answer = Explanation(classes, tree.value[0].copy(), lines, tree.value[0], unit="probability")
        return msgspec.structs.replace(answer, probability=answer.scores)


def leaves(tree: Tree, table: Table) -> np.ndarray:
    """int32 [n_rows]: the leaf of each row; one that is spread follows the largest share."""
    return _router(tree).leaves(*_given(table), len(table), 1)


def _mixtures(tree: Tree, table: Table, value: np.ndarray) -> np.ndarray:
    return _router(tree).mixtures(*_given(table), len(table), np.ascontiguousarray(value), 1)


def _router(tree: Tree) -> _core.Router:
    arrays = {name: getattr(tree, name) for name in tree.__struct_fields__ if name != "surrogates"}
    substitutes = {name: getattr(tree.surrogates, name) for name in tree.surrogates.__struct_fields__}
    return _core.Router(arrays, substitutes, bounds(tree))


def _given(table: Table) -> tuple[list[np.ndarray], np.ndarray]:
    return list(table.values), np.array([0 if c.kind is Kind.NUMERIC else len(c.levels) for c in table.schema], np.int32)


def _steps(tree: Tree, table: Table, row: int, node: int) -> list[tuple[int, float]]:
    """The children that a row goes to from a node, with its shares."""
    first, branches = int(tree.first[node]), int(tree.branches[node])
    branch = _branch(tree, table.values[tree.column[node]][row], node)
    if branch < 0:
        branch = int(tree.missing[node])
    if branch == SPREAD:
        return [(c, float(tree.share[c])) for c in range(first, first + branches) if tree.share[c] > 0]
    return [(first + branch, 1.0)] if branch >= 0 else []


def _branch(tree: Tree, value: float, node: int) -> int:
    if not tree.levels[node]:
        return -1 if value != value else int(not value <= tree.cut[node])
    return int(tree.branch_of[tree.start[node] + int(value)]) if 0 <= value < tree.levels[node] else -1


def _lines(tree: Tree, schema: Schema) -> list[str]:
    classes = schema.target.classes if schema.target and schema.target.classes else range(tree.n_classes)
    parent, depth = parents(tree), np.zeros(len(tree), np.int64)
    lines = []
    for node in preorder(tree):
        answer = f": {classes[int(np.argmax(tree.value[node]))]} {_weights(tree, node)}" if tree.column[node] < 0 else ""
        if node == 0:
            lines += [f"all rows{answer}"] if answer else []
            continue
        above = int(parent[node])
        depth[node] = depth[above] + 1
        lines.append("|   " * int(depth[above]) + _test(tree, schema, above, node - int(tree.first[above])) + answer)
    return lines


def _test(tree: Tree, schema: Schema, node: int, branch: int) -> str:
    column = schema.columns[tree.column[node]]
    if not tree.levels[node]:
        return f"{column.name} {'<=' if branch == 0 else '>'} {column.show(tree.cut[node])}"
    taken = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
    names = [str(column.levels[code]) for code in np.flatnonzero(taken == branch)] or ["missing"]
    return f"{column.name} = {names[0]}" if len(names) == 1 else f"{column.name} in {{{', '.join(names)}}}"


def _weights(tree: Tree, node: int) -> str:
    wrong = tree.weight[node] - tree.counts[node].max()
    return f"({tree.weight[node]:.6g}/{wrong:.6g})" if wrong > 1e-9 else f"({tree.weight[node]:.6g})"
