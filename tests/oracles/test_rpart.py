"""CART beside rpart 4.1.19, node by node: columns, cuts, groups, counts, complexity, surrogates, probabilities.

A difference is excused only where it begins with a tie: the node at which the trees part has the same rows in both, and
rpart's own improvement equals ours to ten digits. Everything below such a node is not compared, everything else is.
"""

import msgspec
import numpy as np
import pytest
import reference

import baytree as bt
from baytree.data.encoding import Table
from baytree.data.schema import Kind, Schema
from baytree.engine.partitions import LocalPartitions
from baytree.tree.inspection import groups
from baytree.tree.model import Tree, bounds, parents


def _estimator(fit: dict, classes: list[str] | None):
    control, parms = fit["control"], fit.get("parms") or {}
    options = {
        "cp": control["cp"], "min_split": control["minsplit"], "min_leaf": control["minbucket"],
        "max_depth": control["maxdepth"], "max_surrogates": control["maxsurrogate"],
        "use_surrogate": control["usesurrogate"], "surrogate_style": control["surrogatestyle"],
    }  # fmt: skip
    if classes is None:
        return bt.CARTRegressor(**options)
    if parms.get("split") == "information":
        options["criterion"] = "entropy"
    if parms.get("prior") is not None:
        options["priors"] = dict(zip(classes, parms["prior"], strict=True))
    if parms.get("loss") is not None:
        rows = [dict(zip(classes, row, strict=True)) for row in parms["loss"]]
        options["costs"] = dict(zip(classes, rows, strict=True))
    return bt.CARTClassifier(**options)


def _in_order_of(classes: list[str], table: Table) -> Table:
    """The table with its classes in rpart's order: directions and last bits depend on it."""
    old = table.schema.target
    code = np.array([classes.index(str(c)) for c in old.classes], np.int32)
    target = msgspec.structs.replace(old, classes=tuple(classes))
    return msgspec.structs.replace(
        table, schema=msgspec.structs.replace(table.schema, target=target), label=code[table.label]
    )


def _grown(name: str, fit: dict, classes: list[str] | None) -> tuple[Tree, Schema, object]:
    X, y = reference.columns_and_labels(name)
    weight = 1 + np.arange(1, len(X) + 1) % 3 if fit.get("weights") else None
    estimator = _estimator(fit, classes)
    entered = estimator._prepare_rows(X, y, weight)
    table = entered.table if classes is None else _in_order_of(classes, entered.table)
    learnt = estimator._learner(table.schema).learn(LocalPartitions(table))
    estimator._set_fitted_state(table.schema, learnt, entered.has_text_names)
    return estimator.tree_, table.schema, estimator


def _ids(tree: Tree) -> list[int]:
    """rpart's numbers of the nodes: 1 is the root, 2k and 2k + 1 are the children of k."""
    above, ids = parents(tree), [1] * len(tree)
    for node in range(1, len(tree)):
        parent = int(above[node])
        is_right = (node != tree.first[parent]) != tree.mirrored[parent]
        ids[node] = 2 * ids[parent] + int(is_right)
    return ids


def _close(mine: float, theirs: float, relative: float = 1e-8) -> bool:
    return abs(mine - theirs) <= relative * abs(theirs) + 1e-9


def _same_test(tree: Tree, schema: Schema, node: int, split: dict | None) -> bool:
    if split is None or tree.column[node] < 0:
        return split is None and tree.column[node] < 0
    column = schema.columns[tree.column[node]]
    if column.name != split["var"]:
        return False
    if column.kind is Kind.NUMERIC:
        return _close(tree.cut[node], split["threshold"], 1e-9) and tree.mirrored[node] == (split["op"] == ">=")
    mine = groups(tree, schema, node)
    mine = mine[::-1] if tree.mirrored[node] else mine
    return [set(map(str, g)) for g in mine] == [set(split["left"]), set(split["right"])]


def _same_numbers(tree: Tree, node: int, theirs: dict) -> bool:
    numbers = [(tree.weight[node], theirs["wt"]), (tree.risk[node], theirs["dev"])]
    numbers.append((tree.complexity[node], theirs["complexity"]))
    pairs = [*numbers, *zip(tree.value[node], theirs.get("prob") or [theirs["yval"]], strict=True)]
    return tree.rows[node] == theirs["n"] and all(_close(float(a), float(b)) for a, b in pairs)


def _same_surrogates(tree: Tree, schema: Schema, node: int, theirs: list) -> bool:
    first, last = bounds(tree, tree.surrogates)[node : node + 2]
    tests = tree.surrogates
    names = [schema.columns[j].name for j in tests.column[first:last]]
    mine = list(zip(names, tests.agree[first:last], tests.adjusted[first:last], tests.count[first:last], strict=True))
    known = [(s["var"], s["agree"], s["adj"], s["count"]) for s in theirs]
    return len(mine) == len(known) and all(
        a[0] == b[0] and _close(a[1], b[1]) and _close(a[2], b[2]) and a[3] == b[3] for a, b in zip(mine, known, strict=True)
    )


def _is_tie(tree: Tree, node: int, split: dict | None) -> bool:
    if split is None or tree.column[node] < 0:
        return False
    gain = tree.gain[node] if tree.n_classes else tree.gain[node] / tree.risk[node]
    return abs(gain - split["improve"]) <= 1e-10 * abs(split["improve"])


