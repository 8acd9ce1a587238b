"""The gallery: each example of `examples/` that draws a picture, run when the site is built."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from sources import ROOT

EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if f'"{path.stem}.svg"' in path.read_text())
INTRODUCTION = "Short programs on tables that come with the package. Each stands in `examples/` and is run by the tests."


def page(pages: Path) -> str:
    """The page of all examples; their pictures are written below the folder of all pages."""
    folder = pages / "gallery"
    folder.mkdir()
    lines, drawing = ["# Gallery", "", INTRODUCTION], {**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "ignore"}
    for path in EXAMPLES:
        subprocess.run([sys.executable, path], cwd=folder, env=drawing, check=True, stdout=subprocess.DEVNULL)
        lines += ["", *_shown(path)]
    return "\n".join([*lines, ""])


def _shown(path: Path) -> list[str]:
    text = path.read_text()
    said = ast.get_docstring(ast.parse(text)) or ""
    code = text.split('"""', 2)[2].strip()
    title = path.stem.replace("_", " ").capitalize()
    return [f"## {title}", "", said, "", f"![{title}](gallery/{path.stem}.svg)", "", "```python", code, "```"]
