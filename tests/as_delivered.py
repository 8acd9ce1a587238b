"""Run the code of a page or an example with nothing installed but `baytree[all]`, as after `make demo`.

python tests/as_delivered.py PAGE.md        # its ```python blocks in one namespace, or its ```pycon blocks as doctests
python tests/as_delivered.py EXAMPLE.py     # the whole program

Modules of all other distributions, such as those of the test group, cannot be imported.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from importlib.abc import MetaPathFinder
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def requirements(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    """Yield what a distribution requires on this machine, with these extras."""
    for line in metadata.requires(name) or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def closure(name: str, extra: str) -> set[str]:
    """Return the canonical names of all distributions that an installation of `name[extra]` brings."""
    visited, pending = set(), [(name, frozenset({extra}))]
    while pending:
        current = pending.pop()
        if current in visited:
            continue
        visited.add(current)
        pending += [(canonicalize_name(each.name), frozenset(each.extras)) for each in requirements(*current)]
    return {canonicalize_name(found) for found, _ in visited}


class OnlyInstalled(MetaPathFinder):
    """Finder that refuses modules of all distributions but these."""

    def __init__(self, distributions: set[str]):
        self.distributions = distributions
        self.owners: Mapping[str, Sequence[str]] = metadata.packages_distributions()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        owners = {canonicalize_name(owner) for owner in self.owners.get(name.partition(".")[0], ())}
        if owners and not owners & self.distributions:
            raise ModuleNotFoundError(f"{name} is not part of baytree[all]", name=name)


def run(path: Path) -> str:
    """Run a page or an example; return what a page shows that does not happen, or an empty string."""
    if path.suffix == ".py":
        runpy.run_path(str(path), run_name="__main__")
        return ""
    import lessons

    text, names = path.read_text(), {}
    for block in PYTHON_BLOCK.findall(text):
        exec(compile(block, str(path), "exec"), names)
    return lessons.failures(text, path.name) if lessons.BLOCK.search(text) else ""


def result_of(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a page or an example in a process of its own, in this folder."""
    (folder / "images").mkdir(exist_ok=True)
    command = [sys.executable, "-W", "ignore", __file__, str(path)]
    return subprocess.run(command, cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "website"))
    sys.meta_path.insert(0, OnlyInstalled(closure("baytree", "all")))
    found = run(Path(sys.argv[1]).absolute())
    print(found)
    sys.exit(bool(found))
