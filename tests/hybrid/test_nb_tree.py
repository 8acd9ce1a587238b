"""Trees with naive Bayes leaves, beside a sum over every pruning with every kind of leaf, each model fitted anew."""

import dataclasses
import itertools
import math

import msgspec
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree import summary
from baytree.cli.main import main
from baytree.engine.partitions import LocalPartitions
from baytree.hybrid import learner as hybrid
from baytree.naive_bayes.learner import leave_one_out, leave_one_out_by_weight
from baytree.tree.model import parents
from law_settings import settings

GROWN = {"criterion": "entropy", "max_depth": 2, "min_leaf": 3}


def table(seed, n):
    """Numbers and levels with gaps, which tell three classes in another way for each level."""
    rng = np.random.default_rng(seed)
    y, colour = rng.integers(0, 3, n), rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) + 2 * y * (colour > 0),
            "age": rng.normal(size=n) - y,
            "colour": np.array(["red", "green", "blue"], object)[colour],
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame, np.array(["a", "b", "c"])[y]


def rows_of(tree, rest):
    """The rows that reach each node on their way to where they rest."""
    above, found = parents(tree), {node: set() for node in range(len(tree))}
    for row, node in enumerate(rest.tolist()):
        found[node].add(row)
        while node:
            node = int(above[node])
            found[node].add(row)
    return {node: sorted(rows) for node, rows in found.items()}


def naive_bayes_of(rows):
    """Naive Bayes of the rows of a table, without columns of one level, and half a row of each class beforehand."""
    kinds = zip(rows.schema.columns, rows.values, strict=True)
    told = [j for j, (column, codes) in enumerate(kinds) if not column.levels or len({*codes.tolist()} - {-1}) > 1]
    learner, replace = bt.NaiveBayesClassifier()._learner(rows.schema), msgspec.structs.replace
    groups = [replace(group, columns=tuple(j for j in group.columns if j in told)) for group in learner.groups]
    estimation = replace(learner.estimation, class_alpha=0.5)
    return dataclasses.replace(learner, groups=tuple(group for group in groups if group.columns), estimation=estimation)


def left_out(rows):
    """How much better naive Bayes tells the class of each row by all others than their counts do, in logarithms."""
    total, learner = 0.0, naive_bayes_of(rows)
    for row in range(len(rows)):
        others, alone = rows.take(np.arange(len(rows)) != row), rows.rows(row, row + 1)
        label = int(alone.label[0])
        counts = np.bincount(others.label, minlength=3) + 0.5
        share = learner.derive(learner.observe(others), rows.schema).predict(alone)[0, label]
        total += math.log(share) - math.log(counts[label] / counts.sum())
    return total


def log_evidence(counts):
    """Rows one after the other, each by the share of its class among those before and half a row of each class."""
    seen, total = np.full(len(counts), 0.5), 0.0
    for code, weight in enumerate(counts):
        for _ in range(int(weight)):
            total += math.log(seen[code] / seen.sum())
            seen[code] += 1
    return total


def prunings(tree, node=0):
    """Every pruning of the subtree at a node, as the set of its leaves."""
    yield frozenset({node})
    if tree.column[node] >= 0:
        children = range(tree.first[node], tree.first[node] + tree.branches[node])
        for below in itertools.product(*(list(prunings(tree, child)) for child in children)):
            yield frozenset().union(*below)


def prior(tree, leaves, n_columns):
    """Of a pruning: each of its leaves that could be split is none, and each node above them is, by one of the columns."""
    above, split, inner = parents(tree), 0.5 / n_columns, set()
    for leaf in leaves:
        node = leaf
        while node:
            node = int(above[node])
            inner.add(node)
    stops = sum(math.log(1 - split) for leaf in leaves if tree.column[leaf] >= 0)
    return stops + len(inner) * math.log(split)


