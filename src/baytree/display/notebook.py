"""HTML of results in notebooks, isolated from the notebook's own style and in its theme.

`notebook_view` wraps markup in three layers:

- a host element with `all: initial` and the colours of the palette as variables. They follow the notebook's theme
  (JupyterLab and Notebook 7, VS Code, Colab, the documentation of Sphinx), and the system's where no notebook says its own;
- a body with the style of the view, scoped to it;
- a script that moves the body into a shadow root, so that no rule of the notebook reaches it. Where scripts do not run
  (a notebook that is not trusted, nbconvert, GitHub), the markup stays as it is: plain tables with the same colours.
"""

from __future__ import annotations

from baytree.display.palette import css_variables

_DARK_HOSTS = (
    '[data-jp-theme-light="false"]', ".vscode-dark", ".vscode-high-contrast:not(.vscode-high-contrast-light)",
    'html[theme="dark"]', 'html[data-theme="dark"]',
)  # fmt: skip

_LIGHT_HOSTS = (
    '[data-jp-theme-light="true"]', ".vscode-light", ".vscode-high-contrast-light", 'html[theme="light"]',
    'html[data-theme="light"]',
)  # fmt: skip

_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

_TABLES = """
:scope { background: var(--card); color: var(--ink); padding: 6px 2px; }
table { border-collapse: collapse; font-size: 13px; }
caption { text-align: left; padding: 2px 8px; font-weight: 650; }
th, td { text-align: left; padding: 3px 8px; font-weight: 400; vertical-align: top; }
thead th { color: var(--quiet); }
tbody tr, thead tr { border-top: 1px solid var(--line); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
p { font-size: 12px; margin: 2px 8px; color: var(--quiet); }
.track { position: relative; width: 140px; height: 10px; }
.track span { position: absolute; height: 10px; }
.for { left: 50%; background: var(--good); } .against { right: 50%; background: var(--bad); }
"""

# A view may be inserted without the others, moved, or shown twice: every view that has no shadow root yet gets one.
_SCRIPT = """for (const host of document.querySelectorAll(".baytree-view")) {
  const body = host.querySelector(":scope > .baytree-body");
  if (body && !host.shadowRoot) host.attachShadow({ mode: "open" }).append(body);
}"""


def notebook_view(markup: str, style: str = _TABLES) -> str:
    """Wrap markup, whose text is escaped, for notebooks; `style` is applied within it, with `:scope` for the whole."""
    return (
        f'<div class="baytree-view"><style>{_host_style()}</style>'
        f'<div class="baytree-body"><style>@scope (.baytree-body) {{ {style} }}</style>{markup}</div>'
        f"<script>{_SCRIPT}</script></div>"
    )


def _host_style() -> str:
    light, dark = (f"color-scheme: {name}; {css_variables(name == 'dark')}" for name in ("light", "dark"))
    return (
        f".baytree-view {{ all: initial; display: block; font: 14px/1.5 {_FONT}; overflow-x: auto; {light} }}"
        f" @media (prefers-color-scheme: dark) {{ .baytree-view {{ {dark} }} }}"
        f" {_within(_LIGHT_HOSTS)} {{ {light} }} {_within(_DARK_HOSTS)} {{ {dark} }}"
    )


def _within(hosts: tuple[str, ...]) -> str:
    return ", ".join(f"{host} .baytree-view" for host in hosts)
