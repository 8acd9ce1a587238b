"""H3: exported programs of models whose names try to become code, compiled, run and compared with predict."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "exporters"))

from database_servers import DATABASES  # noqa: E402
from export_compared import difference_of  # noqa: E402
from export_runners import NEEDS, RUNNERS, Answers  # noqa: E402
from hostile_names import ESTIMATORS, N_NAMES, drawn, pieces_for  # noqa: E402

import baytree as bt  # noqa: E402
from figure import Figure, Scope  # noqa: E402

N_FULL = 10_000  # names in each language
Run = Callable[[Any, Sequence[dict], list[str] | None], Answers]
PROMISE = "no name becomes code: programs with random names of columns, levels and classes answer like predict"


def hostile(scope: Scope) -> Iterator[Figure]:
    """Quotes, line ends, ends of comments and statements, backslashes, control characters, in every language."""
    for target in ("python", *sorted(RUNNERS.keys() - {"sql"}), *DATABASES):  # SQL in each database
        if (need := NEEDS.get(target)) and not shutil.which(need):
            continue
        with tempfile.TemporaryDirectory(prefix="baytree") as folder, _runner(target, Path(folder)) as run:
            yield _tried(target, run, scope)


CHECKS = {"H3": hostile}


def _tried(target: str, run: Run, scope: Scope) -> Figure:
    seeds, worst, broken = scope.seeds(-(-N_FULL // N_NAMES)), 0.0, 0
    for k, seed in enumerate(seeds):
        model, columns, rows = drawn(seed, ESTIMATORS[k % len(ESTIMATORS)], pieces_for(target))
        how = {"dialect": target} if target in DATABASES else {}
        source = bt.export(model, "sql" if target in DATABASES else target, **how)
        try:
            worst = max(worst, difference_of(model, columns, rows, lambda given, named: run(source, given, named)))  # noqa: B023
        except Exception as error:  # whatever a name has done
            print(f"H3  {target}, seed {seed}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            broken += 1
    found = f"{broken} broken, probabilities within {worst:.1g}"
    return Figure("H3", target, PROMISE, len(seeds) * N_NAMES, found, not broken and worst <= 1e-9)


@contextmanager
def _runner(target: str, folder: Path) -> Iterator[Run]:
    """What runs the programs of a target."""
    if target in DATABASES:
        folder.chmod(0o755)  # servers run as users of their own
        with DATABASES[target](folder) as database:
            yield database.run
    elif target == "python":
        yield _python
    else:
        yield lambda source, rows, classes: RUNNERS[target](source, rows, classes, _fresh(folder))


def _fresh(folder: Path) -> Path:
    """A folder of its own for each program: a library that is loaded stays."""
    return Path(tempfile.mkdtemp(dir=folder))


def _python(source: str, rows: Sequence[dict], classes: list[str] | None) -> Answers:
    module: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source, "exported", "exec"), module)
    shares = [module["predict_proba"](row) for row in rows]
    return [module["predict"](row) for row in rows], np.array([[p[name] for name in classes or ()] for p in shares])
