"""Where exports run: each runner takes a source and raw rows, and gives the predictions and the probabilities."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

Answers = tuple[list, np.ndarray | None]

NODE = """const m = require("./model.js"), fs = require("fs");
const rows = JSON.parse(fs.readFileSync("rows.json", "utf8"));
fs.writeFileSync("out.json", JSON.stringify(rows.map((r) => [m.predict(r), m.predictProba ? m.predictProba(r) : null])));
"""


def javascript(source: str, rows: Sequence[dict], classes: list[str] | None, folder: Path) -> Answers:
    """By node, from a file."""
    (folder / "model.js").write_text(source, encoding="ascii")
    (folder / "run.js").write_text(NODE)
    (folder / "rows.json").write_text(json.dumps(rows, default=datetime.isoformat))
    subprocess.run(["node", "run.js"], cwd=folder, check=True, capture_output=True)
    answers = json.loads((folder / "out.json").read_text("utf-8"))
    predicted = [chosen for chosen, _ in answers]
    return predicted, None if classes is None else np.array([[p[c] for c in classes] for _, p in answers])


RUNNERS: dict[str, Callable[[str, Sequence[dict], list[str] | None, Path], Answers]] = {"javascript": javascript}
NEEDS = {"javascript": "node"}
