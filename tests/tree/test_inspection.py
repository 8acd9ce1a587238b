"""Reading trees: text, rules, DOT, SVG and plots say what the tree does, whatever the names are."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree.data.schema import Column, Kind, Schema, Target
from baytree.display.terminal import plain, quoted
from baytree.rendering.model_text import text as printed
from baytree.rendering.tree_drawing import growth_frames, growth_svg, to_dot, to_svg
from baytree.rendering.tree_text import label, outline
from baytree.tree.inspection import draw
from baytree.tree.model import Condition, Surrogates, Tree, ValueRange, class_names, export_text, iter_nodes
from baytree.tree.rules import paths, rules
from law_settings import settings

HOSTILE = [
    "<script>alert(1)</script>", 'quote " and \\',
    "line\nbreak", "*/ -->", "\u202eright to left", "]]>", "&amp;", "a, b", "",
]  # fmt: skip


def frame(n=600, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=n).round(2),
            "rank": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "colour": rng.choice(["red", "green", "blue", "grey"], n),
        }
    )
    score = table["number"] + (table["colour"] == "red") * 2 + table["rank"].cat.codes * 0.7 + rng.normal(size=n) * 0.5
    for column in table:
        table.loc[rng.random(n) < 0.05, column] = np.nan
    return table, np.where(score > 1.5, "high", np.where(score > 0, "middle", "low"))


ESTIMATORS = [bt.CHAIDClassifier(), bt.CARTClassifier(), bt.DecisionTreeClassifier(max_depth=4), bt.C45Classifier()]
NAMES = [type(estimator).__name__ for estimator in ESTIMATORS]


def chain(n_tests):
    """x ≤ n, then x ≤ n − 1, and so on: a tree as deep as it can be."""
    n = 2 * n_tests + 1
    node = np.arange(n)
    inner = (node % 2 == 0) & (node < n - 1)  # the odd nodes are leaves
    counts = np.column_stack([np.ones(n), np.full(n, 2.0)])
    nothing = {name: np.zeros(n) for name in ("impurity", "risk", "gain", "complexity")}
    return Tree(
        column=np.where(inner, 0, -1).astype(np.int32),
        first=np.where(inner, node + 1, 0).astype(np.int32),
        branches=np.where(inner, 2, 0).astype(np.int32),
        cut=np.where(inner, -node.astype(float), np.nan),
        strict=np.zeros(n, bool), mirrored=np.zeros(n, bool),
        start=np.zeros(n, np.int32), levels=np.zeros(n, np.int32), branch_of=np.zeros(0, np.int32),
        missing=np.where(inner, 0, -1).astype(np.int32), share=np.full(n, 0.5), rows=np.full(n, 3, np.int64),
        weight=np.full(n, 3.0), counts=counts, value=counts / 3, prediction=np.ones(n, np.int32),
        surrogates=Surrogates.none(), **nothing,
    )  # fmt: skip


def in_words(tree):
    return printed(tree.summary(LINE))


def dot(tree, schema, max_depth=None):
    return to_dot(tuple(iter_nodes(tree, schema, max_depth=max_depth)), class_names(tree, schema), schema.target.name)


LINE = Schema((Column("x", Kind.NUMERIC),), Target("y", ("a", "b")), ("x",))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)
def test_every_reading_of_every_tree_has_all_its_leaves(estimator):
    model = estimator.fit(*frame())
    assert len(model.rules()) == model.n_leaves_
    assert len([line for line in model.export_text().splitlines() if "(missing values" not in line]) == model.n_nodes_
    assert model.to_dot().count("[label=") == 2 * model.n_nodes_ - 1
    root = ElementTree.fromstring(model.to_svg())
    assert len(root.findall(".//{*}title")) == model.n_nodes_
    assert len(model.growth_frames()) == model.n_nodes_ - model.n_leaves_ + 1


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)
def test_importances_are_a_table_in_falling_order(estimator):
    model = estimator.fit(*frame())
    table = model.importances()
    shares = dict(zip(model.schema_.names, model.feature_importances_, strict=True))
    assert {row.column: row.importance for row in model.importances(unused=True)} == shares
    assert {row.column: row.importance for row in table} == {name: share for name, share in shares.items() if share}
    assert [row.importance for row in table] == sorted((share for share in shares.values() if share), reverse=True)
    assert sum(row.tests for row in table) == model.n_nodes_ - model.n_leaves_
    assert len(table.to_frame()) == len(table)


def test_importances_say_whether_surrogates_count_and_how_many_columns_are_left_out():
    penguins = bt.datasets.load("penguins")
    with_surrogates = str(bt.CARTClassifier().fit(penguins, "species").importances()).splitlines()
    assert with_surrogates[-2:] == [
        "importance: gain of its splits and, as a surrogate, of other splits, relative to the total",
        "left out: 2 columns not used",
    ]
    without = str(bt.CARTClassifier(max_surrogates=0).fit(penguins, "species").importances()).splitlines()
    assert without[-2] == "importance: gain of its splits, without surrogates, relative to the total"


def test_a_single_leaf_says_why():
    tennis = bt.datasets.load("play-tennis")

    def why(model):
        return str(model.fit(tennis, "PlayTennis")).splitlines()[-1].removeprefix("a single leaf: ")

    assert why(bt.CARTClassifier()) == "14 rows < min_split=20"
    assert why(bt.CARTClassifier(min_split=2, min_leaf=8)) == "14 rows < 2 × min_leaf=8"
    assert why(bt.CARTClassifier(min_split=2, cp=0.9)) == "no split reduces the error by cp=0.9 of the root error"
    assert why(bt.CARTClassifier(min_split=2, max_depth=0)) == "max_depth=0"
    assert why(bt.CHAIDClassifier(min_split=2)) == "no column is significant: alpha_split=0.05"
    assert why(bt.C45Classifier(min_objects=8)) == "14 rows < 2 × min_objects=8"
    assert why(bt.C45Classifier(confidence=0.01)) == "pruning removed every split"
    played = tennis[tennis.PlayTennis == "Yes"]
    alone = bt.ID3Classifier().fit(played.drop(columns="PlayTennis"), played.PlayTennis)
    assert str(alone).endswith("a single leaf: all rows are Yes")
    grown = bt.ID3Classifier().fit(tennis, "PlayTennis")
    assert str(grown.snip(0)).endswith("a single leaf: it was pruned to the root")


def test_a_tree_explains_by_what_was_asked():
    penguins = bt.datasets.load("penguins")
    first, no_numbers = bt.CARTClassifier().fit(penguins, "species").explain(penguins.iloc[[0, 3]])
    assert "flipper_length_mm < 206.5 (181)" in str(first)
    assert first.to_dict()["evidence"][0]["condition"] == "flipper_length_mm < 206.5"
    assert "(missing)" in str(no_numbers)


def test_fractions_are_explained_once():
    text = str(bt.C45Classifier().fit(bt.datasets.load("penguins"), "species"))
    assert text.count("row counts are fractional") == 1
    assert "every branch" not in str(bt.C45Classifier().fit(bt.datasets.load("play-tennis"), "PlayTennis"))


def test_the_summary_tells_of_every_node_and_its_surrogates():
    model = bt.CARTClassifier().fit(bt.datasets.load("penguins"), "species")
    text = str(model.summary())
    assert all(f"node {node['id']}: {node['n']} row" in text for node in model.nodes())
    assert text.count("    surrogate ") == sum(len(node["surrogates"]) for node in model.nodes())
    assert text.startswith("root error: 192 / 344 = 0.55814")


def test_text_tells_names_counts_and_the_way_of_missing_values():
    table = pd.DataFrame({"sky": ["sun"] * 40 + ["rain"] * 40 + [None] * 40, "play": ["yes"] * 40 + ["no"] * 80})
    model = bt.CHAIDClassifier().fit(table, "play")
    assert model.export_text().splitlines() == [
        "120 rows: no (no 80, yes 40)",
        "├─ sky = rain or missing: no (no 80)",
        "└─ sky = sun: yes (yes 40)",
    ]
    assert [str(rule) for rule in model.rules()] == [
        "IF sky = rain or missing THEN no (probability 1.000; 80 rows, 66.7 %)",
        "IF sky = sun THEN yes (probability 1.000; 40 rows, 33.3 %)",
    ]
    assert model.export_text(max_depth=0).splitlines()[1:] == ["└─ …"]


def test_conditions_on_one_column_meet():
    above, below = Condition(0, ValueRange(low=3.0)), Condition(0, ValueRange(high=10.0, below_high=True), True)
    schema = Schema((Column("x", Kind.NUMERIC), Column("size", Kind.ORDINAL, ("S", "M", "L"))), None, ("x", "size"))
    assert above.meet(below).show(schema) == "3 < x < 10"
    assert above.meet(Condition(0, ValueRange(low=3.0, from_low=True))).show(schema) == "x > 3"
    assert below.meet(Condition(0, ValueRange(high=10.0), True)).show(schema) == "x < 10 or missing"
    assert Condition(1, (0, 1), True).meet(Condition(1, (1, 2), True)).show(schema) == "size = M or missing"
    assert Condition(1, (), True).show(schema) == "size missing"
    assert label(Condition(0, ValueRange(low=3.0, high=10.0)).named(schema)) == "3 < … ≤ 10"


@pytest.mark.parametrize("seed", range(3))
def test_a_row_passes_the_conditions_of_its_own_leaf_and_no_other(seed):
    table, y = frame(seed=seed)
    table = table.dropna().reset_index(drop=True)
    y = y[: len(table)]
    for estimator in (bt.CARTClassifier(cp=0.0, min_split=5), bt.CHAIDClassifier(alpha_split=0.9)):
        model = estimator.fit(table, y)
        encoded = model._encoded(table)
        reached = model.apply(table)
        for leaf, asked in paths(model.tree_, model.schema_):
            passes = np.ones(len(table), bool)
            for condition in asked.values():
                passes &= _passes(condition, encoded.values[condition.column])
            assert np.array_equal(np.flatnonzero(passes), np.flatnonzero(reached == leaf))


def _passes(condition, values):
    if not isinstance(condition.allowed, ValueRange):
        return np.isin(values, condition.allowed)
    low, high = condition.allowed.low, condition.allowed.high
    above = values >= low if condition.allowed.from_low else values > low
    return above & (values < high if condition.allowed.below_high else values <= high)


@pytest.mark.parametrize("n_tests", [3_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_a_chain_of_tests_is_read_without_recursion(n_tests):
    tree = chain(n_tests)
    told = list(outline(iter_nodes(tree, LINE), LINE.classes))
    assert len(told) == len(tree)
    assert len(in_words(tree).splitlines()) == len(tree)
    assert max(map(len, told)) < 200
    assert sum(1 for _ in paths(tree, LINE)) == n_tests + 1
    assert dot(tree, LINE, max_depth=3).count("->") == 6
    with pytest.raises(ValueError, match="max_depth"):
        draw(tree, LINE)


@given(st.lists(st.sampled_from(HOSTILE) | st.text(max_size=8), min_size=4, max_size=6, unique=True))
@settings(max_examples=30, deadline=None)
def test_no_name_can_break_out(names):
    column, target, *levels = names
    schema = Schema((Column(column, Kind.NOMINAL, (*levels, "other")),), Target(target, (levels[0], levels[1])), (column,))
    tree = _stump(len(levels) + 1)
    text = export_text(tree, schema)
    assert len(text.split("\n")) == 3
    assert len(text.splitlines()) == 3
    assert not set(text) & set("\u202e\u2028\u2066\r\x00")
    drawing = draw(tree, schema)
    for svg in (to_svg(drawing), growth_svg(drawing), *growth_frames(drawing)):
        svg.encode()
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}
        assert tags <= {"svg", "style", "rect", "g", "path", "text", "title", "animate"}
    for statement in dot(tree, schema).split("\n")[1:-1]:
        assert _outside_quotes(statement).count(";") == 1
        assert "]" not in _outside_quotes(statement)[:-2]
    assert all("\n" not in str(rule) for rule in rules(tree, schema))


def _outside_quotes(statement):
    outside, is_inside, position = "", False, 0
    while position < len(statement):
        character = statement[position]
        if character == "\\":
            position += 1
        elif character == '"':
            is_inside = not is_inside
        elif not is_inside:
            outside += character
        position += 1
    assert not is_inside
    return outside


def _stump(n_levels):
    tree = chain(1)
    fields = {name: getattr(tree, name) for name in tree.__struct_fields__}
    levels = np.array([n_levels, 0, 0], np.int32)
    groups = (np.arange(n_levels) % 2).astype(np.int32)
    return Tree(**fields | {"levels": levels, "branch_of": groups, "cut": np.full(3, np.nan)})


def test_words_show_what_cannot_be_seen():
    assert plain("a\u202eb\ud800") == "a\\u202eb\\ud800"
    assert quoted("missing") == '"missing"'
    assert quoted("Zürich 東京") == "Zürich 東京"


@pytest.mark.parametrize("seed", range(3))
def test_cards_do_not_overlap_and_parents_stand_over_their_children(seed):
    model = bt.DecisionTreeClassifier(max_depth=6).fit(*frame(seed=seed))
    drawing = draw(model.tree_, model.schema_)
    for depth in range(drawing.depth + 1):
        row = sorted((m, c.slot) for m, c in zip(drawing.middle, drawing.cards, strict=True) if c.depth == depth)
        for (left, slot), (right, other) in pairwise(row):
            assert right - left >= (slot + other) / 2
    for place in range(len(drawing.cards)):
        below = [drawing.middle[k] for k, card in enumerate(drawing.cards) if card.parent == place]
        assert not below or drawing.middle[place] == pytest.approx((below[0] + below[-1]) / 2)


def test_the_growing_picture_begins_with_the_root_and_ends_with_the_tree():
    model = bt.CHAIDClassifier().fit(*frame())
    frames = model.growth_frames()
    assert frames[-1] == model.to_svg()
    shown = [len(ElementTree.fromstring(each).findall(".//{*}title")) for each in frames]
    assert shown[0] == 1
    assert all(a < b for a, b in pairwise(shown))
    assert len(ElementTree.fromstring(model.growth_svg()).findall(".//{*}animate")) >= model.n_nodes_


def test_impurities_are_those_of_the_textbooks():
    curves = {line.get_label(): line.get_xydata() for line in bt.plot_impurities().lines}
    expected = {"error": [0, 0.2, 0.5, 0], "gini": [0, 0.32, 0.5, 0], "entropy": [0, 0.7219280949, 1, 0]}
    assert curves.keys() == expected.keys()
    for name, values in expected.items():
        proportion, impurity = curves[name][[0, 80, 200, 400]].T
        np.testing.assert_allclose(proportion, [0, 0.2, 0.5, 1])
        np.testing.assert_allclose(impurity, values)


@pytest.mark.slow
def test_plots_are_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    table, y = frame()
    table["second $number"] = np.arange(len(y)) % 17
    table["target"] = y
    model = bt.CHAIDClassifier().fit(table, "target")
    for ax in (
        model.plot(),
        bt.plot_impurities(),
        bt.plot_importances(model),
        bt.plot_regions(model, table, "number", "second $number", resolution=20),
    ):
        ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="colour"):
        bt.plot_regions(model, table, "number", "colour")
    pyplot.close("all")


def test_regions_of_a_regressor_are_its_function_or_a_map():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    frame = bt.datasets.load("penguins", as_="pandas")[
        ["bill_length_mm", "flipper_length_mm", "body_mass_g", "island"]
    ].dropna()
    model = bt.LinearRegression().fit(frame, "body_mass_g")
    ax = bt.plot_regions(model, frame, ["flipper_length_mm"], resolution=30)
    x, y = ax.lines[0].get_data()
    typical = {"bill_length_mm": frame["bill_length_mm"].median(), "island": frame["island"].mode()[0]}
    np.testing.assert_allclose(y, model.predict(pd.DataFrame({"flipper_length_mm": x, **typical})))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("flipper_length_mm", "body_mass_g")
    plane = bt.plot_regions(model, frame, ["flipper_length_mm", "bill_length_mm"], resolution=10)
    assert plane.images[0].get_array().shape == (10, 10)
    bt.plot_regions(
        bt.CARTRegressor().fit(frame, "body_mass_g"), frame, "flipper_length_mm", "bill_length_mm", resolution=10
    )
    classifier = bt.LinearDiscriminantAnalysis().fit(frame.drop(columns="body_mass_g"), "island")
    assert len(bt.plot_regions(classifier, frame, "flipper_length_mm").lines) == 3
    with pytest.raises(ValueError, match="one or two columns"):
        bt.plot_regions(model, frame, ["flipper_length_mm", "bill_length_mm", "island"])
    pyplot.close("all")
