"""HTML pages: a record per section (`*_views`), a template per record, and one self-contained file (`html_page`)."""

from __future__ import annotations

from baytree.rendering.page.html_page import SCRIPTS, SECTIONS, Page, to_html

__all__ = ["SCRIPTS", "SECTIONS", "Page", "to_html"]
