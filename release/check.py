"""What must hold of the files of a release: python release/check.py DIST, after `make wheel`.

The wheel is small, has the stable ABI and fits many Linux systems; it installs into a bare environment without a compiler on
every Python from 3.11 that is found; each extra does what it is for, alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 5_000_000
EXTRAS = ("cli", "plot", "report", "export", "serve", "mlflow", "dask", "spark")
SMALL = "/usr/bin:/bin"  # what a user has; compilers are taken out below
COMPILERS = ("gcc", "g++", "cc", "c++", "clang", "clang++")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--extras", nargs="*", choices=EXTRAS, default=list(EXTRAS))
    given = parser.parse_args()
    (wheel,) = given.folder.glob("*.whl")
    (source,) = given.folder.glob("*.tar.gz")
    look_at(wheel, source)
    with tempfile.TemporaryDirectory() as folder:
        tools = without_compilers(Path(folder))
        for python in pythons():
            use(wheel, python, "library", tools, Path(folder))
        for extra in given.extras:
            use(wheel, Path(sys.executable), extra, tools, Path(folder))
    return 0


def look_at(wheel: Path, source: Path) -> None:
    """The wheel's name, size and ABI, and the descriptions of both files."""
    assert "-cp311-abi3-" in wheel.name, wheel.name
    assert wheel.stat().st_size < MOST_BYTES, f"{wheel.name} has {wheel.stat().st_size:,} bytes"
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes; {source.name}: {source.stat().st_size:,}")
    told = {"twine": ["check", "--strict", source, wheel], "abi3audit": ["--strict", wheel], "auditwheel": ["show", wheel]}
    for tool, words in told.items():
        subprocess.run([sys.executable, "-m", tool, *map(str, words)], check=True)


def pythons() -> Iterator[Path]:
    """Every Python from 3.11 on the path or kept by pyenv, one of each version."""
    kept = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))
    on_path = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    found: dict[str, Path] = {}
    for python in [*kept, *(Path(path) for path in on_path if path)]:
        told = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
        major, minor = map(int, told.stdout.split()) if told.returncode == 0 else (0, 0)
        if (major, minor) >= (3, 11):
            found.setdefault(f"{major}.{minor}", python)
    yield from found.values()


def without_compilers(folder: Path) -> str:
    """A path of all programs but compilers."""
    tools = folder / "tools"
    tools.mkdir()
    for place in SMALL.split(":"):
        for program in Path(place).iterdir():
            link = tools / program.name
            if not program.name.startswith(COMPILERS) and not link.exists():
                link.symlink_to(program)
    return str(tools)


def use(wheel: Path, python: Path, extra: str, tools: str, folder: Path) -> None:
    """Installs the wheel, with one extra or none, into an environment of its own, and does what the extra is for."""
    place = folder / f"{extra}-{python.parts[-3]}"
    subprocess.run([python, "-m", "venv", place], check=True)
    wanted = str(wheel) if extra == "library" else f"{wheel}[{extra}]"
    alone = {**os.environ, "PATH": tools, "HOME": str(folder)}
    alone.pop("CXX", None)
    # pyspark has no wheel; it is Python alone, so that nothing is compiled
    binaries = ["--only-binary", ":all:", "--no-binary", "pyspark"]
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *binaries, wanted]
    subprocess.run([place / "bin/python", *install], check=True, env=alone)
    subprocess.run([place / "bin/python", ROOT / "release" / "uses.py", extra], check=True, env=alone, cwd=folder)
    shutil.rmtree(place)


if __name__ == "__main__":
    sys.exit(main())
