"""Whether compilers and how far they optimise change a bit of any model: python release/compilers.py [g++ clang++ ...].

Each build is a wheel of its own in an environment of its own, below build/compilers; the digests of release/digests.py must
be those of the first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "build" / "compilers"
LEVELS = ("-O3", "-O2")


def main(compilers: list[str]) -> int:
    found = {f"{compiler} {level}": digests(compiler, level) for compiler in compilers for level in LEVELS}
    first, *_ = found.values()
    for build, seen in found.items():
        other = [model for model, digest in seen.items() if digest != first[model]]
        print(f"{build}: {len(seen)} models, {'all the same' if not other else 'other: ' + ', '.join(other)}", flush=True)
    return int(any(seen != first for seen in found.values()))


def digests(compiler: str, level: str) -> dict[str, str]:
    """What a build of this compiler learns."""
    place = PLACE / f"{compiler}{level}"
    flags = [f"cmake.define.BAYTREE_OPTIMIZATION={level}", f"build-dir={place / 'objects'}"]
    settings = [word for flag in flags for word in ("--config-setting", flag)]
    for old in place.glob("*.whl"):
        old.unlink()
    uv("build", "--wheel", "--out-dir", place, *settings, CXX=compiler)
    (wheel,) = place.glob("*.whl")
    python = place / "venv" / "bin" / "python"
    uv("venv", "--clear", place / "venv")
    uv("pip", "install", "--reinstall-package", "baytree", "--python", python, wheel)
    told = subprocess.run([python, ROOT / "release" / "digests.py"], check=True, cwd=place, capture_output=True, text=True)
    return json.loads(told.stdout)


def uv(*words: object, **variables: str) -> None:
    command = [str(Path(sys.executable).parent / "uv"), "--quiet", *map(str, words)]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **variables})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["g++", "clang++"]))
