"""`baytree export` writes what `bt.export` gives, and refuses in a sentence."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import baytree as bt
from baytree.cli.main import main
from baytree.exporters import EXPORTERS


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("models") / "m.baytree"
    bt.save(bt.NaiveBayesClassifier().fit({"size": [1.0, 2.0, 9.0], "y": ["a", "a", "b"]}, "y"), path)
    return path


@pytest.mark.parametrize("target", EXPORTERS)
def test_the_command_writes_what_export_gives(saved, target, tmp_path):
    result = run("export", saved, "--to", target, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    want = bt.export(bt.load(saved), target)
    assert (tmp_path / "out").read_bytes() == (want if isinstance(want, bytes) else want.encode())


def test_without_a_file_the_text_is_printed(saved):
    assert run("export", saved, "--to", "python").stdout.strip() == bt.export(bt.load(saved), "python").strip()


def test_a_wrong_call_is_answered_with_what_there_is(saved):
    result = run("export", saved, "--to", "javascrip")
    assert (result.exit_code, "did you mean 'javascript'" in result.output) == (2, True)
    result = run("export", saved, "--to", "python", "--table", "t")
    assert (result.exit_code, "--table is for SQL only" in result.output) == (2, True)
