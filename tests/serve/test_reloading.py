"""A changed file goes live as a whole or not at all."""

import shutil

import pytest

from baytree.serve.models import Models
from in_process import Server


@pytest.fixture
def file(paths, tmp_path):
    return shutil.copy(paths["nb"], tmp_path / "live.baytree")


def test_a_new_file_goes_live_and_changes_the_version(paths, file):
    server = Server([file])
    models, before = server.app.state.models, server.predict("live", [{}]).json()["version"]
    assert not models.changed_models()
    shutil.copy(paths["cart"], file)
    assert models.changed_models() == ["live"]
    assert models.reload("live")
    assert server.predict("live", [{}]).json()["version"] != before
    assert not models.changed_models()


def cut(content):
    return content[: len(content) // 2]


def flipped(content):
    return content[:300] + bytes([content[300] ^ 1]) + content[301:]


@pytest.mark.parametrize("damage", [cut, flipped, lambda _: b"", lambda _: b"no model"])
def test_a_damaged_file_never_goes_live(paths, file, damage):
    models = Models([file])
    before = models["live"]
    file.write_bytes(damage(paths["cart"].read_bytes()))
    with pytest.raises(ValueError):
        models.reload("live")
    assert models["live"] is before


def test_a_file_that_is_gone_leaves_its_model(file):
    models = Models([file])
    file.unlink()
    with pytest.raises(OSError):
        models.reload("live")
    assert models["live"].version


def test_names_that_are_no_names_or_not_alone_are_refused(paths, tmp_path):
    odd = shutil.copy(paths["nb"], tmp_path / "a b.baytree")
    with pytest.raises(ValueError, match="64 letters"):
        Models([odd])
    with pytest.raises(ValueError, match="another model has the name"):
        Models([paths["nb"], shutil.copy(paths["nb"], tmp_path / "nb.baytree")])
