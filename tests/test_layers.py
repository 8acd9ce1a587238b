"""Imports point down: a package may import the packages of the layers below it, and those alone."""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "baytree"
LAYERS = [  # from the bottom up; a package may import what stands before its layer, and itself
    {"_core", "_typing", "_warnings", "_registry", "version"},
    {"file_io"},
    {"display", "parallel", "summary"},
    {"data.parsing"},
    {"data.schema"},
    {"data.frames"},
    {"data.inference"},
    {"data.encoding"},
    {"data.files"},
    {"data"},
    {"param_synonyms"},
    {"statistics", "formula", "param_validation", "datasets", "rendering.page"},
    {"rendering"},
    {"rendering.plots"},
    {"engine", "uncertainty"},
    {"folds", "base", "binning", "linear.design"},
    {
        "tree.model",
        "linear",
        "naive_bayes.events",
        "additive",
        "interview",
        "model_diff",
        "exporters.imperative",
        "exporters.python",
        "exporters.sql",
        "exporters.onnx",
        "exporters.pmml",
        "exporters.xlsx",
    },
    {
        "exporters.c",
        "exporters.javascript",
        "linear.scatter",
        "tree.policy",
        "tree.rules",
        "naive_bayes",
        "drift_detection",
        "scorecard",
    },
    {"exporters"},
    {"metrics"},
    {
        "linear.logistic",
        "linear.discriminant",
        "linear.regression",
        "linear.mars",
        "tree.pruning",
        "tree.inspection",
        "reporting",
    },
    {"tree.search", "tree.optimal", "tree.streaming"},
    {"tree.search.counted", "tree.search.oblique", "tree.boosting"},
    {"tree.growing"},
    {"tree.growing.remote"},
    {"tree"},
    {"hybrid"},
    {"estimators"},
    {"estimators.naive_bayes", "estimators.linear", "estimators.tree"},
    {"estimators.additive"},
    {"sklearn", "storage", "metrics.rejection_curve"},
    {"sklearn.conversion", "model_selection"},
    {"feature_selection", "conformal_prediction", "streaming", "serve", "mlflow"},
    {"auditing"},
    {"comparison"},
    {"cli"},
]
LAYER_OF = {package: layer for layer, packages in enumerate(LAYERS) for package in packages}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def package_of(module: str) -> str:
    """Return the longest prefix of a module's name that has a layer."""
    parts = module.split(".")
    prefixes = (".".join(parts[:k]) for k in range(len(parts), 0, -1))
    return next((name for name in prefixes if name in LAYER_OF), parts[0])


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path: Path) -> Iterator[str]:
    """Yield every baytree module that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "baytree")
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name}: write absolute imports, as in `from baytree.base.model import Model`"
            if (node.module or "").split(".")[0] == "baytree":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_above(path: Path, module: str) -> bool:
    """Whether a file may not import a module. No file may import the whole library."""
    package, other = package_of(module_of(path)), package_of(module.removeprefix("baytree."))
    return module == "baytree" or (other != package and LAYER_OF[other] >= LAYER_OF[package])


def package_imports() -> dict[str, set[str]]:
    """Return the packages that each package imports."""
    graph: dict[str, set[str]] = {}
    for path in FILES:
        package = package_of(module_of(path))
        imported = {package_of(module.removeprefix("baytree.")) for module in imported_modules(path)}
        graph.setdefault(package, set()).update(imported - {package})
    return graph


def test_every_module_belongs_to_a_layer():
    assert {package_of(module_of(path)) for path in FILES} - LAYER_OF.keys() == set()


def test_every_package_of_the_layers_exists():
    packages = {package_of(module_of(path)) for path in FILES}
    assert LAYER_OF.keys() - packages == {"_core"}


def test_a_package_imports_only_packages_of_lower_layers():
    assert [
        f"{module_of(path)} imports {module}"
        for path in FILES
        for module in imported_modules(path)
        if is_above(path, module)
    ] == []


def test_packages_do_not_import_each_other_in_circles():
    graph, left = package_imports(), set(package_imports())
    while removable := {package for package in left if not graph.get(package, set()) & left}:
        left -= removable
    assert left == set()


def test_modules_do_not_import_each_other_in_circles_when_they_are_loaded():
    modules = {f"baytree.{module_of(path)}": path for path in FILES}
    graph = {name: set(loaded_modules(path, modules)) - {name} for name, path in modules.items()}
    left = set(graph)
    while removable := {name for name in left if not graph[name] & left}:
        left -= removable
    assert left == set()


def loaded_modules(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules that are imported when a file is loaded: not under TYPE_CHECKING, not inside functions."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield from (each for each in (name if name in modules else node.module,) if each in modules)


def test_the_tree_model_does_not_import_how_trees_are_grown_or_shown():
    upper = ("baytree.tree.inspection", "baytree.tree.search", "baytree.tree.growing", "baytree.tree.pruning")
    files = [path for path in FILES if module_of(path).startswith("tree.model")]
    assert files
    assert [
        f"{path.stem} imports {name}" for path in files for name in imported_modules(path) if name.startswith(upper)
    ] == []


TESTS = ROOT / "tests"
MAX_DEEP_FILES = 15


def is_module(name: str) -> bool:
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def deep_modules(path: Path) -> Iterator[str]:
    """Yield the modules three or more levels below baytree that a test imports, or names in a string."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = re.findall(r"\bbaytree(?:\.\w+){3,}", node.value)
        for name in names:
            parts = name.split(".")
            while parts and not is_module(".".join(parts)):
                parts.pop()
            if parts[:1] == ["baytree"] and len(parts) > 3:
                yield ".".join(parts)


def test_tests_import_deep_modules_only_in_the_folder_of_their_package():
    deep = {path.relative_to(TESTS): set(deep_modules(path)) for path in sorted(TESTS.rglob("*.py"))}
    deep = {path: modules for path, modules in deep.items() if modules}
    assert deep
    assert [
        f"{path} imports {module}: import the package, or bt"
        for path, modules in deep.items()
        for module in sorted(modules)
        if module.split(".")[1] != path.parts[0]
    ] == []
    assert len(deep) <= MAX_DEEP_FILES, "test through the public interface or that of a package"


ARCHITECTURE = ROOT / "docs" / "how-it-works.md"


def test_the_architecture_page_names_files_that_exist():
    named = re.findall(r"`([a-z0-9_]+(?:/[a-z0-9_*]+)*(?:/|\.(?:py|hpp|cpp)))`", ARCHITECTURE.read_text())
    assert len(named) > 30
    assert [path for path in named if not (ROOT / path).exists() and not any(SOURCE.rglob(path))] == []


def test_the_architecture_page_shows_every_package():
    text = ARCHITECTURE.read_text()
    table = text[text.index("## Layers") : text.index("## Where to put code")]
    shown = {name.strip("/").replace("/", ".") for name in re.findall(r"`([a-z_/.]+)`", table)}
    assert set(LAYER_OF) - shown - {"_core"} == set()


FOLDERS = ("benchmarks", "reliability", "release", "website")
SCRIPTS = [path for name in FOLDERS for path in sorted((ROOT / name).glob("*.py"))]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_script_imports_what_the_library_has(script):
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "baytree":
            try:
                module = importlib.import_module(node.module)
            except ModuleNotFoundError as error:
                if (error.name or "").startswith("baytree"):
                    raise
                pytest.skip(f"{error.name} is not installed")
            missing = [alias.name for alias in node.names if not hasattr(module, alias.name)]
            assert [name for name in missing if find_spec(f"{node.module}.{name}") is None] == []
