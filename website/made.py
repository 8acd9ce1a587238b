"""What pages show that is made when the site is built: `<!-- made: NAME -->` on a page stands for what NAME gives."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

import baytree as bt
from baytree.model_selection.model_registry import CLASSIFIERS, REGRESSORS, ModelFamily
from sources import ROOT, title_of

MARK = re.compile(r"<!-- made: ([\w-]+) -->")
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def filled(text: str, site: Path) -> str:
    """A page with its marks replaced; files that a picture needs are written below the folder of all pages."""
    return MARK.sub(lambda mark: MADE[mark[1]](site), text)


def answered(text: str) -> str:
    """A page with what each `$ command` of its console blocks prints. The commands of a page share one folder."""
    with tempfile.TemporaryDirectory() as folder:
        return CONSOLE.sub(lambda block: f"```console\n{_run(block[1], folder)}```", text)


def _run(block: str, folder: str) -> str:
    own = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100", "NO_COLOR": "1"}
    told = []
    for command in (line[2:] for line in block.splitlines() if line.startswith("$ ")):
        run = subprocess.run(command, shell=True, cwd=folder, env={**os.environ, **own}, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(f"$ {command}\n{run.stdout}{run.stderr}")
        told.append(f"$ {command}\n{run.stdout}")
    return "\n".join(told)


def leaderboard(site: Path) -> str:
    """What `compare` finds for the titanic, as it prints it."""
    found = bt.compare(bt.datasets.load("titanic"), "survived")
    (site / "shown").mkdir(exist_ok=True)
    found.report(site / "shown" / "titanic.html")
    return f"```text\n{found}\n```\n\n[The page of this comparison](shown/titanic.html) opens each of these models."


def page(site: Path) -> str:
    """The page of a tree of the penguins, whole, in a frame."""
    penguins = bt.datasets.load("penguins")
    (site / "shown").mkdir(exist_ok=True)
    bt.CARTClassifier().fit(penguins, "species").report(penguins, site / "shown" / "penguins.html")
    return '<iframe src="shown/penguins.html" title="The page of a tree of the penguins" width="100%" height="720"></iframe>'


def decisions(_: Path) -> str:
    """The decision pages by number."""
    pages = sorted(path for path in (ROOT / "docs/decisions").glob("*.md") if path.name != "index.md")
    return "\n".join(f"- [{path.name[:4]}: {title_of(path.read_text())}]({path.name})" for path in pages)


def models() -> str:
    """The table of `docs/choosing.md`: the models that `compare` includes, and those that it includes by name only."""
    rows = ["| target | takes part | if named with `--models` |", "|---|---|---|"]
    for target, families in {"classes": CLASSIFIERS, "numbers": REGRESSORS}.items():
        cells = [_names(families, competes) for competes in (True, False)]
        rows.append(f"| {target} | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


def _names(families: Mapping[str, ModelFamily], competes: bool) -> str:
    return "; ".join(f"{family.name} (`{short}`)" for short, family in families.items() if family.competes == competes)


def speed() -> str:
    """The page of speeds, from the stored results."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import records

    return records.page(json.loads(records.RESULTS.read_text()))


def reliability() -> str:
    """The page of promises, from the stored results."""
    sys.path.insert(0, str(ROOT / "reliability"))
    import figure

    return figure.table(json.loads(figure.RESULTS.read_text()))


MADE: dict[str, Callable[[Path], str]] = {"leaderboard": leaderboard, "page": page, "decisions": decisions}
# Pages whose text is made as a whole, by their place in the repository.
WHOLE = {PurePosixPath("benchmarks/RESULTS.md"): speed, PurePosixPath("reliability/RESULTS.md"): reliability}
