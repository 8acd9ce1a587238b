"""Summary records of a tree: one `Node` per node, in depth-first order, with its condition, prediction and test.

Every text and plot of a tree is rendered from these records; `export_text` renders the plain-text outline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from baytree.data.schema.schema import Schema
from baytree.rendering import tree_text
from baytree.summary.tree import CertificateSummary, NamedCondition, NamedSum, NamedSurrogate, Node, TreeSummary
from baytree.tree.model.conditions import Branches
from baytree.tree.model.linear_combinations import LinearCombinations, describe_combination, tested_columns

if TYPE_CHECKING:
    from baytree.tree.model.tree import Tree

_NO_TESTS: Mapping[int, float] = MappingProxyType({})


def summary(tree: Tree, schema: Schema) -> TreeSummary:
    """Summary of a tree, nodes depth first; tested splits carry their p-value, adjusted for the ways to merge levels."""
    tested = tree.significance
    log_p = _NO_TESTS if tested is None else dict(zip(tested.node.tolist(), tested.log_adjusted.tolist(), strict=True))
    nodes = tuple(iter_nodes(tree, schema, log_p=log_p))
    fields = (schema.target.name, class_names(tree, schema), nodes, tested is not None, _certificate(tree))
    return TreeSummary(*fields) if not tree.sums else TreeSummary(*fields, _sums(tree.sums, schema))


def _sums(sums: LinearCombinations, schema: Schema) -> tuple[NamedSum, ...]:
    names, every = schema.names, sums.terms()
    return tuple(
        NamedSum(describe_combination(terms, names), tuple((names[j], weight) for j, weight in terms)) for terms in every
    )


def _certificate(tree: Tree) -> CertificateSummary | None:
    certificate = tree.certificate
    if not certificate:
        return None
    return CertificateSummary(
        certificate.objective,
        certificate.bound,
        certificate.penalty,
        certificate.max_depth,
        len(certificate.offered),
        msgspec.UNSET if certificate.costs is msgspec.UNSET else True,
    )


def export_text(tree: Tree, schema: Schema, *, max_depth: int | None = None, max_levels: int | None = 12) -> str:
    """Text of the tree, one line per node: condition, prediction and the weight of each class (or the mean).

    Below `max_depth` only the number of nodes is shown; a long list of levels is shortened to `max_levels` names.
    """
    nodes = iter_nodes(tree, schema, max_depth)
    return "\n".join(tree_text.outline(nodes, class_names(tree, schema), max_levels))


def class_names(tree: Tree, schema: Schema) -> tuple[str, ...]:
    """Names of the classes; empty in regression."""
    return tuple(map(str, schema.classes or range(tree.n_classes))) if tree.n_classes else ()


def iter_nodes(
    tree: Tree,
    schema: Schema,
    max_depth: int | None = None,
    log_p: Mapping[int, float] = _NO_TESTS,
) -> Iterator[Node]:
    """Yield the nodes depth first, down to a depth; `log_p` maps a node to the significance of its split."""
    branches, outcomes = Branches(tree, schema), _Outcomes(tree)
    split_probability = probabilities(tree)
    names = [column.name for column in tested_columns(tree, schema)]
    pending: list[tuple[int, int, NamedCondition | None]] = [(0, 0, None)]
    while pending:
        node, depth, condition = pending.pop()
        tested = branches.column[node]
        is_open = tested >= 0 and (max_depth is None or depth < max_depth)
        conditions = [each.named(schema) for each in branches.of(node)] if is_open else []
        yield Node(
            node,
            depth,
            condition,
            *outcomes.of(node),
            names[tested] if tested >= 0 else "",
            len(conditions),
            branches.missing[node],
            branches.has_surrogates[node],
            log_p.get(node),
            *outcomes.cost(node),
            tuple(NamedSurrogate(*(each.named(schema) for each in pair)) for pair in branches.substitutes(node)),
            split_probability.get(node),
        )
        last = branches.first[node] + len(conditions) - 1
        pending += [(last - k, depth + 1, each) for k, each in enumerate(reversed(conditions))]


def probabilities(tree: Tree) -> dict[int, float]:
    """Probability of each split by node, for trees that average over all prunings; else empty."""
    averaged = tree.averaging
    return dict(zip(averaged.node.tolist(), averaged.kept.tolist(), strict=True)) if averaged else {}


class _Outcomes:
    """Predictions and costs of nodes. The arrays are converted to lists once, so that lookups are fast."""

    def __init__(self, tree: Tree) -> None:
        self.rows, self.weight, self.prediction = tree.rows.tolist(), tree.weight.tolist(), tree.prediction.tolist()
        self.value = tree.value[range(len(tree)), tree.prediction].tolist()
        self.risk, self.complexity = tree.risk.tolist(), tree.complexity.tolist()
        occurs = tree.counts > 0
        self.counts = list(zip(occurs.nonzero()[1].tolist(), tree.counts[occurs].tolist(), strict=True))
        self.end = occurs.sum(axis=1).cumsum().tolist()

    def of(self, node: int) -> tuple[int, float, int, float, tuple[tuple[int, float], ...]]:
        """Rows, weight, prediction, its proportion or the mean, and the weights of the classes that occur."""
        first = self.end[node - 1] if node else 0
        counts = tuple(self.counts[first : self.end[node]])
        return self.rows[node], self.weight[node], self.prediction[node], self.value[node], counts

    def cost(self, node: int) -> tuple[float, float]:
        """Risk of the node as a leaf, and the penalty at which its split is pruned."""
        return self.risk[node], self.complexity[node]
