"""Why a tree is a single leaf, in words."""

from __future__ import annotations

from baytree.show.names import counted, number, plain
from baytree.table.schema import Schema
from baytree.tree.grow.policy import Choose, Policy
from baytree.tree.model.structure import Tree


def why_one_leaf(tree: Tree, schema: Schema, policy: Policy, names: dict[str, str]) -> str:
    """The first reason that holds; `names` are those of the estimator's parameters where they are not the policy's."""
    stopping, size = policy.stopping, float(tree.rows[0] if policy.stopping.counts_rows else tree.weight[0])
    min_split, min_leaf = (names.get(name, name) for name in ("min_split", "min_leaf"))
    rows = counted(int(size), "row") if size == int(size) else f"{number(size)} rows"
    if tree.impurity[0] <= 0:
        return f"all rows are {plain(schema.classes[tree.prediction[0]])}" if tree.n_classes else "all rows have one number"
    if size < stopping.min_split:
        return f"{rows} < {min_split}={stopping.min_split:g}"
    if size < 2 * stopping.min_leaf:
        return f"{rows} < 2 × {min_leaf}={stopping.min_leaf:g}"
    if stopping.max_depth == 0:
        return "max_depth=0"
    if policy.choose is Choose.ADJUSTED_P or stopping.alpha is not None:
        return f"no column is significant: {names.get('alpha', 'alpha')}={stopping.alpha:g}"
    if stopping.cp > 0 and not policy.pruning:
        return f"no test saves cp={stopping.cp:g} of the error without one"
    return "no test was left after pruning" if policy.pruning else "no test improves the criterion"