@given(st.integers(0, 10_000))
@settings(max_examples=3)
def test_the_answer_is_the_average_over_every_pruning_and_every_kind_of_leaf(seed):
    frame, y = table(seed, 36)
    schema = {"size": "numeric", "age": "numeric", "colour": ["blue", "green", "red"]}
    least, hybrid.MIN_PREDICTION_WEIGHT = hybrid.MIN_PREDICTION_WEIGHT, 0.0
    try:
        model = bt.NBTreeClassifier(**GROWN, min_bayes=12, schema=schema).fit(frame, y)
    finally:
        hybrid.MIN_PREDICTION_WEIGHT = least
    plain = bt.DecisionTreeClassifier(**GROWN, schema=schema).fit(frame, y)
    tree = plain.tree_
    whole = model._prepare_rows(frame, y, None).table
    rows = rows_of(tree, plain.apply(frame))
    offered = [n for n in rows if tree.weight[n] >= 12 and np.count_nonzero(tree.counts[n]) > 1]
    factor = {node: left_out(whole.take(np.array(rows[node]))) for node in offered}
    expected, weights = [], []
    for leaves in prunings(tree):
        for kinds in itertools.product(*([False, True] if leaf in factor else [False] for leaf in leaves)):
            chosen = dict(zip(leaves, kinds, strict=True))
            log_weight = prior(tree, leaves, 3) + sum(log_evidence(tree.counts[leaf]) for leaf in leaves)
            log_weight += sum(math.log(0.1) + factor[leaf] if chosen[leaf] else math.log(0.9) for leaf in leaves & {*factor})
            weights.append(log_weight)
            expected.append(answered(tree, chosen, whole, rows))
    share = np.exp(np.array(weights) - np.logaddexp.reduce(weights))
    np.testing.assert_allclose(model.predict_proba(frame), np.tensordot(share, expected, 1), rtol=0, atol=1e-9)


def answered(tree, chosen, whole, rows):
    """What one pruning answers: by counts, or by naive Bayes."""
    answer = np.empty((len(whole), 3))
    for leaf, is_bayes in chosen.items():
        own = whole.take(np.array(rows[leaf]))
        answer[rows[leaf]] = (tree.counts[leaf] + 0.5) / (tree.counts[leaf].sum() + 1.5)
        if is_bayes:
            learner = naive_bayes_of(own)
            answer[rows[leaf]] = learner.derive(learner.observe(own), own.schema).predict(own)
    return answer


@pytest.fixture(scope="module")
def titanic():
    frame = bt.datasets.load("titanic", as_="pandas")
    return bt.NBTreeClassifier().fit(frame, "survived"), frame


def test_a_ledger_adds_up_test_by_test_and_then_value_by_value(titanic):
    model, frame = titanic
    asked = frame.drop_duplicates(ignore_index=True)
    for why, answer in zip(model.explain(asked), model.predict_proba(asked), strict=True):
        np.testing.assert_allclose(why.scores, answer, rtol=0, atol=1e-12)
        are_tests = [bool(line.condition) for line in why.evidence]
        assert are_tests == sorted(are_tests, reverse=True)


def test_of_a_row_of_which_nothing_is_known_naive_bayes_says_what_the_counts_say(titanic):
    model, frame = titanic
    nothing = pd.DataFrame({name: [None] for name in frame if name != "survived"})
    leaf = model.apply(nothing)
    np.testing.assert_allclose(model.predict_proba(nothing), model.tree_.value[leaf], rtol=0, atol=1e-12)
    assert not [line for line in model.explain(nothing)[0].evidence if not line.condition]


def test_probabilities_are_such(titanic):
    model, frame = titanic
    answer = model.predict_proba(frame)
    assert (answer >= 0).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert np.array_equal(model.predict(frame), model.classes_[answer.argmax(axis=1)])


def test_normal_classes_are_left_to_naive_bayes_and_crossed_ones_to_the_tree():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    normal = rng.normal(size=(600, 4)) + y[:, None]
    model = bt.NBTreeClassifier().fit(normal, y)
    assert model.n_leaves_ == 1
    assert model.naive_bayes_[0] > 0.99
    crossed = rng.integers(0, 4, (600, 4)).astype(float)
    model = bt.NBTreeClassifier().fit(crossed, (crossed[:, 0] > 1) ^ (crossed[:, 1] == 1))
    assert model.n_leaves_ > 2
    assert 0 not in model.naive_bayes_
    assert model.score(crossed, (crossed[:, 0] > 1) ^ (crossed[:, 1] == 1)) == 1.0


def test_a_copied_column_does_not_make_naive_bayes_surer_than_the_rows_allow():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    X = np.repeat(rng.normal(size=(500, 1)) + 1.0 * y[:, None], 20, axis=1)
    ours, naive = bt.NBTreeClassifier().fit(X, y), bt.NaiveBayesClassifier().fit(X, y)
    assert not ours.naive_bayes_
    assert ours.predict_proba(X).max(axis=1).mean() < 0.85 < naive.predict_proba(X).max(axis=1).mean()


def test_rows_in_parts_give_the_same_bits():
    frame, y = table(5, 300)
    estimator = bt.NBTreeClassifier()
    entered = estimator._prepare_rows(frame, y, None)
    made = estimator._learner(entered.rows.schema)
    tree = made.tree.grow_tree(entered.rows)
    offer = hybrid.NodeCandidates(tree, made._offered(tree), made.bayes)
    parts = [entered.table.rows(0, 7), entered.table.rows(7, 200), entered.table.rows(200, 300)]
    seen = hybrid.NodeStatistics.of(entered.table, offer).by_node
    assert (
        sum((hybrid.NodeStatistics.of(part, offer) for part in parts[1:]), hybrid.NodeStatistics.of(parts[0], offer)).by_node
        == seen
    )
    losses = [hybrid.leave_one_out_losses(part, offer, seen) for part in parts]
    assert losses[0] + losses[1] + losses[2] == hybrid.leave_one_out_losses(entered.table, offer, seen)
    assert len(offer.node) > 3


