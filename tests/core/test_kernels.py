"""The vector loops on another processor: NEON, under an emulator, gives the bits of this machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
OPTIONS = ("-std=c++20", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-psabi", "-Wno-ignored-attributes", "-pthread")
LOOPS = (
    "numeric/slice_loops",
    "naive_bayes/density_loops",
    "naive_bayes/leave_one_out_loops",
    "linear/row_loops",
    "linear/logistic/logistic_loops",
    "linear/cholesky_loops",
)


def digests(compiler: str, folder: Path, *run: str) -> str:
    """What the program of kernels.cpp prints, compiled for the baseline of a machine."""
    core, program = ROOT / "src" / "core", folder / compiler.replace("/", "-")
    objects = []
    for path in LOOPS:
        loops = Path(path).name
        made = folder / f"{loops}-{program.name}.o"
        level = f"-DBAYTREE_LEVEL={loops}_baseline"
        subprocess.run([compiler, *OPTIONS, f"-I{core}", level, "-c", core / f"{path}.cpp", "-o", made], check=True)
        objects.append(made)
    sources = [ROOT / "tests" / "core" / "kernels.cpp", core / "simd" / "dispatch.cpp"]
    subprocess.run([compiler, *OPTIONS, f"-I{core}", "-static", *sources, *objects, "-o", program], check=True)
    return subprocess.run([*run, program], check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_neon_gives_the_bits_of_this_machine(tmp_path):
    cross, emulator = (
        shutil.which("aarch64-linux-gnu-g++"),
        shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static"),
    )
    if not cross or not emulator or not shutil.which("g++"):
        pytest.skip("needs g++, g++-aarch64-linux-gnu and qemu-user of Debian")
    here = digests("g++", tmp_path)
    assert here.count("\n") == 10
    assert digests(cross, tmp_path, emulator) == here
