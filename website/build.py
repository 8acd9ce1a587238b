"""Builds the site: gathers pages, makes what they show, runs zensical, and checks what it built.

python website/build.py        # into build/website/site
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from os import environ
from pathlib import Path, PurePosixPath

import checks
import gallery
import made
import reference_pages
from sources import ROOT, files, navigation, place_of, title_of, with_links

PLACE = ROOT / "build" / "website"
UNSEARCHED = ("decisions/*", "project/changelog.md")  # pages that the search leaves out: they hide the answers to tasks
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"


def main() -> int:
    shutil.rmtree(PLACE, ignore_errors=True)
    pages = PLACE / "pages"
    pages.mkdir(parents=True)
    gather(pages)
    (PLACE / "zensical.toml").write_text(configured(pages))
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    if subprocess.run(command, cwd=PLACE, env={**environ, "NO_COLOR": "1"}).returncode:
        return 1
    faults = checks.faults(PLACE / "site")
    print("\n".join(faults) or f"{len(list(PLACE.glob('site/**/*.html')))} pages in {PLACE / 'site'}")
    return 1 if faults else 0


def gather(pages: Path) -> None:
    """Every page and every file that a page shows, written below one folder."""
    found = files()
    for path in found:
        place = pages / place_of(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(ROOT / path, place)
            continue
        text = made.WHOLE[path]() if path in made.WHOLE else (ROOT / path).read_text()
        linked = with_links(text, path, {*found, PurePosixPath("README.md")}.__contains__)
        shown = made.answered(made.filled(linked, pages))
        place.write_text(NOT_SEARCHED + shown if is_unsearched(place_of(path)) else shown)
    (pages / "gallery.md").write_text(gallery.page(pages))
    for name, text in reference_pages.pages():
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        (pages / name).write_text(text)
    shutil.copyfile(ROOT / "website" / "site.css", pages / "site.css")


def is_unsearched(page: PurePosixPath) -> bool:
    """Whether the search of the site leaves a page out."""
    return any(page.match(pattern) for pattern in UNSEARCHED)


def configured(pages: Path) -> str:
    """The settings with the navigation of these pages."""
    titles = {page.relative_to(pages).as_posix(): title_of(page.read_text()) or page.stem for page in pages.rglob("*.md")}
    sections = []
    for section, found in navigation(titles).items():
        entries = ", ".join(f"{{{json.dumps(titles[page])} = {json.dumps(page)}}}" for page in found)
        sections.append(f"  {{{json.dumps(section)} = {json.dumps(found[0]) if len(found) == 1 else f'[{entries}]'}}},")
    begun = (ROOT / "website" / "zensical.toml").read_text()
    return begun.replace("[project]\n", "[project]\nnav = [\n" + "\n".join(sections) + "\n]\n", 1)


if __name__ == "__main__":
    sys.exit(main())
