"""Shell completion: the scripts of three shells, and what they offer."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from baytree.cli.main import main

BAYTREE = Path(sys.executable).with_name("baytree")


def script(shell: str) -> str:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0, result.output
    return result.stdout


def offered(*words: str) -> list[str]:
    """Offers for the last word, asked as the script of bash asks."""
    asked = {"_BAYTREE_COMPLETE": "bash_complete", "COMP_WORDS": shlex.join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([BAYTREE], env=os.environ | asked, capture_output=True, text=True, check=True)
    return [line.split(",", 1)[1] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_valid_in_its_shell(shell, tmp_path):
    (tmp_path / "script").write_text(script(shell))
    assert "_BAYTREE_COMPLETE" in script(shell)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert subprocess.run([shell, "-n", tmp_path / "script"], check=False).returncode == 0


def test_bash_completes_a_command_by_the_script():
    asked = 'COMP_WORDS=(baytree comp); COMP_CWORD=1; _baytree_completion baytree; printf "%s\\n" "${COMPREPLY[@]}"'
    path = f"{BAYTREE.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"{script('bash')}\n{asked}"], env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert done.stdout.split() == ["compare", "completion"], done.stderr


def test_commands_options_tables_columns_and_models_are_offered():
    assert offered("baytree", "dri") == ["drift"]
    assert "--target" in offered("baytree", "compare", "titanic", "--ta")
    assert "titanic" in offered("baytree", "compare", "tit")
    assert offered("baytree", "compare", "titanic", "--target", "s") == ["sex", "survived"]
    assert offered("baytree", "fit", "titanic", "--model", "logistic-f") == ["logistic-fixed"]
    assert offered("baytree", "export", "m.baytree", "--to", "java") == ["javascript"]
    assert offered("baytree", "datasets", "mush") == ["mushroom"]
    assert offered("baytree", "compare", "no such file", "--target", "s") == []


def test_an_unknown_shell_is_named():
    result = CliRunner().invoke(main, ["completion", "tcsh"])
    assert result.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in result.output
