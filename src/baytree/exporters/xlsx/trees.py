"""Trees in cells: the number of the node in which a row ends as nested conditions, cut into columns where they are long."""

from __future__ import annotations

from collections.abc import Sequence

from baytree.data.schema.column import Kind
from baytree.exporters.xlsx.sheets import Calculation, ModelSheet, number
from baytree.formula.inputs import FormulaNode, FormulaTest, Input, n_branches
from baytree.summary.tree import SPREAD, STOP

MAX_NODES = 2_000  # of a tree: all conditions of a row are computed, whichever way it takes

_MAX_BRANCHES = 200  # CHOOSE takes 254 values

_MAX_DEPTH, _MAX_CHARACTERS = 20, 1_500  # of a formula: each level nests two functions, and Excel allows 64


class TreeCells:
    """Writes the trees of a formula; `values` are references to the numbers and codes that tests read."""

    def __init__(self, columns: Sequence[Input], values: Sequence[str], model: ModelSheet, calculation: Calculation) -> None:
        self.columns, self.values, self.model, self.calculation = columns, values, model, calculation

    def route(self, nodes: Sequence[FormulaNode]) -> str:
        """Number of the node in which a row ends."""
        _check_size(nodes)
        text, depth = [""] * len(nodes), [0] * len(nodes)
        for n in reversed(range(len(nodes))):  # children come after their parent
            node = nodes[n]
            if not node.tests:
                text[n] = str(n)
                continue
            children = range(node.first, node.first + n_branches(node))
            text[n] = self._step(n, node, [text[k] for k in children])
            depth[n] = 1 + max((depth[k] for k in children), default=0)
            if len(text[n]) > _MAX_CHARACTERS or depth[n] >= _MAX_DEPTH:
                text[n], depth[n] = self.calculation.store(text[n], f"node {n}"), 0
        return self.calculation.store(text[0], "node")

    def spread(self, nodes: Sequence[FormulaNode], table: Sequence[Sequence[float]]) -> list[str]:
        """Σ fraction · table row over the nodes in which fractions of a row end, one sum per class."""
        _check_size(nodes)
        values: list[list[str]] = [[] for _ in nodes]
        for n in reversed(range(len(nodes))):
            node, own = nodes[n], [number(each) for each in table[n]]
            if not node.tests:
                values[n] = own
                continue
            branch = self._branch(node)
            children = [values[k] for k in range(node.first, node.first + n_branches(node))]
            mixed = []
            for k, stop in enumerate(own):
                column = [child[k] for child in children]
                shared = "+".join(f"{number(s)}*{v}" for s, v in zip(node.shares, column, strict=False)) or stop
                unplaced = shared if node.missing == SPREAD else stop
                mixed.append(f"IF({branch}<0,{unplaced},CHOOSE({branch}+1,{','.join(column)}))")
            values[n] = self.calculation.store_all(mixed, f"node {n}")
        return values[0]

    def _step(self, n: int, node: FormulaNode, children: list[str]) -> str:
        test = node.tests[0]
        is_binary = len(node.tests) == 1 and len(test.cuts) == 1 and sorted(test.branches) == [0, 1]
        if is_binary and abs(test.cuts[0]) < 1e300 and node.missing in (STOP, 0, 1):
            x, relation = self.values[test.column], "<" if test.is_strict else "<="
            below, above = children[test.branches[0]], children[test.branches[1]]
            condition = f"{x}{relation}{number(test.cuts[0])}"
            if node.missing == STOP:
                return f'IF({x}="",{n},IF({condition},{below},{above}))'
            goes_below = "TRUE" if node.missing == test.branches[0] else "FALSE"
            return f'IF(IF({x}="",{goes_below},{condition}),{below},{above})'
        branch = self._branch(node)
        return f"IF({branch}<0,{n},CHOOSE({branch}+1,{','.join(children)}))"

    def _branch(self, node: FormulaNode) -> str:
        """Reference to the branch of a row: by the first test that can place it, else that of missing values, else −1."""
        if n_branches(node) > _MAX_BRANCHES:
            raise ValueError(f"Excel: a node with more than {_MAX_BRANCHES} branches is too wide; export to Python or SQL")
        result = str(max(node.missing, -1))
        for test in reversed(node.tests):
            chosen = self.calculation.store(self._chosen(test))
            result = f"IF({chosen}>=0,{chosen},{result})"
        return self.calculation.store(result)

    def _chosen(self, test: FormulaTest) -> str:
        """Branch that a test selects, −1 if the value is missing."""
        x, column = self.values[test.column], self.columns[test.column]
        branches = [float(b) for b in test.branches]
        if column.kind is not Kind.NUMERIC:
            (listed,) = self.model.add("branches by level, missing first", ("branch",), ([-1.0, *branches],))
            return f"INDEX({listed},{x}+2)"
        if not test.cuts:
            return f'IF({x}="",-1,{branches[0]:.0f})'
        listed_cuts, listed = (
            self.model.add("cuts of a test", ("cut",), (test.cuts,))[0],
            self.model.add("branches by interval", ("branch",), (branches,))[0],
        )
        return f'IF({x}="",-1,INDEX({listed},1+SUMPRODUCT(--({listed_cuts}{"<=" if test.is_strict else "<"}{x}))))'


def _check_size(nodes: Sequence[FormulaNode]) -> None:
    if len(nodes) > MAX_NODES:
        raise ValueError(
            f"Excel: a tree of {len(nodes):,} nodes exceeds the limit of {MAX_NODES:,} for a sheet; prune the tree, or "
            "export to Python, C or SQL"
        )
