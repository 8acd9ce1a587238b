"""The gallery: each example runs, and draws its picture."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from as_delivered import result_of

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("on_"))  # clusters: tests/engine


def test_there_are_twelve_examples():
    assert len(EXAMPLES) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws_its_picture_where_only_baytree_all_is_installed(example, tmp_path):
    pytest.importorskip("matplotlib")
    run = result_of(example, tmp_path)
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.strip()
    assert ElementTree.parse(tmp_path / f"{example.stem}.svg").getroot().tag.endswith("svg")
