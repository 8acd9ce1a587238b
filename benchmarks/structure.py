"""Size and shape of the source, to see whether it stays easy to find one's way in.

`python benchmarks/structure.py [FOLDER]` prints the sizes of the source in this checkout, or in another one, and the number
of modules that take part in three calls of the installed library: those of which a function runs during the call.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import baytree as bt
from baytree import datasets
from baytree.cli import main as command_line

SMALL = 100  # lines


def sizes(source: Path) -> dict[str, int]:
    """Numbers of files and lines; lines of Python without docstrings."""
    modules = [path for path in sorted((source / "baytree").rglob("*.py")) if path.name != "__init__.py"]
    packages = sorted((source / "baytree").rglob("__init__.py"))
    core = [path for path in sorted((source / "core").rglob("*")) if path.suffix in (".hpp", ".cpp")]
    trees = [ast.parse(path.read_text()) for path in [*modules, *packages]]
    classes = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    n_lines = sum(n_lines_of(path) for path in [*modules, *packages])
    return {
        "Python modules, without __init__": len(modules),
        f"of fewer than {SMALL} lines": sum(n_lines_of(path) < SMALL for path in modules),
        "lines of Python, without docstrings": n_lines - sum(map(docstring_lines, trees)),
        "lines of docstrings": sum(map(docstring_lines, trees)),
        "files of the C++ core": len(core),
        "lines of the C++ core": sum(map(n_lines_of, core)),
        "class names with several definitions": sum(n > 1 for n in classes.values()),
    }


def n_lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())


def docstring_lines(tree: ast.Module) -> int:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node) is not None]
    return sum((body[0].end_lineno or 0) - body[0].lineno + 1 for body in bodies)


def modules_in(call: Callable[[], object]) -> int:
    """The number of modules of which a function runs during the call, on any thread."""
    files = set()

    def note(frame, event, _):
        if event == "call" and "/baytree/" in frame.f_code.co_filename and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(files)


def calls() -> dict[str, int]:
    """Modules that take part in three calls on the titanic table."""
    table, target = datasets.load("titanic", as_="polars"), datasets.describe("titanic").target
    model = bt.CARTClassifier().fit(table, target)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "titanic.csv"))
        table.write_csv(path)
        compare = ["compare", path, "-t", target, "--no-save", "-m", "cart,nb,logistic"]
        return {
            "modules in fit and predict of CART": modules_in(lambda: bt.CARTClassifier().fit(table, target).predict(table)),
            "modules in an SQL export of CART": modules_in(lambda: model.export("sql")),
            "modules in a comparison by command line": modules_in(lambda: command_line(compare, standalone_mode=False)),
        }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    for name, number in (sizes(root / "src") | calls()).items():
        print(f"{name:42s} {number:>8,}")
