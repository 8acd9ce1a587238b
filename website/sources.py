"""Which files of the repository are pages of the site, where each stands, and how links lead from one to another.

No list is kept by hand: a new file in `docs/` is a page, and stands in the navigation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
# A page takes the first pattern that fits; what fits none stands under "More", so that no page is lost.
SECTIONS = {
    "Home": ["index.md"],
    "Ten minutes": ["ten-minutes.md"],
    "Course": ["course/index.md", "course/*", "glossary.md"],
    "Gallery": ["gallery.md"],
    "How do I": ["find/index.md", "find/*"],
    "Guides": ["choosing.md", "scikit-learn.md", "guide/*"],
    "Reference": ["reference/index.md", "reference/*"],
    "Questions": ["questions.md"],
    "How it works": ["how-it-works.md", "model-files.md", "state.md"],
    "Evidence": ["conformance.md", "evidence/speed.md", "evidence/reliability.md", "evidence/*"],
    "Decisions": ["decisions/index.md", "decisions/*"],
    "Project": ["project/*"],
}
RENAMED = {
    "README.md": "index.md",
    "benchmarks/RESULTS.md": "evidence/speed.md",
    "reliability/RESULTS.md": "evidence/reliability.md",
}
NOWHERE = "\0"  # in place of the target of a link to a file without a page
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^(?P<fence>```+|~~~+).*?^(?P=fence)[ \t]*$)", re.DOTALL | re.MULTILINE)


def place_of(path: PurePosixPath) -> PurePosixPath:
    """Where a file of the repository stands on the site.

    >>> str(place_of(PurePosixPath("docs/guide/mars.md"))), str(place_of(PurePosixPath("benchmarks/RESULTS.md")))
    ('guide/mars.md', 'evidence/speed.md')
    """
    if str(path) in RENAMED:
        return PurePosixPath(RENAMED[str(path)])
    room = path.parts[0]
    if room == "docs":
        return path.relative_to("docs")
    return PurePosixPath("evidence" if room in ("benchmarks", "reliability") else "project") / path.name.lower()


def files() -> list[PurePosixPath]:
    """Every file of the repository that is copied to the site."""
    written = [*ROOT.glob("*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("reliability/*.md"), *ROOT.glob("docs/**/*")]
    found = sorted(PurePosixPath(path.relative_to(ROOT).as_posix()) for path in written if path.is_file())
    return [path for path in found if path.name != "README.md"]


def with_links(text: str, path: PurePosixPath, is_page: Callable[[PurePosixPath], bool]) -> str:
    """A page's text with every link led to where its target stands; links to files without a page become their words."""

    def led(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        if re.match(r"[a-z]+:", target):
            return match[0]
        aim = PurePosixPath(normpath(path.parent / target))
        if (ROOT / aim).is_dir():
            aim /= "index.md"
        if not is_page(aim) and (ROOT / aim).exists():
            return "]" + NOWHERE
        return f"]({relpath(place_of(aim), place_of(path).parent)}{anchor})"

    parts = FENCE.split(text)  # text, fenced block, its fence, text, …
    parts[::3] = [re.sub(r"\[([^\]]*)\]" + NOWHERE, r"\1", LINK.sub(led, part)) for part in parts[::3]]
    return "".join(part for position, part in enumerate(parts) if position % 3 != 2)


def title_of(text: str) -> str:
    """What a page calls itself: its first heading, without marks.

    >>> title_of("# `bt.scan`")
    'bt.scan'
    """
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    return re.sub(r"[`*]", "", heading[1]).strip() if heading else ""


def navigation(pages: Iterable[str]) -> dict[str, list[str]]:
    """The pages of every section, in the order of its patterns.

    >>> navigation(["guide/b.md", "new.md", "guide/a.md", "index.md"])
    {'Home': ['index.md'], 'Guides': ['guide/a.md', 'guide/b.md'], 'More': ['new.md']}
    """
    left, found = sorted(pages), {}
    for section, patterns in [*SECTIONS.items(), ("More", ["*"])]:
        taken = [page for pattern in patterns for page in left if fnmatch(page, pattern)]
        found[section] = list(dict.fromkeys(taken))
        left = [page for page in left if page not in taken]
    return {section: taken for section, taken in found.items() if taken}
