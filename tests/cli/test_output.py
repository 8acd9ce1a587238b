"""What `-o` does to the file that it names: whole or not at all, devices and links stay, the input is never overwritten."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import baytree as bt
from baytree.cli.main import main

ROWS = "size,colour,y\n" + "1,red,no\n2,red,no\n8,blue,yes\n9,blue,yes\n" * 5
WRITING = {  # a command by its words up to -o, which is followed by the file
    "fit": ["fit", "{table}", "-t", "y", "-m", "cart"],
    "show": ["show", "{model}"],
    "merge": ["merge", "{bayes}", "{bayes}"],
    "datasets": ["datasets", "play-tennis"],
    "predict": ["predict", "{model}", "{table}"],
    "report": ["report", "{model}", "{table}"],
    "export": ["export", "{model}", "--to", "python"],
    "rank": ["rank", "{table}", "-t", "y"],
    "audit": ["audit", "{table}", "-t", "y"],
    "diff": ["diff", "{model}", "{model}", "{table}"],
}
INPUTS = [(name, word) for name, words in WRITING.items() for word in words if word.startswith("{")]


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def files(tmp_path) -> dict[str, Path]:
    """A table, a tree and a naive Bayes model in a folder of their own."""
    folder = tmp_path / "given"
    folder.mkdir()
    found = {"table": folder / "rows.csv", "model": folder / "m.baytree", "bayes": folder / "nb.baytree"}
    found["table"].write_text(ROWS)
    frame = bt.read(found["table"])
    bt.save(bt.CARTClassifier(min_split=2, min_leaf=1).fit(frame, "y"), found["model"])
    bt.save(bt.NaiveBayesClassifier().fit(frame, "y"), found["bayes"])
    return found


def call(name: str, files: dict[str, Path], output: Path) -> Result:
    return run(*[word.format(**files) for word in WRITING[name]], "-o", output)


@pytest.fixture
def null(tmp_path) -> Path:
    """A null device of this test's own: the machine's is never touched."""
    path = tmp_path / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.write_bytes(b"x")
    except OSError as error:
        pytest.skip(f"devices can be neither created nor written here: {error}")
    return path


@pytest.mark.parametrize("name", WRITING)
def test_a_device_is_written_in_place(name, files, null):
    result = call(name, files, null)
    assert result.exit_code == 0, result.output
    assert stat.S_ISCHR(null.lstat().st_mode)
    assert sorted(os.listdir(null.parent)) == ["given", "null"]


@pytest.mark.parametrize("name", WRITING)
def test_a_named_pipe_is_written_in_place(name, files, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    result = call(name, files, pipe)
    if not stat.S_ISFIFO(pipe.lstat().st_mode):
        pytest.fail("the pipe was replaced")
    reader.join(10)
    assert result.exit_code == 0, result.output
    call(name, files, tmp_path / "file")
    assert found == [(tmp_path / "file").read_bytes()]


@pytest.mark.parametrize("name", WRITING)
def test_a_symbolic_link_stays_and_its_target_is_written(name, files, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "file", tmp_path / "link"
    link.symlink_to(target)
    for _ in range(2):  # the target is new, then there
        result = call(name, files, link)
        assert result.exit_code == 0, result.output
        assert link.is_symlink()
        assert target.stat().st_size
    assert os.listdir(target.parent) == ["file"]


def test_a_block_device_is_refused(files, tmp_path, monkeypatch):
    """Block devices are not created here, so the mode is replaced."""
    path = tmp_path / "disk"
    path.write_bytes(b"old")
    real = os.stat

    def as_block_device(given, *rest, **options):
        found = real(given, *rest, **options)
        if os.fspath(given) != str(path):
            return found
        return os.stat_result((stat.S_IFBLK | 0o660, *found[1:10]))

    monkeypatch.setattr(os, "stat", as_block_device)
    with pytest.raises(ValueError, match="block device; name a file"):
        bt.save(bt.load(files["bayes"]), path)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", WRITING)
def test_what_cannot_be_written_leaves_the_old_file_and_no_draft(name, files, tmp_path, monkeypatch):
    output = tmp_path / "file"
    output.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    result = call(name, files, output)
    assert (result.exit_code, "No space left on device" in result.output) == (1, True)
    assert output.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["file", "given"]


@pytest.mark.parametrize("name", WRITING)
def test_an_existing_file_keeps_its_mode_and_a_new_one_follows_the_umask(name, files, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"")
    old.chmod(0o604)
    before = os.umask(0o027)
    try:
        assert call(name, files, old).exit_code == 0
        assert call(name, files, new).exit_code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(old.stat().st_mode) == 0o604
    assert stat.S_IMODE(new.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", WRITING)
def test_a_folder_that_is_not_there_is_named(name, files, tmp_path):
    result = call(name, files, tmp_path / "nowhere" / "file")
    assert result.exit_code == 1
    assert f"{tmp_path / 'nowhere' / 'file'}: No such file or directory" in result.output


@pytest.mark.parametrize("way", ["name", "relative", "symbolic link", "hard link"])
@pytest.mark.parametrize(("name", "given"), INPUTS)
def test_an_output_that_names_the_input_is_refused(name, given, way, files, tmp_path, monkeypatch):
    source = Path(given.format(**files))
    before, output = source.read_bytes(), source
    if way == "relative":
        monkeypatch.chdir(tmp_path)
        output = Path("given", "..", "given", source.name)
    elif way == "symbolic link":
        output = tmp_path / "link"
        output.symlink_to(source)
    elif way == "hard link":
        output = tmp_path / "link"
        os.link(source, output)
    result = call(name, files, output)
    assert (result.exit_code, "would overwrite the input" in result.output) == (2, True), result.output
    assert source.read_bytes() == before


def test_an_output_among_the_files_of_a_pattern_is_refused(files):
    table = files["table"]
    result = run("fit", table.with_name("*.csv"), "-t", "y", "-o", table)
    assert (result.exit_code, "would overwrite the input" in result.output) == (2, True)
    assert table.read_text() == ROWS


def test_an_output_that_is_standard_input_is_refused(files):
    table, words = files["table"], ["predict", files["model"], "-", "-o", files["table"]]
    with table.open() as stream:
        command = [sys.executable, "-c", "from baytree.cli import main; main()", *map(str, words)]
        result = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    assert (result.returncode, "would overwrite the input" in result.stderr) == (2, True)
    assert table.read_text() == ROWS


def test_a_comparison_does_not_overwrite_its_table(files):
    table = files["table"].rename(files["table"].with_name("results.json"))
    table.write_text('[{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]')
    result = run("compare", table, "-t", "y", "-o", table.parent)
    assert (result.exit_code, "would overwrite the input" in result.output) == (2, True)


def stopped(words: list[object], folder: Path, until: str, signal_number: int, stdin: object = None) -> int:
    """Run a command with its temporary files in a folder, end it once the pattern is there, and return its exit code."""
    command = [sys.executable, "-c", "from baytree.cli import main; main()", *map(str, words)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen(command, env=environment, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not list(folder.glob(until)) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal_number)
    process.send_signal(signal_number)
    process.communicate(timeout=30)
    return process.returncode


@pytest.fixture
def temporary(tmp_path) -> Path:
    path = tmp_path / "temporary"
    path.mkdir()
    return path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_of_an_archive_behind(number, temporary, tmp_path):
    archive = tmp_path / "rows.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("rows.csv", ROWS + "3,red,no\n" * 2_000_000)
    code = stopped(["fit", archive, "-t", "y", "-o", tmp_path / "m.baytree"], temporary, "*/*", number)
    assert code == -number
    assert os.listdir(temporary) == []
    assert not (tmp_path / "m.baytree").exists()


def test_a_signal_leaves_nothing_of_standard_input_behind(temporary, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with open(os.open(tmp_path / "pipe", os.O_RDWR), "wb", buffering=0) as pipe:
        pipe.write(ROWS.encode())
        words = ["fit", "-", "-t", "y", "-o", tmp_path / "m.baytree"]
        assert stopped(words, temporary, "*/*", signal.SIGTERM, pipe) == -signal.SIGTERM
    assert os.listdir(temporary) == []


def test_a_signal_leaves_no_cache_of_a_scan_behind(temporary, tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS + "3,red,no\n" * 2_000_000)
    words = ["fit", tmp_path / "rows.csv", "-t", "y", "--memory", "1MB", "-m", "tree"]
    assert stopped(words, temporary, "baytree-scan-*/*", signal.SIGTERM) == -signal.SIGTERM
    assert os.listdir(temporary) == []


def test_a_signal_leaves_no_draft_behind(files, tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS + "3,red,no\n" * 2_000_000)
    answers = tmp_path / "answers"
    answers.mkdir()
    words = ["predict", files["model"], tmp_path / "rows.csv", "-o", answers / "a.csv"]
    assert stopped(words, answers, ".baytree-*", signal.SIGTERM) == -signal.SIGTERM
    assert os.listdir(answers) == []
