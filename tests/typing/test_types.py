"""Types that a user's editor sees: mypy and pyright find no `Any` in the results of ordinary code."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import baytree as bt
from baytree._registry import SKLEARN_MODULES

ROOT = Path(__file__).parents[2]
CODE = Path(__file__).with_name("user_code.py")
PYRIGHT = ROOT / "build" / "types" / "node_modules" / "pyright" / "index.js"

# an array of any shape; labels, and so the array of predicted ones, may be of any type
OPEN = re.compile(r"(numpy\.)?ndarray\[tuple\[Any, \.\.\.\], (numpy\.)?dtype\[(Any|numpy\.float64|float64)\]\]")


def imprecise(types: list[str]) -> list[str]:
    return [each for each in types if re.search(r"\b(Any|Unknown)\b", OPEN.sub("array", each))]


def n_revealed() -> int:
    return CODE.read_text().count("\nreveal_type(")


@pytest.mark.slow
def test_mypy_knows_the_type_of_every_result():
    pytest.importorskip("mypy", reason="mypy is not installed (group `types`)")
    call = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / "build" / "mypy"), str(CODE)]
    done = subprocess.run(call, cwd=CODE.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    types = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert len(types) == n_revealed()
    assert imprecise(types) == []


@pytest.mark.slow
def test_pyright_knows_the_type_of_every_result():
    if not PYRIGHT.exists() or shutil.which("node") is None:
        pytest.skip("pyright is not installed: npm install --prefix build/types pyright")
    call = ["node", str(PYRIGHT), "--pythonpath", sys.executable, str(CODE)]
    done = subprocess.run(call, cwd=CODE.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    types = re.findall(r'Type of ".*" is "(.*)"', done.stdout)
    assert len(types) == n_revealed()
    assert imprecise(types) == []


def test_editors_see_the_drop_ins_from_their_modules():
    stub = (Path(bt.__file__).parent / "sklearn" / "__init__.pyi").read_text()
    imports = re.findall(r"from baytree\.(\S+) import (\w+) as \2", stub)
    assert {name: module for module, name in imports} == SKLEARN_MODULES


def test_load_refuses_a_model_of_another_class(tmp_path):
    rows = bt.datasets.load("iris")
    bt.save(bt.CARTClassifier().fit(rows, "species"), tmp_path / "m.baytree")
    assert isinstance(bt.load(tmp_path / "m.baytree", bt.CARTClassifier), bt.CARTClassifier)
    with pytest.raises(ValueError, match="contains CARTClassifier, not ID3Classifier"):
        bt.load(tmp_path / "m.baytree", bt.ID3Classifier)