def _verdict(tree: Tree, schema: Schema, fit: dict) -> tuple[bool, list]:
    """Whether all is the same, and the differences that no tie excuses."""
    mine = {number: node for node, number in enumerate(_ids(tree))}
    theirs = {node["id"]: node for node in fit["nodes"]}
    has_surrogates = any(node.get("surrogates") for node in fit["nodes"])
    is_same, faults, ties = mine.keys() == theirs.keys(), [], set()
    for number in sorted(mine.keys() & theirs.keys()):
        node, other = mine[number], theirs[number]
        if any(number >> k in ties for k in range(1, number.bit_length())):
            continue
        if tree.rows[node] != other["n"]:
            faults.append((number, "rows", int(tree.rows[node]), other["n"]))
        elif not _same_test(tree, schema, node, other.get("split")):
            is_same = False
            ties.add(number) if _is_tie(tree, node, other.get("split")) else faults.append((number, "split"))
        elif not _same_numbers(tree, node, other):
            is_same = False
        elif has_surrogates and not _same_surrogates(tree, schema, node, other.get("surrogates") or []):
            faults.append((number, "surrogates"))
    return is_same and not faults, faults if ties or is_same else [*faults, *_unexplained(tree, mine, theirs)]


def _unexplained(tree: Tree, mine: dict, theirs: dict) -> list:
    """Differences in numbers in a tree without any tie."""
    common = mine.keys() & theirs.keys()
    wrong = [n for n in common if not _same_numbers(tree, mine[n], theirs[n])]
    return [("numbers", wrong[:3])] if wrong else [("nodes", sorted(mine.keys() ^ theirs.keys())[:3])]


def _same_rows(name: str, fit: dict, estimator, classes: list[str] | None) -> bool:
    X, _ = reference.columns_and_labels(name)
    where = fit.get("predict_where") or fit["where"]
    nodes = {node["id"]: node for node in fit["nodes"]}
    kept = [row for row, number in enumerate(where) if number is not None]
    if classes is None:
        mine, theirs = estimator.predict(X)[kept], np.array([nodes[where[r]]["yval"] for r in kept], float)
        return bool(np.allclose(mine, theirs, rtol=1e-8))
    mine, theirs = estimator.predict_proba(X)[kept], np.array([nodes[where[r]]["prob"] for r in kept], float)
    return bool(np.allclose(mine, theirs, atol=1e-8))


@pytest.mark.parametrize("name", reference.tables("rpart"))
def test_every_difference_from_rpart_begins_with_a_tie(name):
    expected = reference.expected("rpart", name)
    classes = expected.get("classes") if reference.frame(name)[1]["task"] == "classification" else None
    for key, fit in expected["fits"].items():
        if "error" in fit:
            continue
        tree, schema, estimator = _grown(name, fit, classes)
        is_same, faults = _verdict(tree, schema, fit)
        assert not faults, (name, key, faults[:5])
        assert not is_same or _same_rows(name, fit, estimator, classes), (name, key, "predictions")


def test_a_level_tied_between_both_sides_goes_to_the_right_side_of_rpart_where_that_is_the_lower_one():
    frame = {"x": np.arange(1.0, 17), "g": np.array(["a"] * 6 + ["c"] * 4 + ["b"] * 6)}
    y = np.array(["v"] * 8 + ["u"] * 8)
    model = bt.CARTClassifier(cp=0, min_split=4, min_leaf=2).fit(frame, y)
    asked = {"x": np.full(3, np.nan), "g": np.array(["a", "c", "b"])}
    assert model.predict(asked).tolist() == ["v", "v", "u"]  # of rpart 4.1.19


def test_a_surrogate_that_sends_every_row_one_way_is_refused_with_fractional_weights():
    frame = {"x": np.arange(8.0), "g": np.array(list("abbaabab"))}
    y, weight = np.array(["u"] * 4 + ["v"] * 4), [0.7, 0.9, 1.7, 4, 1.1, 0.8, 0.6, 0.1]
    model = bt.CARTClassifier(cp=0, min_split=2, min_leaf=1, use_surrogate=1).fit(frame, y, sample_weight=weight)
    asked = {"x": np.full(2, np.nan), "g": np.array(["a", "b"])}
    expected = [[0.7373737, 0.2626263]] * 2  # of rpart 4.1.19
    np.testing.assert_allclose(model.predict_proba(asked), expected, atol=5e-8)


@pytest.mark.parametrize("seed", range(20))
def test_nominal_surrogates_use_both_sides_and_do_not_depend_on_the_sign_of_the_split_column(seed):
    rng = np.random.default_rng(seed)
    side, x = np.arange(24) < 12, np.arange(24.0)
    y = np.where(side, "u", "v")
    frame = {name: rng.choice(list("abcdef")[:k], 24) for name, k in (("g", 2), ("h", 4), ("i", 6))}
    weight = [None, rng.integers(1, 4, 12).repeat(2), rng.integers(1, 20, 24) / 10][seed % 3]
    asked = {name: np.concatenate([frame[name], np.full(6 * j, None)])[-24:] for j, name in enumerate(frame)}
    answers = []
    for sign in (1, -1):
        model = bt.CARTClassifier(cp=0, min_split=2, min_leaf=2).fit({"x": sign * x, **frame}, y, sample_weight=weight)
        tests = model.tree_.surrogates
        for first, levels in zip(tests.start, tests.levels, strict=True):
            assert {0, 1} <= set(tests.branch_of[first : first + levels].tolist())
        answers.append(model.predict_proba({"x": np.full(24, np.nan), **asked}))
    np.testing.assert_array_equal(*answers)
