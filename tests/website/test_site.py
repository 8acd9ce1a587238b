"""The site: every page has its place, links are led right, and what is wrong with built pages is found."""

import json
from pathlib import Path, PurePosixPath

import pytest

import baytree as bt
import build
import checks
import made
import reference_pages
import sources

ROOT = Path(__file__).parents[2]


def test_every_page_of_the_docs_stands_in_a_section_that_has_a_name():
    places = [str(sources.place_of(path)) for path in sources.files() if path.suffix == ".md"]
    sections = sources.navigation(places)
    assert sorted(page for pages in sections.values() for page in pages) == sorted(places)
    assert "More" not in sections


def test_a_page_that_nobody_thought_of_is_shown_all_the_same():
    assert sources.navigation(["index.md", "of/another/kind.md"])["More"] == ["of/another/kind.md"]


def test_no_two_files_have_the_same_place():
    places = [sources.place_of(path) for path in sources.files()]
    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    ("link", "led"),
    [
        ("[a](../conformance.md)", "[a](../conformance.md)"),
        ("[a](../../benchmarks/RESULTS.md)", "[a](../evidence/speed.md)"),
        ("[a](../../SECURITY.md#pickle)", "[a](../project/security.md#pickle)"),
        ("[a](../decisions)", "[a](../decisions/index.md)"),
        ("[a](../../deploy/Dockerfile)", "a"),
        ("[a](https://example.org/x)", "[a](https://example.org/x)"),
        ("```\n[a](../../deploy/Dockerfile)\n```", "```\n[a](../../deploy/Dockerfile)\n```"),
    ],
)
def test_a_link_is_led_to_where_its_target_stands(link, led):
    pages = set(sources.files())
    assert sources.with_links(link, PurePosixPath("docs/guide/mars.md"), pages.__contains__) == led


FAULTS = {
    "a missing page": '<a href="gone.html">x</a>',
    "a missing anchor": '<a href="other.html#gone">x</a>',
    "a missing anchor of its own": '<a href="#gone">x</a>',
    "a script from elsewhere": '<script src="https://example.org/x.js"></script>',
    "a picture from elsewhere": '<img src="//example.org/x.png">',
    "fonts from elsewhere": '<link rel="stylesheet" href="https://example.org/x.css">',
    "a missing picture": '<img src="gone.svg">',
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_what_is_wrong_with_a_page_is_found(fault, tmp_path):
    (tmp_path / "other.html").write_text('<h1 id="there">x</h1>')
    (tmp_path / "index.html").write_text(fault)
    assert len(checks.faults(tmp_path)) == 1


def test_a_page_without_faults_has_none(tmp_path):
    (tmp_path / "other.html").write_text('<h1 id="there">x</h1>')
    (tmp_path / "index.html").write_text('<a href="other.html#there">x</a> <a href="https://example.org">y</a>')
    assert checks.faults(tmp_path) == []


def test_a_style_that_fetches_from_elsewhere_is_found(tmp_path):
    (tmp_path / "site.css").write_text("@import url(https://example.org/font.css);")
    assert len(checks.faults(tmp_path)) == 1


@pytest.mark.parametrize("folder", ["benchmarks", "reliability"])
def test_the_tables_of_results_are_those_of_the_stored_results(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / folder))
    stored = json.loads((ROOT / folder / "results.json").read_text())
    if folder == "benchmarks":
        import records

        made = records.page(stored)
    else:
        import figure

        made = figure.table(stored)
    assert (ROOT / folder / "RESULTS.md").read_text().startswith(made)


def test_every_public_name_has_its_place_in_the_reference():
    text = "\n".join(text for _, text in reference_pages.pages())
    assert [name for name in bt.__all__ if f"bt.{name}`" not in text] == []


def test_the_page_about_choosing_lists_the_models_that_compare_includes():
    assert made.models() in (ROOT / "docs" / "choosing.md").read_text()


def test_the_speeds_in_the_readme_are_those_of_the_stored_results():
    table = (ROOT / "README.md").read_text().split("## Three figures")[1].split("|---|---|--:|\n")[1].split("\n\n")[0]
    measured = {tuple(cells[at] for at in (1, 2, 6)) for cells in _cells((ROOT / "benchmarks" / "RESULTS.md").read_text())}
    claimed = [tuple(cells[1:4]) for cells in _cells(table)]
    assert len(claimed) == 3
    assert set(claimed) <= measured


def _cells(text: str) -> list[list[str]]:
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("|")]
    return [cells for cells in rows if len(cells) > 4]


def test_the_search_leaves_out_decisions_and_the_changelog():
    pages = map(PurePosixPath, ("decisions/0001.md", "project/changelog.md", "guide/mars.md"))
    assert [build.is_unsearched(page) for page in pages] == [True, True, False]