def test_rows_on_disk_give_the_tree_of_rows_in_memory(tmp_path):
    frame, y = table(7, 400)
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    far = bt.NBTreeClassifier().fit(bt.scan(tmp_path / "rows.csv"), "y")
    near = bt.NBTreeClassifier().fit(bt.read(tmp_path / "rows.csv"), "y")
    assert far.naive_bayes_ == near.naive_bayes_
    assert np.array_equal(far.predict_proba(frame), near.predict_proba(frame))


def test_a_row_that_stands_for_several_leaves_one_of_them_out():
    frame, y = table(3, 60)
    times = np.random.default_rng(1).integers(1, 4, 60)
    model = bt.NaiveBayesClassifier()
    whole = model.fit(frame, y)._prepare_batch(frame, y, times.astype(float), model.schema_).table
    learner = model._learner(whole.schema)
    each = np.repeat(np.arange(60), times)
    alone = model._prepare_batch(frame.iloc[each], y[each], None, model.schema_).table
    ours = leave_one_out_by_weight(learner, whole, learner.observe(whole))
    np.testing.assert_allclose(ours[each], leave_one_out(learner, alone, learner.observe(alone)), rtol=1e-12)


def test_a_row_that_stands_for_part_of_one_is_left_out_as_a_whole():
    frame, y = table(3, 60)
    weight = np.random.default_rng(1).uniform(0.1, 1.0, 60)
    model = bt.NaiveBayesClassifier()
    whole = model.fit(frame, y)._prepare_batch(frame, y, weight, model.schema_).table
    learner = model._learner(whole.schema)
    seen = learner.observe(whole)
    expected = leave_one_out(learner, whole, seen)
    np.testing.assert_allclose(leave_one_out_by_weight(learner, whole, seen), expected, rtol=1e-10)


def test_fractions_of_weight_are_learnt_too():
    frame, y = table(3, 200)
    weight = np.random.default_rng(0).choice([0.25, 0.5, 1.0, 2.5], 200)
    model = bt.NBTreeClassifier().fit(frame, y, weight)
    assert model.score(frame, y) > 0.6
    assert np.isfinite(model.predict_proba(frame)).all()


