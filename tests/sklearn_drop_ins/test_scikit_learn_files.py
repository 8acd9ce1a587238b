"""scikit-learn's own test files with its classes swapped for ours: what fails is what docs/scikit-learn.md lists."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "scikit-learn.md"
GOALS = {
    "sklearn.tests.test_naive_bayes": 0.95,
    "sklearn.tests.test_discriminant_analysis": 0.90,
    "sklearn.linear_model.tests.test_logistic": 0.75,
    "sklearn.tree.tests.test_tree": 0.75,
}
WRITTEN_FOR = re.search(r"scikit-learn (\d+\.\d+)", PAGE.read_text())[1]


def listed(module):
    """The tests that the page says fail, with their reasons."""
    section = re.search(rf"^### {re.escape(module)}$(.*?)(?=^#|\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
    return dict(re.findall(r"^\| `(test_[^`]+)` \| (.+) \|$", section, re.MULTILINE))


def outcomes(folder):
    """By module, which of its tests passed and which failed; in one process, since starting one takes seconds."""
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
        "BAYTREE_OUTCOMES": str(folder / "outcomes.json"),
    }
    options = ["-q", "-p", "swapped_classes", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no", "--pyargs", *GOALS]
    ran = subprocess.run([sys.executable, "-m", "pytest", *options], env=env, cwd=folder, capture_output=True, text=True)
    assert (folder / "outcomes.json").exists(), ran.stdout[-2000:] + ran.stderr[-2000:]
    return json.loads((folder / "outcomes.json").read_text())


@pytest.mark.scikit_learn
@pytest.mark.skipif(not sklearn.__version__.startswith(f"{WRITTEN_FOR}."), reason=f"the table is that of {WRITTEN_FOR}")
def test_what_fails_is_what_is_listed_with_its_reason(tmp_path):
    ran = outcomes(tmp_path)
    assert set(ran) == set(GOALS)
    for module, found in ran.items():
        known, failed = listed(module), set(found["failed"])
        assert failed - set(known) == set(), f"{module}: these fail and are not listed"
        assert set(known) - failed == set(), f"{module}: these are listed and pass"
        share = len(found["passed"]) / (len(found["passed"]) + len(failed))
        assert share >= GOALS[module], f"{module}: {share:.3f}"


@pytest.mark.parametrize("module", GOALS)
def test_every_failure_that_is_listed_has_a_reason(module):
    assert all(len(reason.split()) >= 3 for reason in listed(module).values())
