"""Page as one HTML file, or as a fragment for notebooks.

A `Page` is a title and a record per section, with names and numbers only; `SECTIONS` names the template of each record.
Names are escaped, and a content security policy allows only the file's own scripts and styles, by digest.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

from baytree.display import palette
from baytree.display.notebook import notebook_view
from baytree.display.terminal import number, plain, shortened
from baytree.rendering.page.comparison_views import ChangesView, DriftView, FindingsView, FlipsView, LeaderboardView
from baytree.rendering.page.model_views import (
    BayesLeavesView,
    BayesView,
    CoefficientsView,
    DependenceView,
    DrawingView,
    EllipsesView,
    FunctionsView,
    JointView,
    NomogramView,
    RulesView,
    ScorecardView,
    TextView,
    TreeView,
    TrialsView,
    VotingRulesView,
)
from baytree.rendering.page.table_views import (
    BoundaryView,
    CardView,
    CurvesView,
    ErrorsView,
    ImpurityView,
    Overview,
    QuestionsView,
    RowsView,
    TableView,
    WhatIfView,
)

if TYPE_CHECKING:
    from jinja2 import Environment

SECTIONS = {
    Overview: "overview",
    TableView: "table",
    TreeView: "tree",
    RulesView: "rules",
    BayesView: "bayes",
    DependenceView: "dependence",
    CoefficientsView: "coefficients",
    NomogramView: "nomogram",
    ScorecardView: "scorecard",
    WhatIfView: "whatif",
    QuestionsView: "ask",
    BoundaryView: "boundary",
    ImpurityView: "impurity",
    RowsView: "rows",
    TextView: "prose",
    LeaderboardView: "leaderboard",
    FindingsView: "findings",
    FunctionsView: "functions",
    DrawingView: "drawing",
    EllipsesView: "ellipses",
    JointView: "joint",
    VotingRulesView: "votes",
    TrialsView: "trials",
    BayesLeavesView: "leaves",
    ChangesView: "changes",
    FlipsView: "flips",
    CardView: "card",
    CurvesView: "curves",
    ErrorsView: "errors",
    DriftView: "drift",
}

# in the order of their dependencies
SCRIPTS = ("words", "charts", "tree", "whatif", "ask", "boundary", "card", "sort", "main")

MAX_HEADING_CHARACTERS = 120  # of a name in a heading: longer ones would push the page apart


def to_html(page: Page) -> str:
    """Page as one self-contained HTML file."""
    script = "\n".join(_text(f"scripts/{name}.js") for name in SCRIPTS)
    style = _style()
    program = "const models = [];" + "".join(f"\n{{\n{each}models.push(model);\n}}" for each in page.programs)
    scripts = f"{_digest(program)} {_digest(script)}"
    policy = f"default-src 'none'; style-src {_digest(style)}; script-src {scripts}; img-src data:"
    return (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            policy=f"{policy}; base-uri 'none'; form-action 'none'",
            style=style,
            program=program,
            script=script,
            payload=_as_json(page.payloads),
        )
    )


def fragment(page: Page) -> str:
    """Static sections for a notebook: the same templates without the scripts of pages."""
    markup = _environment().get_template("fragment.html").render(page=page)
    return notebook_view(markup, _text("page.css").replace("body {", ":scope {"))


def _style() -> str:
    """Style sheet of pages, with the colours of the palette."""
    light, dark = palette.css_variables(is_dark=False), palette.css_variables(is_dark=True)
    colours = f":root {{ color-scheme: light dark; {light} }} @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return f"{colours}\n{_text('page.css')}"


def _template(section: Section) -> str:
    return f"sections/{SECTIONS[type(section)]}.html"


def _as_json(value: Any) -> str:
    """JSON without characters that could begin or end an HTML element; they are escaped."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _text(name: str) -> str:
    return (files("baytree.rendering.page") / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ModuleNotFoundError:
        raise ModuleNotFoundError("pages need jinja2; pip install 'baytree[report]'", name="jinja2") from None
    environment = Environment(
        autoescape=True, loader=FunctionLoader(_text), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "template": _template,
        "plain": plain,
        "named": lambda text: shortened(plain(text), MAX_HEADING_CHARACTERS),
        "number": number,
        "percent": percent,
        "class_code": palette.colour_code,
        "legend_labels": palette.legend_labels,
        "px": lambda value: f"{value:.2f}".rstrip("0").rstrip("."),
    }
    return environment


def percent(proportion: float) -> str:
    """Proportion in per cent: at most one decimal, and never 0 % or 100 % by rounding.

    >>> percent(0.25), percent(0.0004), percent(0.9999)
    ('25 %', '< 0.1 %', '> 99.9 %')
    """
    if 0 < proportion < 0.001:
        return "< 0.1 %"
    if 0.999 < proportion < 1:
        return "> 99.9 %"
    return f"{100 * proportion:.0f} %" if proportion in (0, 1) or 0.1 <= proportion <= 0.9 else f"{100 * proportion:.1f} %"


Section = (
    Overview | TableView | TreeView | RulesView | BayesView | DependenceView | CoefficientsView | NomogramView | TextView
    | WhatIfView | QuestionsView | BoundaryView | ImpurityView | RowsView | LeaderboardView | FunctionsView
    | VotingRulesView | TrialsView | EllipsesView | JointView | DrawingView | BayesLeavesView | ChangesView | FlipsView
    | FindingsView | CardView | ScorecardView | CurvesView | ErrorsView | DriftView
)  # fmt: skip


class Page(msgspec.Struct, frozen=True):
    """Page: title, sections in order, and per model the data of its scripts and its formula as JavaScript."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    payloads: tuple[dict[str, Any], ...] = ()
    programs: tuple[str, ...] = ()
    has_rows: bool = False
