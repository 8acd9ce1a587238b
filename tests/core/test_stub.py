"""The types of the core are those of the core that was built."""

from pathlib import Path

import baytree
from baytree import _core


def test_the_stub_names_everything_that_the_core_offers():
    stub = (Path(baytree.__file__).parent / "_core.pyi").read_text()
    for name in dir(_core):
        if not name.startswith("_"):
            assert f"def {name}(" in stub or f"class {name}" in stub, f"{name} is not in the stub: run make stub"
