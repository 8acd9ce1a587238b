"""The size of a model is what a person reads: conditions and the levels in them, weights, terms."""

from __future__ import annotations

import numpy as np
import pytest

import baytree as bt
from baytree.comparison.size import Size

MANY = [f"shop {k}" for k in range(100)]


def shops() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    code, effect = rng.integers(0, 100, 3000), rng.normal(size=100)
    return {"shop": np.array(MANY)[code], "x": rng.normal(size=3000), "y": np.where(effect[code] > 0, "yes", "no")}


def test_rules_of_many_levels_are_not_one_thing():
    rules = Size.of(bt.C50Classifier(rules=True).fit(shops(), "y"))
    assert rules.numbers > 90
    assert "levels" in rules.words


def test_a_tree_of_numbers_counts_its_nodes():
    tree = bt.CARTClassifier().fit(bt.datasets.load("iris"), "species")
    assert Size.of(tree) == (tree.n_nodes_, f"{tree.n_leaves_} leaves")


def test_weights_that_are_zero_are_not_read():
    iris = bt.datasets.load("penguins").dropna()
    full = Size.of(bt.LogisticRegression(penalty="l2").fit(iris, "sex"))
    sparse = Size.of(bt.LogisticRegression(penalty="l1", C=0.02).fit(iris, "sex"))
    assert sparse.numbers < full.numbers
    assert sparse.words == f"{sparse.numbers} weights"


def test_text_names_a_long_list_of_levels_by_its_length():
    tree = bt.CARTClassifier().fit(shops(), "y")
    groups = [len(group) for group in tree.nodes()[0]["groups"]]
    for text in (str(tree), tree.to_dot(), tree.to_svg(), "\n".join(map(str, tree.rules()))):
        assert all(f"{n} levels" in text for n in groups)
        assert len(text) < 8000
    assert all(f"+{n - 4}" in str(tree) or f"+{n - 5}" in str(tree) for n in groups)


def test_files_and_exports_name_every_level(tmp_path):
    tree = bt.CARTClassifier().fit(shops(), "y")
    tree.rules().rules[0].to_dict()
    assert {name for rule in tree.rules() for test in rule.to_dict()["tests"] for name in test["levels"]} == {*MANY}
    bt.save(tree, tmp_path / "m.baytree")
    for text in (
        (tmp_path / "m.baytree").read_text(),
        tree.export("sql"),
        tree.export("python"),
        tree.export_text(max_levels=None),
    ):
        assert all(name in text for name in MANY)


def test_the_page_draws_long_lists_shortened(tmp_path):
    tree = bt.CARTClassifier().fit(shops(), "y")
    page = tree.report(path=tmp_path / "page.html").read_text()
    groups = [len(group) for group in tree.nodes()[0]["groups"]]
    assert all(f"{n} levels: shop" in page for n in groups)


@pytest.mark.parametrize("n", [12, 13])
def test_twelve_levels_are_listed_and_thirteen_are_counted(n):
    rows = {"a": [f"l{k}" for k in range(2 * n)] * 9, "y": (["no"] * n + ["yes"] * n) * 9}
    assert ("13 levels: l" in str(bt.CARTClassifier().fit(rows, "y"))) == (n == 13)
