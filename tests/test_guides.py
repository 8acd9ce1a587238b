"""What README and the guides show is run as it stands there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
SHOWING = [page for page in PAGES if "```python" in page.read_text()]


@pytest.mark.slow
@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text())
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert missing == []


def test_every_fit_that_differs_from_its_reference_has_a_cause():
    rows = [line.split("|") for line in (ROOT / "docs/conformance.md").read_text().splitlines() if line.startswith("| ")]
    counted = [(name, int(fits), int(same), cause) for _, name, fits, same, cause, _ in rows if fits.strip().isdigit()]
    assert len(counted) > 15
    for name, fits, same, cause in counted:
        assert same == fits or len(cause.split()) >= 3, name
        assert "not known" not in cause, name
