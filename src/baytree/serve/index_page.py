"""The page of a server of several models: their names, each with a link to its own page."""

from __future__ import annotations

from collections.abc import Iterable

from baytree.serve.limits import Refusal
from baytree.serve.served_models import Served


def index(served: Iterable[Served]) -> bytes:
    """The list of models as HTML."""
    try:
        from jinja2 import Environment, PackageLoader
    except ModuleNotFoundError:
        raise Refusal(404, "this server shows no pages; install jinja2 beside it") from None
    loader = PackageLoader("baytree.serve", "templates")
    template = Environment(loader=loader, autoescape=True, trim_blocks=True).get_template("index.html")
    return template.render(models=list(served)).encode("utf-8", "backslashreplace")