NUMBERS = {
    "neighbouring doubles": lambda y: np.where(y == 1, np.nextafter(1.0, 2.0), 1.0),
    "milliseconds": lambda y: 1.7e12 + y,
    "very small": lambda y: 1e-300 * y,
    "subnormal": lambda y: 5e-324 * y,
    "opposite extremes": lambda y: np.where(y == 1, 1.7e308, -1.7e308),
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_of_any_size_are_told_apart(kind):
    y = np.arange(200) // 20 % 2
    X = np.column_stack([np.random.default_rng(0).normal(size=200), NUMBERS[kind](y)])
    model = bt.NBTreeClassifier().fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("weight", [1e307, 1e-300, 5e-324])
def test_weights_of_any_size_give_a_model(weight):
    frame, y = table(2, 120)
    model = bt.NBTreeClassifier().fit(frame, y, np.full(120, weight))
    assert np.isfinite(model.predict_proba(frame)).all()


def test_one_class_one_row_and_empty_columns_are_learnt():
    assert bt.NBTreeClassifier().fit([[1.0], [2.0]], ["a", "a"]).predict([[5.0]])[0] == "a"
    assert bt.NBTreeClassifier().fit([[1.0]], ["a"]).n_nodes_ == 1
    rows = {"x": [None] * 40, "level": ["one"] * 40, "y": ["a", "b"] * 20}
    np.testing.assert_allclose(bt.NBTreeClassifier().fit(rows, "y").predict_proba({"x": [1.0], "level": ["two"]}), 0.5)


def test_an_infinite_number_is_refused_by_its_column():
    with pytest.raises(ValueError, match=r"column 'x'.*row 2"):
        bt.NBTreeClassifier().fit({"x": [1.0, 2.0, np.inf], "y": ["a", "b", "a"]}, "y")


def test_text_and_intervals_are_refused_in_words(titanic):
    model, frame = titanic
    with pytest.raises(ValueError, match="no interval"):
        model.predict_interval(frame)
    with pytest.raises(ValueError, match="column 'said' is text"):
        bt.NBTreeClassifier(schema={"said": "text"}).fit({"said": ["a b", "c d"], "y": ["a", "b"]}, "y")


@pytest.mark.parametrize("parameter", [{"alpha": 0.0}, {"min_bayes": -1}, {"criterion": "sse"}, {"max_depth": -1}])
def test_a_parameter_out_of_its_range_is_refused_by_name(parameter):
    with pytest.raises(ValueError, match=next(iter(parameter))):
        bt.NBTreeClassifier(**parameter).fit([[1.0], [2.0]], ["a", "b"])


def test_a_broken_record_is_no_model(titanic):
    model, _ = titanic
    whole = model.model_
    replace = msgspec.structs.replace
    for fault, words in (
        ({"chosen": whole.chosen + 1}, "between 0 and 1"),
        ({"node": whole.node[::-1].copy()}, "ascending indices"),
        ({"node": whole.node + np.int32(len(whole.tree))}, "ascending indices"),
        ({"models": whole.models[1:]}, "differ in length"),
        ({"tree": replace(whole.tree, averaging=msgspec.UNSET)}, "is not averaged"),
        ({"tree": replace(whole.tree, missing=np.full(len(whole.tree), -2, np.int32))}, "no branch for missing values"),
    ):
        with pytest.raises(ValueError, match=words):
            replace(whole, **fault)
    with pytest.raises(ValueError, match="do not match the target"):
        whole.check(bt.NBTreeClassifier().fit(*table(0, 60)).schema_)


def test_the_summary_is_told_in_text_in_json_and_on_a_page(titanic, tmp_path):
    model, frame = titanic
    told = model.model_.summary(model.schema_)
    assert summary.from_json(summary.to_json(told)) == told
    assert "naive Bayes where sex = female: " in str(model)
    assert str(model).count("each level counts 1 more") == 1
    page = model.report(frame, tmp_path / "page.html").read_text()
    assert "Naive Bayes in the tree" in page
    assert f'data-value="{len(told.leaves)}"' in page


def test_what_changed_names_the_models_of_nodes(titanic):
    _, frame = titanic
    old, new = (bt.NBTreeClassifier().fit(rows, "survived") for rows in (frame, frame.iloc[:2000]))
    places = [change.place for change in bt.diff(old, new).model]
    assert any(place.startswith("naive Bayes, sex = ") for place in places)
    assert bt.diff(old, old).is_empty


def test_the_command_line_learns_draws_and_answers(titanic, tmp_path):
    _, frame = titanic
    frame.to_csv(tmp_path / "rows.csv", index=False)
    run = CliRunner().invoke
    path = tmp_path / "model.baytree"
    learnt = run(main, ["fit", str(tmp_path / "rows.csv"), "--target", "survived", "--model", "nbtree", "-o", str(path)])
    assert learnt.exit_code == 0, learnt.output
    drawn = run(main, ["show", str(path), "-o", str(tmp_path / "tree.svg")])
    assert drawn.exit_code == 0, drawn.output
    assert "<svg" in (tmp_path / "tree.svg").read_text()


def test_rows_in_memory_are_not_gathered_twice():
    frame, y = table(1, 100)
    estimator = bt.NBTreeClassifier()
    entered = estimator._prepare_rows(frame, y, None)
    learnt = estimator._learner(entered.rows.schema).learn(LocalPartitions(entered.table, n_jobs=2))
    assert np.array_equal(learnt.model.predict(entered.table), bt.NBTreeClassifier().fit(frame, y).predict_proba(frame))


def test_a_node_is_shown_with_the_share_that_its_class_has_of_its_rows():
    model = bt.NBTreeClassifier().fit(bt.datasets.load("titanic"), "survived")
    nodes = model.model_.summary(model.schema_).tree.nodes
    assert all(node.value == max(weight for _, weight in node.counts) / node.weight for node in nodes)


@pytest.mark.parametrize("value", [1.0, 3, "a", True])
@pytest.mark.parametrize("name", ["titanic", "penguins", "play-tennis"])
def test_a_constant_column_changes_nothing(name, value):
    frame = bt.datasets.load(name, as_="pandas")
    target = {"titanic": "survived", "penguins": "species", "play-tennis": "PlayTennis"}[name]
    inputs, more = frame.drop(columns=target), frame.assign(constant=value)
    for make in (
        lambda: bt.NBTreeClassifier(min_bayes=5),
        lambda: bt.DecisionTreeClassifier(averaging="prunings", max_depth=4),
    ):
        plain, wider = make().fit(frame, target), make().fit(more, target)
        np.testing.assert_allclose(
            wider.predict_proba(more.drop(columns=target)), plain.predict_proba(inputs), atol=1e-12, rtol=0
        )
        if isinstance(plain, bt.DecisionTreeClassifier):
            assert wider.prune("bayes").n_leaves_ == plain.prune("bayes").n_leaves_
