"""What must hold of the built site: every link and anchor leads somewhere, and nothing is fetched from the network."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "object": "data"}
FETCHED_LINKS = {"stylesheet", "icon", "preload", "preconnect", "prefetch", "dns-prefetch", "modulepreload", "manifest"}


@dataclass
class Page(HTMLParser):
    """What one HTML file names: its anchors, where it leads, and what a browser fetches for it."""

    anchors: set[str] = field(default_factory=set)
    leads: set[str] = field(default_factory=set)
    fetches: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.leads.add(given["href"])
        if FETCHED.get(tag) in given:
            self.fetches.add(given[FETCHED[tag]])
        if tag == "link" and FETCHED_LINKS & set(given.get("rel", "").split()):
            self.fetches.add(given.get("href", ""))


def read(text: str) -> Page:
    page = Page()
    page.feed(text)
    return page


def faults(site: Path) -> list[str]:
    """A sentence for everything that is wrong with the site in a folder."""
    pages = {path.resolve(): read(path.read_text()) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    told = [fault for path, page in pages.items() for fault in _of_page(path, page, pages, site)]
    return told + [f"{path.name} fetches {url}" for path in site.rglob("*.css") for url in _of_style(path.read_text())]


def _of_page(path: Path, page: Page, pages: dict[Path, Page], site: Path) -> list[str]:
    name = path.relative_to(site.resolve())
    told = [f"{name} fetches {url} from the network" for url in sorted(page.fetches) if urlsplit(url).netloc]
    for url in sorted(page.leads | page.fetches):
        parts = urlsplit(url)
        if parts.scheme or parts.netloc:
            continue
        aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        aim = aim / "index.html" if aim.is_dir() else aim
        if not aim.exists():
            told.append(f"{name} leads to {url}, which is not there")
        elif parts.fragment and aim in pages and unquote(parts.fragment) not in pages[aim].anchors:
            told.append(f"{name} leads to {url}, and {aim.name} has no such anchor")
    return told


def _of_style(text: str) -> list[str]:
    return re.findall(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", text)
