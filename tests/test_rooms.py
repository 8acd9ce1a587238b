"""Imports point down: each room may know the rooms below it, and only those."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "baytree"
# From the ground up; a room may import what stands before it, and itself. A file may stand lower than its room.
LEVELS = [
    {"_core", "given", "homes", "notices", "summary", "show.terminal", "temporary_files", "version"},
    {"show.notebook", "atomic_files"},
    {"engine.threads"},
    {"engine.blas"},
    {"table"},
    {"statistics", "formula"},
    {"engine"},
    {"settings", "folds", "show"},
    {"limits"},
    {"model"},
    {"learner"},
    {"predictor"},
    {"labelled"},
    {"interview"},
    {"diffs", "drifts"},
    {"bayes", "tree", "linear"},
    {"hybrid"},
    {"exports"},
    {"reports"},
    {"estimators"},
    {"sklearn"},
    {"storage"},
    {"choose"},
    {"datasets", "streams", "serve"},
    {"cli"},
]
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(module: str) -> str:
    """The longest beginning of a module's name that has a place in the list."""
    parts = module.split(".")
    names = (".".join(parts[:k]) for k in range(len(parts), 0, -1))
    return next((name for name in names if name in LEVEL_OF), parts[0])


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def imported_modules(path: Path) -> Iterator[str]:
    """Every module of this library that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "baytree")
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name}: imports are written in full, as in `from baytree.model import Model`"
            if (node.module or "").split(".")[0] == "baytree":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_file_stands_in_a_room():
    assert {room_of(module_of(path)) for path in FILES} - LEVEL_OF.keys() == set()


def test_a_room_imports_only_what_stands_below_it():
    assert [
        f"{module_of(path)} imports {module}"
        for path in FILES
        for module in imported_modules(path)
        if is_above(path, module)
    ] == []


def is_above(path: Path, module: str) -> bool:
    """Whether a file may not know a module; nobody may import the whole library, a file names the room that it needs."""
    room, other = room_of(module_of(path)), room_of(module.removeprefix("baytree."))
    return module == "baytree" or (other != room and LEVEL_OF[other] >= LEVEL_OF[room])


DRAWING = ROOT / "docs" / "how-it-works.md"


def test_the_drawing_of_the_house_names_what_is_there():
    named = re.findall(r"`([a-z0-9_]+(?:/[a-z0-9_*]+)*(?:/|\.(?:py|hpp|cpp)))`", DRAWING.read_text())
    assert len(named) > 30
    assert [path for path in named if not (ROOT / path).exists() and not any(SOURCE.rglob(path))] == []


def test_every_room_is_in_the_drawing():
    table = re.search(r"## The house.*?## Where", DRAWING.read_text(), re.DOTALL)[0]
    drawn = {name.strip("/").replace("/", ".") for name in re.findall(r"`([a-z_/]+)`", table)}
    assert {room for level in LEVELS for room in level} - drawn == {"_core", "version"}


def test_what_a_tree_is_knows_nothing_of_how_it_is_shown_or_grown():
    readers = ("baytree.tree.view", "baytree.tree.grow", "baytree.tree.prune")
    files = [path for path in FILES if module_of(path).startswith("tree.model.")]
    assert files
    assert [
        f"{path.stem} imports {name}" for path in files for name in imported_modules(path) if name.startswith(readers)
    ] == []
