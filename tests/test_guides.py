"""What README and the guides show is run as it stands there."""

import re
from pathlib import Path

import pytest

from as_delivered import PYTHON_BLOCK, result_of

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
GLOSSARY = ROOT / "docs" / "glossary.md"
RUNNING = [*(page for page in PAGES if PYTHON_BLOCK.search(page.read_text())), GLOSSARY]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.name)
def test_the_code_of_a_page_runs_where_only_baytree_all_is_installed(page, tmp_path):
    run = result_of(page, tmp_path)
    assert run.returncode == 0, (run.stdout + run.stderr)[-2000:]


def test_a_module_of_the_test_group_is_refused_and_a_page_that_shows_something_else_is_found(tmp_path):
    for name, content in {"imports.py": "import hypothesis", "shows.md": "```pycon\n>>> 1 + 1\n3\n```\n"}.items():
        (tmp_path / name).write_text(content)
        assert result_of(tmp_path / name, tmp_path).returncode == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text())
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert missing == []


def test_every_term_of_the_glossary_has_a_sentence_an_example_and_a_lesson():
    _, *entries = re.split(r"^## ", GLOSSARY.read_text(), flags=re.MULTILINE)
    terms = [entry.partition("\n")[0] for entry in entries]
    assert len(terms) >= 120
    assert terms == sorted(set(terms), key=str.casefold)
    for entry in entries:
        assert re.search(r"^[^\n]+\n\n[^\n]+\. Lesson \d: \[[^\n]+\]\(course/[^)]+\)\.\n\n```pycon\n>>> ", entry), entry


def test_every_fit_that_differs_from_its_reference_has_a_cause():
    rows = [line.split("|") for line in (ROOT / "docs/conformance.md").read_text().splitlines() if line.startswith("| ")]
    counted = [(name, int(fits), int(same), cause) for _, name, fits, same, cause, _ in rows if fits.strip().isdigit()]
    assert len(counted) > 15
    for name, fits, same, cause in counted:
        assert same == fits or len(cause.split()) >= 3, name
        assert "not known" not in cause, name
