"""Imports point down: each room may know the rooms below it, and only those."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "baytree"
# From the ground up; a room may import what stands before it, and itself.
LEVELS = [
    {"_core", "terminal"},
    {"table", "results", "charts"},
    {"parts"},
    {"frames", "statistics"},
    {"bags", "documents"},
    {"text"},
    {"census", "model", "outliers", "splits"},
    {"labels", "door"},
    {"predictor"},
    {"estimator", "storage"},
    {"bayes", "tree", "linear", "discretize", "problem"},
    {"evaluate", "export"},
    {"select", "plots"},
    {"comparison", "confusion", "datasets", "files", "residuals"},
    {"streams"},
    {"cli"},
]
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """The rooms that a file imports when it is loaded (imports inside functions are free)."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            inside = path.relative_to(SOURCE).parts[:-1]
            parts = (node.module or "").split(".") if node.module else []
            if node.level:
                base = list(inside[: len(inside) - node.level + 1]) if node.level <= len(inside) + 1 else []
                whole = base + parts
            elif parts[:1] == ["baytree"]:
                whole = parts[1:]
            else:
                continue
            found |= {whole[0]} if whole else {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_what_stands_below_it(path):
    room = room_of(path)
    if room == "__init__":
        return
    assert room in LEVEL_OF, f"{room} has no place in the list of rooms"
    for other in imported_rooms(path) - {room, "__init__"}:
        assert LEVEL_OF[other] < LEVEL_OF[room], f"{room} imports {other}"
