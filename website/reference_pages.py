"""Reference pages: one for each public name, from its docstring as it is at run time."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import baytree as bt
from baytree._registry import PUBLIC_MODULES, SKLEARN_MODULES

# Groups by where a name lives; the first that fits. A new public name needs no line here.
GROUPS = {
    "estimators.tree": "Trees",
    "estimators.bayes": "Naive Bayes",
    "estimators.linear": "Linear models",
    "choose": "Comparing and choosing",
    "table": "Tables",
    "engine": "Tables",
    "show": "Pictures",
    "": "Keeping, showing, leaving",
}


def pages() -> Iterator[tuple[str, str]]:
    """Every page of the reference: its place on the site, and its text."""
    grouped: dict[str, list[str]] = {group: [] for group in GROUPS.values()}
    for name, home in PUBLIC_MODULES.items():
        grouped[_group_of(home)].append(name)
    yield "reference/index.md", _index(grouped)
    for name, home in PUBLIC_MODULES.items():
        yield f"reference/{name}.md", f"::: baytree.{home}.{name}\n    options:\n      heading_level: 1\n"
    yield "reference/datasets.md", "# bt.datasets\n\n" + _directives("baytree.datasets", bt.datasets.__all__)
    dropins = "\n".join(f"::: baytree.{home}.{name}\n" for name, home in SKLEARN_MODULES.items())
    said = "What is taken over and what is not: [from scikit-learn](../scikit-learn.md)."
    yield "reference/sklearn.md", f"# baytree.sklearn\n\n{said}\n\n{dropins}"


def _group_of(home: str) -> str:
    return next(group for beginning, group in GROUPS.items() if home.startswith(beginning))


def _index(grouped: dict[str, list[str]]) -> str:
    lines = ["# Reference", "", "Every public name, from its docstring. `import baytree as bt` has all of them."]
    for group, names in grouped.items():
        lines += ["", f"## {group}", "", "| name | what it is |", "|---|---|"]
        lines += [f"| [`bt.{name}`]({name}.md) | {_first_line(getattr(bt, name))} |" for name in sorted(names)]
    return "\n".join([*lines, "", "Also [`bt.datasets`](datasets.md) and [`baytree.sklearn`](sklearn.md).", ""])


def _first_line(value: object) -> str:
    paragraph = (inspect.getdoc(value) or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


def _directives(module: str, names: list[str]) -> str:
    return "\n".join(f"::: {module}.{name}\n" for name in names)
