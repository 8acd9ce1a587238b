"""What has changed from one model to another, as a person meets it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import baytree as bt
from baytree.cli.main import main
from baytree.model_diff.facts import FACTS
from baytree.model_diff.flips import Flips
from baytree.summary import Summary
from baytree.summary.tree import BayesTreeSummary, TreeSummary, TrialsSummary


@pytest.fixture(scope="module")
def penguins() -> pd.DataFrame:
    return bt.datasets.load("penguins")


@pytest.fixture(scope="module")
def tree(penguins):
    return bt.CARTClassifier().fit(penguins, "species")


def test_every_kind_of_summary_can_be_compared():
    assert {*FACTS, TreeSummary, TrialsSummary, BayesTreeSummary} == set(Summary.__args__)


def test_the_schema_tells_columns_levels_classes_and_kinds(penguins, tree):
    others = penguins[penguins.species != "Gentoo"].drop(columns="sex").assign(wing=1.5)
    others["year"] = others["year"].astype(str)
    new = bt.CARTClassifier(schema={"island": ["Torgersen", "Dream", "Biscoe", "Elsewhere"]}).fit(others, "species")
    found = {(change.place, change.what): (change.old, change.new) for change in bt.diff(tree, new).schema}
    assert found["sex", "column"] == ("nominal", None)
    assert found["wing", "column"] == (None, "numeric")
    assert found["target", "class"] == ("Gentoo", None)
    assert found["island", "kind"] == ("nominal", "ordinal")


def test_levels_that_only_one_model_knows_are_told(penguins):
    old = bt.NaiveBayesClassifier().fit(penguins[penguins.island != "Dream"], "species")
    new = bt.NaiveBayesClassifier().fit(penguins[penguins.island != "Biscoe"], "species")
    found = [(change.old, change.new) for change in bt.diff(old, new).schema if change.place == "island"]
    assert found == [("Biscoe", None), (None, "Dream")]


def test_declared_levels_in_another_order_are_told():
    rows = {"size": ["S", "M", "L", "M"] * 5, "y": ["a", "b", "b", "a"] * 5}
    old, new = (bt.CARTClassifier(schema={"size": order}).fit(rows, "y") for order in (["S", "M", "L"], ["L", "M", "S"]))
    assert [(c.what, c.old, c.new) for c in bt.diff(old, new).schema] == [("order of levels", "S < M < L", "L < M < S")]


def test_a_moved_cut_is_one_change_and_what_lies_below_is_compared(penguins):
    old = bt.DecisionTreeClassifier(max_depth=2).fit(penguins, "species")
    moved = penguins.assign(flipper_length_mm=penguins.flipper_length_mm + 2)
    found = bt.diff(old, bt.DecisionTreeClassifier(max_depth=2).fit(moved, "species")).model
    assert [(change.what, change.old, change.new) for change in found] == [
        ("test", "flipper_length_mm: ≤ 206.5 or missing | > 206.5", "flipper_length_mm: ≤ 208.5 or missing | > 208.5")
    ]


def test_cuts_that_look_the_same_are_told_with_every_digit():
    rows = {"x": [0.1, 0.2, 0.3, 0.4] * 5, "y": ["a", "a", "b", "b"] * 5}
    near = {"x": [0.1, 0.2, 0.3 + 2e-9, 0.4] * 5, "y": rows["y"]}
    (change,) = bt.diff(*(bt.DecisionTreeClassifier().fit(each, "y") for each in (rows, near))).model
    assert change.old == "x: cut at 0.25"
    assert change.new == f"x: cut at {(0.2 + (0.3 + 2e-9)) / 2!r}"


def test_a_pruned_node_is_told_with_its_way_and_its_leaves(tree):
    (asks, answers, share) = bt.diff(tree, tree.snip(1)).model
    assert asks.old_where == asks.new_where == "node 1: flipper_length_mm < 206.5"
    assert asks.old.endswith("(2 leaves)")
    assert asks.new is None
    assert (answers.old, answers.new) == (None, "Adelie")
    assert share.new == tree.snip(1).tree_.value[1, 0]
    assert asks.size == pytest.approx(tree.nodes()[1]["n"] / tree.nodes()[0]["n"])


def test_the_largest_changes_of_coefficients_come_first(penguins):
    old = bt.LogisticRegression(C=1.0).fit(penguins, "species")
    found = bt.diff(old, bt.LogisticRegression(C=0.1).fit(penguins, "species")).model
    sizes = [change.size for change in found]
    assert sizes == sorted(sizes, reverse=True)
    estimates = {(line.feature, str(line.label)): line.estimate for line in old.model_.summary(old.schema_).coefficients}
    assert all(estimates[change.place, change.what] == change.old for change in found)


def test_a_row_flips_through_the_column_that_alone_was_changed(penguins):
    complete = penguins.dropna()
    old = bt.NaiveBayesClassifier().fit(complete, "species")
    shuffled = complete.assign(flipper_length_mm=complete.flipper_length_mm.to_numpy()[::-1])
    new = bt.NaiveBayesClassifier().fit(shuffled, "species")
    flips = bt.diff(old, new, complete).rows
    assert flips.n_flipped > 0
    assert {flip.column for flip in flips.flipped} == {"flipper_length_mm"}


def test_a_change_of_the_prior_flips_rows_through_no_column(penguins):
    priors = None, [1e-9, 1 - 2e-9, 1e-9]
    old, new = (bt.NaiveBayesClassifier(class_prior=prior).fit(penguins, "species") for prior in priors)
    flips = bt.diff(old, new, penguins).rows
    assert flips.n_flipped > 0
    assert {flip.column for flip in flips.flipped} == {None}
    assert "the start" in str(bt.diff(old, new, penguins))


def test_weights_alone_are_told_to_differ_without_a_change(penguins):
    tables = penguins, pd.concat([penguins, penguins])
    once, twice = (bt.DecisionTreeClassifier(max_depth=2).fit(rows, "species") for rows in tables)
    found = bt.diff(once, twice, penguins)
    assert (found.schema, found.model, found.rows.flipped) == ((), (), ())
    assert found.has_hidden_changes
    assert not found.is_empty
    assert "numbers that their summaries do not show" in str(found)


def test_numbers_and_classes_are_compared_without_a_frame_only(penguins, tree):
    numbers = bt.CARTRegressor().fit(penguins.dropna(), "body_mass_g")
    assert ("target", "kind") in {(change.place, change.what) for change in bt.diff(tree, numbers).schema}
    with pytest.raises(ValueError, match="the old model predicts classes, the new one numbers"):
        bt.diff(tree, numbers, penguins)


def test_classes_that_are_numbers_are_told_as_classes():
    rows = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "y": [0.0, 0.0, 1.0, 1.0] * 5}
    tree = bt.DecisionTreeClassifier().fit(rows, "y")
    flips = bt.diff(tree, tree.snip(0), rows).rows
    assert not flips.are_numbers
    assert {(flip.old, flip.new) for flip in flips.flipped} == {(1.0, 0.0)}
    assert "a number" not in str(bt.diff(tree, tree.snip(0), rows))


def test_no_row_has_no_flip(penguins, tree):
    assert bt.diff(tree, tree.snip(0), penguins[:0]).rows == Flips()


def test_the_frame_library_does_not_matter(penguins, tree):
    here, there = (bt.diff(tree, tree.snip(1), frame).to_dict() for frame in (penguins, pl.from_pandas(penguins)))
    assert here == there


def test_a_chain_of_many_nodes_is_compared_without_recursion():
    x = np.arange(3000.0)
    old = bt.DecisionTreeClassifier().fit({"x": x}, (x % 2).astype(int))
    assert old.depth_ > 1000 or old.n_nodes_ > 2000
    assert bt.diff(old, old.snip(0)).model[0].new is None
    assert bt.diff(old, old).is_empty


def test_the_text_names_what_has_changed_and_the_page_shows_no_markup_of_its_own(penguins):
    named = penguins.rename(columns={"body_mass_g": "<b>mass</b>"})
    old = bt.NaiveBayesClassifier().fit(named, "species")
    found = bt.diff(old, bt.NaiveBayesClassifier().fit(named[::2], "species"), named)
    assert "mean of <b>mass</b>" in str(found)
    page = found._repr_html_()
    assert "<b>" not in page
    assert "mean of &lt;b&gt;mass" in page


def test_the_plain_values_are_json_also_where_numbers_are_not_finite():
    rows = {"a": ["p", "q", "p", "q"], "y": ["u", "v", "u", "v"]}
    old, new = (bt.NaiveBayesClassifier(estimate="mle").fit({**rows, "a": a}, "y") for a in (rows["a"], rows["a"][::-1]))
    found = bt.diff(old, new, rows)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()
    assert found.rows.n_flipped == 4


# the command line


def run(*words: object) -> str:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def files(tree, tmp_path) -> tuple[Path, Path]:
    bt.save(tree, tmp_path / "old.baytree")
    bt.save(tree.snip(1), tmp_path / "new.baytree")
    return tmp_path / "old.baytree", tmp_path / "new.baytree"


def test_the_command_prints_what_python_prints(files, tree, penguins):
    assert run("diff", *files).strip() == str(bt.diff(tree, tree.snip(1)))
    assert run("diff", *files, "penguins").strip() == str(bt.diff(tree, tree.snip(1), penguins))


def test_the_command_writes_json(files, tree, penguins):
    assert json.loads(run("diff", *files, "penguins", "--json")) == bt.diff(tree, tree.snip(1), penguins).to_dict()


def test_the_command_writes_the_page_that_python_writes(files, tree, penguins, tmp_path):
    run("diff", *files, "penguins", "-o", tmp_path / "page.html")
    python = bt.diff(tree, tree.snip(1), penguins).report(tmp_path / "python.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == python.read_text(encoding="utf-8")


def test_a_table_may_lack_no_column_that_either_model_needs(files, penguins, tmp_path):
    penguins.drop(columns="flipper_length_mm").to_csv(tmp_path / "t.csv", index=False)
    result = CliRunner().invoke(main, ["diff", *map(str, files), str(tmp_path / "t.csv")])
    assert result.exit_code == 2
    assert "flipper_length_mm" in result.output


def test_each_model_finds_the_columns_that_only_it_knows(penguins, tmp_path):
    for name, columns in (("a", ["bill_length_mm", "island"]), ("b", ["sex", "flipper_length_mm"])):
        bt.save(bt.NaiveBayesClassifier().fit(penguins[[*columns, "species"]], "species"), tmp_path / f"{name}.baytree")
    old, new = (bt.load(tmp_path / f"{name}.baytree") for name in "ab")
    told = json.loads(run("diff", tmp_path / "a.baytree", tmp_path / "b.baytree", "penguins", "--json"))
    assert len(told["rows"]["flipped"]) == (old.predict(penguins) != new.predict(penguins)).sum()
