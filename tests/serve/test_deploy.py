"""What a machine is told to run is what the command line takes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from baytree.cli.model_commands import serve

DEPLOY = Path(__file__).parents[2] / "deploy"
OPTIONS = {option for parameter in serve.params for option in parameter.opts}


def test_the_options_of_the_image_and_of_the_unit_are_there():
    words = (DEPLOY / "Dockerfile").read_text().replace('"', " ").replace(",", " ").split("ENTRYPOINT")[1].split()
    words += (DEPLOY / "baytree.service").read_text().partition("ExecStart=")[2].partition("\n")[0].split()
    used = {word for word in words if word.startswith("--")}
    assert used
    assert used <= OPTIONS


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_unit(tmp_path):
    unit = tmp_path / "baytree.service"
    unit.write_text((DEPLOY / "baytree.service").read_text().replace("/opt/baytree/bin/baytree", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert (done.returncode, "baytree.service" in done.stderr) == (0, False), done.stderr
