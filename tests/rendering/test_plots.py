"""Matplotlib is known in one folder, and imported only when something is drawn."""

import ast
from pathlib import Path

import pytest

import baytree as bt

SOURCE = Path(__file__).parents[2] / "src" / "baytree"


def drawing_imports(path):
    """Every import of matplotlib that runs, and whether it stands inside a function."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text if "matplotlib" in text else "")
    inside = {id(node) for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) for node in ast.walk(each)}
    checked = {id(node) for each in ast.walk(tree) if isinstance(each, ast.If) for node in ast.walk(each)}
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(name.split(".")[0] == "matplotlib" for name in names) and id(node) not in checked:
            yield id(node) in inside


def test_only_show_imports_matplotlib_and_only_inside_functions():
    found = {path: list(drawing_imports(path)) for path in SOURCE.rglob("*.py")}
    assert [path for path, inside in found.items() if not all(inside)] == []
    assert {path.parent for path, inside in found.items() if inside} == {SOURCE / "rendering" / "plots"}


@pytest.mark.slow
def test_a_column_of_naive_bayes_is_drawn_by_its_kind():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    model = bt.NaiveBayesClassifier().fit(bt.datasets.load("penguins"), "species")
    curves, bars = model.plot("body_mass_g"), model.plot("island")
    assert [len(curves.lines), curves.get_ylabel()] == [3, "density"]
    assert [len(bars.patches), bars.get_ylabel()] == [9, "probability"]
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("kind", [bt.LinearDiscriminantAnalysis, bt.QuadraticDiscriminantAnalysis])
@pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")
def test_a_discriminant_finds_its_target_in_the_frame_and_keeps_its_legend_off_the_points(kind):
    penguins = bt.datasets.load("penguins")
    ax = kind().fit(penguins, "species").plot(penguins)
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()][:3] == ["Adelie", "Chinstrap", "Gentoo"]
    ax.figure.canvas.draw()
    assert legend.get_window_extent().x0 >= ax.get_window_extent().x1 - 1


def test_the_path_of_pruning_is_drawn_with_its_errors():
    penguins = bt.datasets.load("penguins")
    path = bt.CARTClassifier().cost_complexity_path(penguins, "species")
    alone = bt.CARTClassifier().fit(penguins, "species").cost_complexity_path()
    first, second = ([text.get_text() for text in each.plot().get_legend().get_texts()] for each in (path, alone))
    assert "cross-validated" in first
    assert "cross-validated" not in second
